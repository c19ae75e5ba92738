// Package visible finds the restaurant, menu or connection of a request, if its caller may see it.
//
// Its invariant: data of other connections is answered as if it did not exist. The handlers below
// httpapi call it. The package reads only the request and the directory, and never changes either.
package visible
