// Package measure is what `larder-bench` stands on: real processes on loopback,
// what they tell of themselves, and how many measurements become one figure.
//
// Its one invariant: every process that it starts is ended, by its own id,
// before the measurement returns, however that ends. It measures and judges
// nothing by itself that a reader could not measure again from outside, over
// HTTP, from Redis and from /proc.
package measure
