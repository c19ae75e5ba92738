// Package faultproxy is a TCP proxy between a test's larder and a server. It causes
// network faults: it resets, blocks and delays connections.
//
// Invariant: it forwards bytes completely and in order. Bytes that a fault has
// blocked continue when the fault ends, unless their connection has ended. Only
// tests import it.
package faultproxy
