// Package compat serves the ordering service's own interface to existing clients: the menu
// view, the rejection reasons, and orders.
//
// Its invariant: both APIs decide the same. Menu reads and the order log are therefore functions of
// other packages. Certain outcomes of the ordering service are passed through, refusals included.
// Other errors have the interface's format instead of a problem document.
//
// httpapi creates the handlers and registers their routes. The package never decides what an order or a menu is.
package compat
