// Package client is the HTTP client of a running larder: for the command line, for
// the demo, and for the daemon's own check that it answers.
//
// It calls a daemon as every other program does: over HTTP, with a bearer token of
// the client credentials. A call ends in a Reply, in an *Error, which is the
// daemon's refusal, or in an *UnreachableError, which is no answer. The message of
// each says what happened and what to do.
//
// It never prints, reads no flags and no configuration, and repeats no call: who
// calls decides that.
package client
