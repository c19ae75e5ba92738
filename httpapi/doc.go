// Package httpapi is larder's HTTP interface: menu reads, order checks and
// placing, ops, tokens, readiness and metrics, served with Gin.
//
// It holds no business rules. A handler reads a request, asks one room and
// writes what the room answers; a menu read is ready bytes of the cache's
// replica. One table (respond.ProblemOf) turns the errors of every room into status
// codes and problem documents; nothing that a room did not mean for a client
// ever leaves in an answer.
//
// The handlers stand in packages by subject: menus, orders, compat, events and
// ops; auth, visible, audit, ratelimit and respond are below them. New gives each
// what it uses (docs/decisions/0058-httpapi-package-structure.md).
//
// New wires a Server and starts nothing; Run owns the listeners and returns
// when they are closed and every request in flight has ended or the drain
// limit has passed.
package httpapi
