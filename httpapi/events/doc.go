// Package events answers the two routes of server-sent events: new versions of a restaurant's menu, and the runs and
// batches that operators follow.
//
// A stream tells the current state, not a history. A stream ends with the token or session that opened it, with its
// restaurant, and when the server drains; the number of streams is bounded. Each lives in the goroutine of its
// request: the package starts none, and keeps nothing for a reader that is gone.
package events
