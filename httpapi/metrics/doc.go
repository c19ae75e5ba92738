// Package metrics is what /metrics shows: the registry, the counters that requests, syncs and calls are counted in,
// and the series that a scrape reads from memory or, at most every few seconds, from the journal.
//
// Every label comes from a closed list, never from a request. Handlers and the middleware count; httpapi.New registers
// what it has to show. The package answers no request but a scrape, and starts no goroutine.
package metrics
