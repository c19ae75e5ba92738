package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// commitReplicated commits a change and waits until as many replicas have it
// as wait_replicas asks for (policy O14). ErrReplicas when they have it not in
// time; the change is made all the same.
//
// WAIT counts what its own connection has written, so both go down one
// pipeline, and EVAL must carry the source, since a pipeline cannot fall back
// (trap 4).
func (j *Journal) commitReplicated(ctx context.Context, c *change) (*order, error) {
	if err := c.readable(); err != nil {
		return nil, err
	}
	pipe, err := j.pipelineOf(ctx, c.keys[0])
	if err != nil {
		return nil, err
	}
	done := pipe.Eval(ctx, commitSource, c.keys, c.arguments()...)
	acknowledged := pipe.Do(ctx, "WAIT", j.cfg.WaitReplicas, millis(j.cfg.WaitTimeout))
	_, _ = pipe.Exec(ctx) // each reply has its own error
	if err := c.made(done); err != nil {
		return nil, err
	}
	switch count, err := acknowledged.Int(); {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrReplicas, err)
	case count < j.cfg.WaitReplicas:
		return nil, fmt.Errorf("%w: %d of %d", ErrReplicas, count, j.cfg.WaitReplicas)
	}
	return decode(c.order.place, c.fields, c.answers)
}

// answerWithin is how long an answer may take beyond the wait for replicas.
const answerWithin = 5 * time.Second

// pipelineOf gives a pipeline to the very server that has a key (in a cluster
// a WAIT by itself would go to any), which waits for answers long enough.
func (j *Journal) pipelineOf(ctx context.Context, key string) (redis.Pipeliner, error) {
	switch client := j.write.(type) {
	case *redis.Client:
		return client.WithTimeout(answerWithin + j.cfg.WaitTimeout).Pipeline(), nil
	case *redis.ClusterClient:
		master, err := client.MasterForKey(ctx, key)
		if err != nil {
			return nil, err
		}
		return master.WithTimeout(answerWithin + j.cfg.WaitTimeout).Pipeline(), nil
	default:
		return nil, fmt.Errorf("%w: a %T has no WAIT", ErrReplicas, client)
	}
}
