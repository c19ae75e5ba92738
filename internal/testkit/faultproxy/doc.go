// Package faultproxy stands between a test's larder and something it speaks
// with over TCP, and does what networks do: it resets connections, keeps them
// waiting for ever, and is slow.
//
// Its one invariant: what it passes on it passes completely and in order; a byte
// that a fault has kept waiting goes on when the fault ends, unless its
// connection has ended. Only tests import it.
package faultproxy
