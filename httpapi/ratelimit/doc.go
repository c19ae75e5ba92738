// Package ratelimit limits how often an address or a client may do something: rates as the configuration spells them,
// a token bucket for each key, and the limit on failed attempts with a secret.
//
// A limiter remembers a bounded number of keys, so that no client can fill the memory. Middleware and handlers take
// tokens; Take answers 429 where there is none. It never decides who a client is, and starts no goroutine.
package ratelimit
