package journal

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/ordering"
)

// replyTimeout is added to the wait for replicas to get the time limit of a reply.
const replyTimeout = 5 * time.Second

// Modes of a commit; restored.lua explains them.
const (
	modeBegin  = "begin"
	modeCommit = "commit"
	modeWatch  = "watch"
	modeProbe  = "probe"
)

// commit commits a transaction and returns the new state of the order. Unless wait is 0, it waits for that number of
// replicas; the reply has how many have acknowledged it. Neither the transaction nor the old order must be used after that.
func (s *store) commit(ctx context.Context, c *tx, wait int, limit time.Duration) (*order, reply, error) {
	if err := c.seal(); err != nil {
		return nil, reply{acknowledged: -1}, err
	}
	r, err := s.run(ctx, c, wait, limit)
	if err == nil && r.refused {
		err = &ordering.RestoredError{Connection: c.connection(), Since: r.pausedAt} // policy O14a
	}
	if err != nil {
		return nil, r, err
	}
	if c.writes {
		*c.order = c.next
		c.order.stamp(r.now)
	}
	return c.order, r, nil
}

// apply commits without waiting for replicas. It is for changes that are repeated if a failover undoes them.
func (s *store) apply(ctx context.Context, c *tx) (*order, error) {
	o, _, err := s.commit(ctx, c, 0, 0)
	return o, err
}

// blank returns a transaction that belongs to no order, with modeWatch or modeProbe. Neither raises the
// mark; otherwise instances that learn each other's marks would never stop committing.
func (s *store) blank(connection, mode string) *tx {
	c := s.newTx(&order{Record: ordering.Record{Connection: connection}})
	c.mode, c.checks = mode, nil
	return c
}

// run runs commit.lua for a transaction on the server that has its keys, and learns from the reply. Commits share
// pipelines.
func (s *store) run(ctx context.Context, c *tx, wait int, limit time.Duration) (reply, error) {
	state, queues := s.history.state(c.connection()), s.queuesOf(c.connection())
	known := state.known()
	e := &evaluation{key: c.stateKey, command: c.evalsha(known), wait: wait, limit: limit}
	if s.onlyReads { // Ready only probes
		if c.mode != modeProbe {
			return reply{acknowledged: -1}, errors.New("this journal only reads")
		}
		e.command = []any{"set", s.keys.OrderProbe(c.connection()), "", "px", time.Minute.Milliseconds()}
	}
	var err error
	switch {
	case c.mode == modeWatch || c.mode == modeProbe: // must not wait for a full queue
		_ = s.send(ctx, []*evaluation{e})
		err = e.err
	case wait == 0:
		e.limit = 0
		err = s.share(ctx, &queues.unreplicated, e)
	default:
		err = s.share(ctx, &queues.withReplicas, e)
	}
	if err != nil {
		return reply{acknowledged: -1}, err
	}
	r, err := reply{}, e.reply.Err()
	if !s.onlyReads {
		r, err = readReply(e.reply)
	}
	r.acknowledged, r.waitRefused = e.acknowledged, e.waitRefused
	if err == nil {
		s.history.learn(state, r, c.mode, known)
	}
	return r, err
}

// pipelineOf returns a pipeline to the server that has the key, with a sufficient read timeout. In
// a cluster, a separate WAIT could go to any server.
func (s *store) pipelineOf(ctx context.Context, key string, limit time.Duration) (redis.Pipeliner, error) {
	server, _ := s.write.(*redis.Client)
	if cluster, ok := s.write.(*redis.ClusterClient); ok {
		var err error
		if server, err = cluster.MasterForKey(ctx, key); err != nil {
			return nil, err
		}
	}
	if limit == 0 {
		return server.Pipeline(), nil
	}
	return server.WithTimeout(replyTimeout + limit).Pipeline(), nil
}

// update applies the transaction that plan returns, by commit, to the given order, or if it
// is nil, to the order as it reads it. If the order was changed concurrently, it starts again. A nil
// transaction changes nothing. update returns the new state of the order.
func (s *store) update(
	ctx context.Context, commit func(context.Context, *tx) (*order, error), at location, o *order, plan func(o *order) (*tx, error),
) (_ *order, err error) {
	for {
		if o == nil {
			if o, err = s.readOrder(ctx, s.write, at); err != nil {
				return nil, err
			}
		}
		c, err := plan(o)
		if err != nil || c == nil {
			return o, err
		}
		if o, err = commit(ctx, c); !errors.Is(err, errMoved) {
			return o, err
		}
	}
}
