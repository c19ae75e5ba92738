// Package visible answers which restaurant, menu or connection a request is about, as its caller may see them.
//
// What belongs to another connection is unknown to a caller: it gets the same answer as for what does not exist. The
// handlers call it with the directory. It reads the request and the directory alone, and changes nothing.
package visible
