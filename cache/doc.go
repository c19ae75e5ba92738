// Package cache keeps the catalogues in Redis. Package cache/replica keeps them in
// memory, where reads are answered from, and package cache/encoded keeps their
// encoded HTTP bodies.
//
// Its one invariant: whoever reads sees a whole version of a restaurant's
// catalogue or the whole version before it, never a mixture and never an older
// one after a newer one (policies S2, S6). A version becomes current by one
// small script; everything it names is written before.
//
// A content (a menu view as published, without its stop lists) is stored once
// under its hash and shared by all restaurants of a chain; a restaurant's
// version is a small record that names a content and lists the stopped ids, and
// beside it what the stop lists said (docs/decisions/0008-store-menu-view-as-published.md). docs/redis.md is the
// reference of the keys that other programs may read.
//
// Package sync publishes; packages replica and httpapi read. This package never
// asks the ordering service for anything, and knows nothing of routes or of
// HTTP bodies.
package cache
