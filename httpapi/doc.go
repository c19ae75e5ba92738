// Package httpapi is larder's HTTP interface, served with Gin: menu reads, order checks and
// orders, ops routes, tokens, readiness and metrics.
//
// It has no business rules. A handler reads a request, calls one package and writes the result;
// a menu read returns encoded bytes of the cache's replica. respond.ProblemOf is the one table
// from errors to status codes and problem documents. No other error text reaches a client.
//
// The handlers are in packages by subject: menus, orders, compat, events and ops. The packages
// auth, visible, audit, ratelimit and respond are below them. New passes each package its
// dependencies (docs/decisions/0058-httpapi-package-structure.md).
//
// New builds a Server and starts nothing. Run serves until its context ends. It returns when
// the listeners are closed and every request has ended or the drain timeout has passed.
package httpapi
