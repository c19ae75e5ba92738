// Package redisdb is the Redis connection of the whole program: the address in
// all its forms, TLS, one client that retries and one that never does, the
// embedded Redis, and the probe that finds out whether Redis takes writes.
//
// What is kept under which key is for the packages that keep it; all names begin
// with DB.Prefix.
package redisdb
