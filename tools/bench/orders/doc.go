// Package orders measures the placing of orders: larder beside the usual
// implementation (Gin, SET NX, net/http), and several instances of larder.
//
// Invariant: all servers get the same requests, use the same redis-server and the same
// ordering service, and are loaded in turn, one at a time. A response with another
// status ends the measurement with an error. Results are ratios of paired rounds,
// because absolute figures vary with the state of the machine.
package orders
