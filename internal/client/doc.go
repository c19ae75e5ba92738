// Package client is the HTTP client for a running larder. The command line, the
// demo and the daemon's check of itself use it.
//
// It calls a daemon like any other program: over HTTP, with a bearer token of the
// client credentials. A call returns a Reply, an *Error if the daemon refused it,
// or an *UnreachableError if no response arrived.
//
// It does not print, reads no flags and no configuration, and does not retry.
package client
