package journal

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
)

// Concurrent commits for one ordering service share pipelines. Alone, each commit costs one round trip, one
// fsync of Redis (appendfsync always) and one WAIT. The commits of a pipeline share all three. The pipelines of
// go-redis (AutoPipeline) cannot be used: they send WAIT over another TCP connection, and WAIT covers only the
// writes of the TCP connection that sends it.
//
// A commit is sent at once unless maxPipelines are in flight. So a single order does not wait. Under load, the
// commits that arrive during a round trip form the next pipeline.
const (
	maxPipelines = 2  // in flight: one on the network while Redis works on the other
	maxBatch     = 64 // commits of one pipeline; a larger one would delay the first reply
)

// evaluation is one run of commit.lua, or one read.
type evaluation struct {
	ctx     context.Context //nolint:containedctx // a pipeline is in the trace of its first caller
	key     string          // selects the Redis server: the one that has this key
	command []any
	state   string // the key of the connection's state if the pipeline shall also read its format
	wait    int    // number of replicas to wait for; 0 sends no WAIT
	limit   time.Duration

	done         chan struct{} // closed when the fields below are set
	reply        *redis.Cmd
	format       *redis.Cmd
	acknowledged int    // number of Redis replicas that acknowledged; -1 if no WAIT was sent
	waitRefused  string // how Redis refused WAIT, "" if it did not
	err          error
}

// batcher collects one kind of work of a connection: commits with WAIT, commits without it, or reads of keys.
type batcher struct {
	mu      sync.Mutex
	queue   []*evaluation
	running int // pipelines in flight
}

// queues are the batchers of a connection.
type queues struct {
	unreplicated, withReplicas batcher // of the commits without and with WAIT
	lookups                    batcher // of the reads of keys
}

func (s *store) queuesOf(connection string) *queues {
	known, _ := s.queues.LoadOrStore(connection, new(queues))
	q, _ := known.(*queues)
	return q
}

// share runs e in a pipeline with other evaluations. If ctx ends, share returns its error: Redis does not run e
// if e was not sent yet. Otherwise Redis may have run e or not.
func (s *store) share(ctx context.Context, b *batcher, e *evaluation) error {
	e.ctx, e.done = ctx, make(chan struct{})
	b.mu.Lock()
	b.queue = append(b.queue, e)
	if b.running < maxPipelines {
		b.running++
		go s.drain(b) //nolint:contextcheck // each evaluation has its own context
	}
	b.mu.Unlock()
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(other *evaluation) bool { return other == e })
	return ctx.Err()
}

// drain sends pipelines until the queue is empty. The timeouts are those of the Redis client. If Redis does not
// respond in time, drain fails all evaluations in the queue. Otherwise each of them would wait until all earlier
// pipelines have timed out.
func (s *store) drain(b *batcher) {
	for {
		b.mu.Lock()
		n := min(len(b.queue), maxBatch)
		batch := slices.Clone(b.queue[:n])
		b.queue = slices.Delete(b.queue, 0, n)
		if n == 0 {
			b.running--
		}
		b.mu.Unlock()
		if n == 0 {
			return
		}
		if timeout := s.send(context.WithoutCancel(batch[0].ctx), batch); timeout != nil {
			b.mu.Lock()
			for _, e := range b.queue {
				e.err = timeout
			}
			batch, b.queue = append(batch, b.queue...), nil
			b.mu.Unlock()
		}
		for _, e := range batch {
			close(e.done)
		}
	}
}

// send runs the evaluations in one pipeline, followed by one WAIT. It returns an error if Redis did not
// respond in time. Each evaluation has its own error.
func (s *store) send(ctx context.Context, batch []*evaluation) (timeout error) {
	if missing := s.exec(ctx, batch, false); len(missing) > 0 {
		s.exec(ctx, missing, true)
	}
	for _, e := range batch {
		if err, ok := errors.AsType[net.Error](e.reply.Err()); ok && err.Timeout() {
			timeout = err
		}
	}
	return timeout
}

// exec sends one pipeline. If source is true, the first command contains the text of the script. exec returns the
// evaluations for which Redis does not know the script.
func (s *store) exec(ctx context.Context, batch []*evaluation, source bool) (missing []*evaluation) {
	wait, limit := batch[0].wait, batch[0].limit // the others have the same
	pipe, err := s.pipelineOf(ctx, batch[0].key, limit)
	if err != nil {
		for _, e := range batch {
			e.reply, e.err = redis.NewCmd(ctx), err
		}
		return nil
	}
	for i, e := range batch {
		command := e.command
		if source && i == 0 {
			command = slices.Concat([]any{"eval", commitSource}, command[2:])
		}
		e.reply = pipe.Do(ctx, command...)
	}
	var format *redis.Cmd
	if batch[0].state != "" {
		format = pipe.Do(ctx, "hmget", batch[0].state, "format")
	}
	acknowledged, waitRefused := -1, ""
	if wait == 0 {
		_, _ = pipe.Exec(ctx) // each reply has its own error
	} else {
		waited := pipe.Do(ctx, "WAIT", wait, limit.Milliseconds())
		_, _ = pipe.Exec(ctx)
		acknowledged, err = waited.Int() // an error is not an acknowledgement
		waitRefused = redisdb.RefusedCommand(err)
	}
	for _, e := range batch {
		e.format, e.acknowledged, e.waitRefused = format, acknowledged, waitRefused
		if redis.HasErrorPrefix(e.reply.Err(), "NOSCRIPT") {
			missing = append(missing, e)
		}
	}
	return missing
}
