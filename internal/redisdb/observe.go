package redisdb

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Observe adds a callback for every command and pipeline of both clients. It gets the time, including
// retries, and the error of the connection. The error is nil if Redis has responded, even without a
// value or with a refusal. The callback runs in the goroutine that waits for the response, and must
// return immediately. Call Observe before the first command.
func (db *DB) Observe(callback func(took time.Duration, err error)) {
	for _, client := range []redis.UniversalClient{db.client, db.noRetry} {
		client.AddHook(observer{callback})
	}
}

type observer struct{ callback func(time.Duration, error) }

// DialHook changes nothing.
func (observer) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook observes a command.
func (o observer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return o.observe(func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook observes a pipeline.
func (o observer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return o.observe(func() error { return next(ctx, cmds) })
	}
}

func (o observer) observe(call func() error) error {
	start := time.Now()
	err := call()
	failed := err
	if _, ok := errors.AsType[redis.Error](err); ok { // Redis has responded
		failed = nil
	}
	o.callback(time.Since(start), failed)
	return err
}

// Pool describes the connections of one client at the time of a call.
type Pool struct {
	Name   string // default, or no_retry for NoRetry
	client redis.UniversalClient
}

// Pools returns the connections of both clients.
func (db *DB) Pools() []Pool { return []Pool{{"default", db.client}, {"no_retry", db.noRetry}} }

// Idle returns the number of connections that wait for a command.
func (p Pool) Idle() uint32 { return p.client.PoolStats().IdleConns }

// Used returns the number of connections with a command.
func (p Pool) Used() uint32 {
	stats := p.client.PoolStats()
	return stats.TotalConns - min(stats.IdleConns, stats.TotalConns)
}

// Timeouts returns how often a command got no connection in time.
func (p Pool) Timeouts() uint32 { return p.client.PoolStats().Timeouts }
