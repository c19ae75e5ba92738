// Package ratelimit limits the requests of an address or client. It has the rates of the
// configuration, a token bucket for each key, and the limit of failed attempts with a secret.
//
// A limiter stores a bounded number of keys, so clients cannot exhaust the memory. Middleware
// and handlers take tokens; Take answers 429 without a token. The package does not
// authenticate clients and starts no goroutine.
package ratelimit
