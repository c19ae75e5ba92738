// Package journal is the durable record of every order, in Redis: what
// ordering.Journal promises (policies O7 to O9 and O12 to O14).
//
// Its one invariant: a call that may have been sent is on record. Begin
// returns only when Redis has taken the opening, and no opening is ever lost
// to another change: a change is made up here, from the order as it was read,
// and committed by one script (commit.lua), which applies all of it when the
// order has not changed since, and nothing otherwise. Redis's clock is the
// only one.
//
// All keys of a connection share one hash tag (cache.Keys, docs/redis.md), and
// every script is told all keys it touches, so that it runs on a cluster too.
// What guests say and what the service answers to them stands under keys of
// its own, with a shorter life (policy O13); no error and no log line of this
// package repeats it, or an idempotency key.
//
// The engine of orders (ordering.Orders) calls it; it holds no rule of
// validation and sends nothing to anyone but Redis.
package journal
