// Package measure is the base of `larder-bench`: it starts real processes on
// loopback, reads their metrics, and computes figures from many measurements.
//
// Invariant: every process that it starts is ended, by its own id, before the
// measurement returns, also after an error. It measures only what a reader can also
// measure from outside: over HTTP, from Redis and from /proc.
package measure
