package redisdb

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Observe calls back for every command and every pipeline that either client
// sends from now on, with its retries as one: how long it took, and the error,
// nil where Redis has answered (a missing key is an answer, so is a refusal). The
// callback runs in the goroutine that waits for the answer, and must return at
// once. Call Observe before anything is sent.
func (db *DB) Observe(callback func(took time.Duration, err error)) {
	for _, client := range []redis.UniversalClient{db.client, db.noRetry} {
		client.AddHook(observer{callback})
	}
}

// observer is a go-redis hook.
type observer struct{ callback func(time.Duration, error) }

// DialHook changes nothing.
func (observer) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook observes a command.
func (o observer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		start := time.Now()
		err := next(ctx, cmd)
		o.callback(time.Since(start), connectionError(err))
		return err
	}
}

// ProcessPipelineHook observes a pipeline.
func (o observer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		start := time.Now()
		err := next(ctx, cmds)
		o.callback(time.Since(start), connectionError(err))
		return err
	}
}

// connectionError returns the error, nil where it is an answer of Redis.
func connectionError(err error) error {
	if _, ok := errors.AsType[redis.Error](err); ok {
		return nil
	}
	return err
}

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
