// Package compat answers the ordering service's own interface, for clients that were written for it: the menu view,
// the rejection reasons, and orders.
//
// What the ordering service said for certain passes through, its no as well as its yes. Errors have the interface's
// shape instead of a problem document. The router calls it; reads of menus and the request log come to it as
// functions. It decides nothing that the other interface decides otherwise.
package compat
