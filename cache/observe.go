package cache

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Observe is told of every command and every pipeline that either client sends
// from now on, with its retries as one: how long it took, and the error, nil
// where Redis has answered (a missing key is an answer, so is a refusal). It is
// called from the goroutine that waits for the answer, and must return at once.
// It is for the wiring, before anything is sent.
func (r *Redis) Observe(told func(took time.Duration, err error)) {
	for _, client := range []redis.UniversalClient{r.ordinary, r.strict} {
		client.AddHook(observer{told})
	}
}

// observer is a go-redis hook.
type observer struct{ told func(time.Duration, error) }

// DialHook changes nothing.
func (observer) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook tells of a command.
func (o observer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		start := time.Now()
		err := next(ctx, cmd)
		o.told(time.Since(start), unanswered(err))
		return err
	}
}

// ProcessPipelineHook tells of a pipeline.
func (o observer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		start := time.Now()
		err := next(ctx, cmds)
		o.told(time.Since(start), unanswered(err))
		return err
	}
}

// unanswered is the error, nil where it is Redis's own word.
func unanswered(err error) error {
	if _, ok := errors.AsType[redis.Error](err); ok {
		return nil
	}
	return err
}
