// Package events serves the routes of server-sent events: new versions of a restaurant's menu,
// the state of an order, and runs and batches for operators.
//
// Its invariant: events describe the current state, not a history. A stream ends with its token or
// session, with its restaurant, and when the server drains. The number of streams is limited. Each
// stream runs in the goroutine of its request.
//
// httpapi creates the handlers and registers their routes. The package never keeps anything for a
// client that has disconnected.
package events
