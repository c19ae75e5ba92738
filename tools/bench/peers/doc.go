// Package peers compares the shipped larder with what people would otherwise
// put in front of their menus, or write themselves: nginx, Varnish, HAProxy, Gin
// handlers, and a bare loop as the baseline. All of them are processes of their own
// on loopback that answer the same requests with the same bytes, in alternation.
//
// Its one invariant: a figure is only taken of a server that was seen to give
// larder's own answer, from its cache, right before. It judges by ratios of
// paired rounds, since absolute figures drift with the machine.
package peers
