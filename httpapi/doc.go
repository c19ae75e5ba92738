// Package httpapi is larder's HTTP server: the routes, the middleware, the listeners,
// health checks and the storefront page, served with Gin.
//
// Its invariant: every error becomes a response by one table (respond.ProblemOf), and nothing that
// is not meant for a client leaves in a response. The handlers are in packages by subject: menus,
// orders, compat, events and ops. The packages auth, visible, audit, ratelimit and respond are
// below them. The tests of all handlers are here, because they request real routes.
//
// cmd/larder calls New, which creates the handlers and starts nothing, and Run, which owns the
// listeners. Run returns when they are closed and every request in flight has ended or the drain
// limit has passed. The package never decides what an order or a menu is.
package httpapi
