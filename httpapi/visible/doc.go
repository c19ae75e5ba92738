// Package visible finds the restaurant, menu or connection of a request, if its caller may see it.
//
// Data of other connections is answered as if it did not exist. The package reads only the
// request and the directory, and changes nothing.
package visible
