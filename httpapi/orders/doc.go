// Package orders answers requests about orders: checking, placing, changing and reading them,
// and resolving unknown outcomes.
//
// A handler reads the request, calls package ordering once, and answers from the record, so
// that a replay has the same bytes. Logs contain no keys, bodies or guests' data. httpapi
// registers the routes. The package checks no rules of a menu and never calls an ordering service.
package orders
