// Package cache stores the catalogues in Redis. Package cache/replica keeps them in memory and serves
// reads from there. Package cache/encoded keeps their encoded HTTP bodies.
//
// Invariant: a reader sees a complete version of a restaurant's catalogue, never a mixture of two
// versions. After a newer version it never sees an older one (policies S2, S6). One small script makes
// a version current; everything that it refers to is written before.
//
// A content (a published menu view without its stop lists) is stored once under its hash and shared by
// all restaurants of a chain. A restaurant's version is a small record that refers to a content and
// lists the stopped ids. The published stop values are stored with it
// (docs/decisions/0008-store-menu-view-as-published.md). docs/redis.md documents the keys that other
// programs may read.
//
// Package sync publishes; packages replica and httpapi read. This package never contacts the ordering
// service, and knows nothing of routes or HTTP bodies.
package cache
