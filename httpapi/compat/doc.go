// Package compat serves the ordering service's own interface to existing clients: the menu
// view, the rejection reasons, and orders.
//
// Certain outcomes of the ordering service are passed through, refusals included. Other errors
// have the interface's format instead of a problem document. Menu reads and the order log are
// functions of other packages, so that both APIs decide the same.
// httpapi creates the handlers and registers their routes. The package never decides what an order
// or a menu is.
package compat
