// Package replica is the copy of the catalogues in the memory of one process,
// where every read is answered from.
//
// Its invariant: a reader sees a whole version of a restaurant's catalogue, and
// never an older version after a newer one (policies S2, S6). A Replica learns of
// new versions by notices and by polls. It keeps each content once for all
// restaurants that use it, and it goes on answering while Redis is unreachable
// (policy S5).
//
// cmd/larder makes the process's Replica and runs it, package httpapi reads from
// it, and package sync installs what it has just published.
//
// This package reads and writes Redis through cache.Store alone. It publishes
// nothing, never asks the ordering service for anything, and knows no routes.
package replica
