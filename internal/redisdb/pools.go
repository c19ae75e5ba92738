package redisdb

import "github.com/redis/go-redis/v9"

// Pool is the connections of one client, as they are when they are asked.
type Pool struct {
	Name   string // default, or no_retry: NoRetry
	client redis.UniversalClient
}

// Pools returns the connections of both clients.
func (db *DB) Pools() []Pool { return []Pool{{"default", db.client}, {"no_retry", db.noRetry}} }

// Idle counts the connections that wait for a command.
func (p Pool) Idle() uint32 { return p.client.PoolStats().IdleConns }

// Used counts the connections that a command has.
func (p Pool) Used() uint32 {
	stats := p.client.PoolStats()
	return stats.TotalConns - min(stats.IdleConns, stats.TotalConns)
}

// Timeouts counts how often a command got no connection in time.
func (p Pool) Timeouts() uint32 { return p.client.PoolStats().Timeouts }
