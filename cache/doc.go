// Package cache stores the catalogues in Redis. Package cache/replica keeps them in memory and serves
// reads from there. Package cache/encoded keeps their encoded HTTP bodies.
//
// Invariant: a reader sees a complete version of a restaurant's catalogue, never a mixture of two
// versions. A reader that has seen a version never sees an older one (policies S2, S6). One small
// script makes a version current, after everything that the version refers to is written.
//
// A content (a published menu view without its stop lists) is stored once under its hash and shared by all restaurants
// with the same menu. A restaurant's version is a small record that refers to a content and lists the stopped ids. The
// published stop values are stored beside the record (docs/decisions/0008-published-menu-view.md).
// docs/redis.md documents the keys that other programs may read.
//
// Package sync publishes versions; packages replica and httpapi read them. This package never contacts
// the ordering service, and contains no routes or HTTP bodies.
package cache
