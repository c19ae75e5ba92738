// Package faultproxy is a TCP proxy for tests. It is between the larder under test and a server, such
// as Redis. It causes network faults: it resets, blocks and delays connections.
//
// Invariant: the proxy forwards all bytes in order. Bytes that a fault has blocked are forwarded
// when the fault ends, unless their connection has ended. Only tests import this package.
package faultproxy
