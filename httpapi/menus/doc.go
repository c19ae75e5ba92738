// Package menus answers reads of menus, products, changes, restaurants and rejection reasons: what a request asks for,
// in which encoding, and whether the client has it already.
//
// Both paths of a hot read, the handlers behind net/http and the handler of the fast path, decide by the same
// functions and answer the same bytes. Bodies come ready from the replica. The package never writes, and never asks
// Redis for a menu or a dish that is in memory.
package menus
