// Package metrics has the registry of /metrics, the counters of requests, syncs and calls, and
// the series that a scrape reads from memory or, every few seconds at most, from the journal.
//
// Label values come from closed lists, never from a request. Handlers and middleware count;
// httpapi.New registers the collectors. The package starts no goroutine.
package metrics
