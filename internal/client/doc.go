// Package client is an HTTP client for a running daemon. The command line, the demo
// and the daemon's self-check use it. It gets a bearer token for client credentials.
//
// A call returns a Reply, an *Error for an error response, or an *UnreachableError if
// no response arrived. The client does not retry.
package client
