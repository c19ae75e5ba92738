// Package orders answers requests about orders: checking, placing, changing and showing them, and resolving those
// whose outcome is unknown.
//
// A handler reads the request, asks package ordering once, and answers from the record, so that a replay is equal byte
// for byte. No log line has a key, a body, or what belongs to a guest. The package checks no rule of a menu, and never
// calls an ordering service by itself.
package orders
