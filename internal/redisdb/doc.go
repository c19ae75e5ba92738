// Package redisdb is the Redis connection of the whole program. It has the address in all its forms,
// TLS, one client that retries and one that does not, and the embedded Redis. Its probe checks whether
// Redis accepts writes.
//
// Other packages define the keys; all names start with DB.Prefix.
package redisdb
