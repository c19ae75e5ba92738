// Package redisdb is the Redis connection of the whole program: the address in all its forms, TLS, a client that
// retries and one that never does, the embedded Redis, and the probe that checks whether Redis takes writes.
//
// Its invariant: a command that must not run twice goes through the client that never retries. cache, sync,
// ordering/journal and httpapi/auth keep their state with it; all their keys begin with DB.Prefix. The
// package never knows what is kept under a key.
package redisdb
