// Package client is an HTTP client for a running daemon. The command line, the demo
// and the daemon's self-check use it. It gets a bearer token for client credentials.
//
// A call returns a Reply, an *Error for an error response, or an *UnreachableError if
// no response arrived. Its invariant: each call is sent once; the client never retries.
package client
