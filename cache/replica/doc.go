// Package replica is the copy of the catalogues in the memory of one process, from which all reads are served.
//
// Invariant: a reader sees a complete version of a restaurant's catalogue, and never an older version after a
// newer one (policies S2, S6). A Replica learns of new versions by notices and polls. It keeps each content
// once for all restaurants that use it, and serves reads while Redis is unreachable (policy S5).
//
// cmd/larder creates and runs the process's Replica, package httpapi reads from it, and package sync installs
// published versions.
//
// This package uses Redis only through cache.Store. It publishes nothing, never contacts the ordering service,
// and knows no routes.
package replica
