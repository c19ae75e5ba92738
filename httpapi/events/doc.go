// Package events serves the two routes of server-sent events: new versions of a restaurant's
// menu, and runs and batches for operators.
//
// Events describe the current state, not a history. A stream ends with its token or session, with
// its restaurant, and when the server drains. The number of streams is limited. Each stream runs in
// the goroutine of its request, and nothing is kept for a client that has disconnected. httpapi registers the routes.
package events
