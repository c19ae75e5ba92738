// Package peers compares the release binary with other ways to serve menus: nginx,
// Varnish, HAProxy, Gin handlers, and an epoll loop as the baseline. Each runs in its
// own process on loopback. All answer the same requests with the same bytes, in turn.
//
// Invariant: a server is measured only if it has just returned larder's own response,
// from its cache. Results are ratios of paired rounds, because absolute figures vary
// with the state of the machine.
package peers
