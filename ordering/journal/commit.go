package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/ordering"
)

const (
	// replyTimeout is added to the wait for replicas to get the time limit of a reply.
	replyTimeout = 5 * time.Second
	// probeEvery is the interval of test writes while replicas do not acknowledge.
	probeEvery = time.Second
	// detectTimeout limits the wait for the first acknowledgement of a replica.
	detectTimeout = 500 * time.Millisecond
)

// Modes of commit.lua.
const (
	modeCreate = "create"
	modeCommit = "commit"
	modeWatch  = "watch"
	modeProbe  = "probe"
)

// writer commits transactions and waits until replicas have them.
type writer struct {
	*reader
	*memory
}

// commit commits a transaction, waits until as many replicas have it as policy O14 requires, and
// returns the new state of the order. With errReplicas the change is made and the order returned,
// but too few replicas have acknowledged it in time.
//
// While replicas do not acknowledge, commit does not wait for them: it would delay the results of other
// orders. The caller repeats the change later (policy O14).
func (w *writer) commit(ctx context.Context, c *tx) (*order, error) {
	wait := w.required(c.connection())
	if wait > 0 && w.recovered(ctx, c.connection()) != nil {
		o, err := w.apply(ctx, c)
		return o, cmp.Or(err, errReplicas)
	}
	o, err := w.commitTo(ctx, c, wait)
	if err != nil || o.revision == "" || w.required(o.place.connection) <= wait {
		return o, err
	}
	// Another instance has seen a replica in the meantime. WAIT covers only writes of its own
	// connection, so write again.
	if _, err = w.commitTo(ctx, w.newTx(o), w.required(o.place.connection)); errors.Is(err, errMoved) {
		err = fmt.Errorf("%w: the order was changed concurrently", errReplicas)
	}
	return o, err
}

// commitTo commits a transaction and changes its order. Neither the transaction nor the old order must be used after that.
func (w *writer) commitTo(ctx context.Context, c *tx, wait int) (*order, error) {
	if err := c.seal(); err != nil {
		return nil, err
	}
	r, acknowledged, err := w.run(ctx, c, wait, w.cfg.WaitTimeout)
	if err != nil {
		return nil, err
	}
	s := w.state(c.connection())
	if r.refused {
		return nil, &ordering.RestoredError{Connection: c.connection(), Since: r.pausedAt} // policy O14a
	}
	o := c.order
	if c.writes {
		*o = c.next
		o.stamp(r.now)
	}
	if wait > 0 {
		s.mu.Lock()
		if s.failing = acknowledged < wait; s.failing {
			s.probed = time.Now()
		}
		s.confirmed = s.confirmed || !s.failing
		s.mu.Unlock()
		if acknowledged < wait {
			return o, fmt.Errorf("%w: %d of %d", errReplicas, acknowledged, wait)
		}
	}
	return o, nil
}

// apply commits without waiting for replicas. It is for changes that are repeated if a failover undoes them.
func (w *writer) apply(ctx context.Context, c *tx) (*order, error) {
	return w.commitTo(ctx, c, 0)
}

// recovered returns nil unless the last WAIT failed. In that case it writes a probe, at most once per second
// and with single flight. No call is opened until replicas acknowledge a probe (policy O14).
func (w *writer) recovered(ctx context.Context, connection string) error {
	s := w.state(connection)
	s.mu.Lock()
	failing, mine := s.failing, s.failing && !s.probing && time.Since(s.probed) >= probeEvery
	if mine {
		s.probing, s.probed = true, time.Now() // even if Redis fails and WAIT is not reached
	}
	s.mu.Unlock()
	if !failing {
		return nil
	}
	if mine {
		err := w.probe(ctx, connection)
		s.mu.Lock()
		s.probing = false
		s.mu.Unlock()
		if err == nil {
			return nil
		}
	}
	return &ordering.NotReadyError{Msg: w.missingReplicas(connection), RetryAfter: retrySilent, Err: errReplicas}
}

// probe makes a write and waits until enough replicas have it.
func (w *writer) probe(ctx context.Context, connection string) error {
	_, err := w.commitTo(ctx, w.blank(connection, modeProbe), w.required(connection))
	return err
}

// blank returns a transaction without changes, with modeWatch or modeProbe. Neither raises the
// mark; otherwise instances that learn each other's marks would never stop committing.
func (w *writer) blank(connection, mode string) *tx {
	c := w.newTx(&order{place: location{connection: connection}})
	c.mode, c.absent = mode, nil
	return c
}

// detect finds out whether a replica acknowledges writes. The first acknowledgement enables the
// replica rule permanently (policy O14). A replica that is only connected does not count: it may be
// copying the data for the first time, or be a backup program.
func (w *writer) detect(ctx context.Context, connection string) error {
	_, acknowledged, err := w.run(ctx, w.blank(connection, modeProbe), 1, detectTimeout)
	if err != nil || acknowledged < 1 {
		return err
	}
	return w.probe(ctx, connection) // stores the rule, also in the replica
}

// pipelineOf returns a pipeline to the server that has the key, with a sufficient read timeout. In
// a cluster, a separate WAIT could go to any server.
func (w *writer) pipelineOf(ctx context.Context, key string, limit time.Duration) (redis.Pipeliner, error) {
	var server *redis.Client
	switch client := w.write.(type) {
	case *redis.Client:
		server = client
	case *redis.ClusterClient:
		master, err := client.MasterForKey(ctx, key)
		if err != nil {
			return nil, err
		}
		server = master
	default:
		return nil, fmt.Errorf("%w: a %T does not support WAIT", errReplicas, client)
	}
	if limit == 0 {
		return server.Pipeline(), nil
	}
	return server.WithTimeout(replyTimeout + limit).Pipeline(), nil
}

// run runs commit.lua for a transaction on the server that has its keys, and learns from the reply.
// Unless wait is 0, it waits for that number of replicas and returns how many have acknowledged the
// write; otherwise it returns -1. Commits share pipelines.
func (w *writer) run(ctx context.Context, c *tx, wait int, limit time.Duration) (reply, int, error) {
	s := w.state(c.connection())
	known := s.known()
	e := &evaluation{key: c.state, command: c.command(known), wait: wait, limit: limit}
	var err error
	switch {
	case c.mode == modeWatch || c.mode == modeProbe: // must not wait for a full queue
		_ = w.send(ctx, []*evaluation{e})
		err = e.err
	case wait == 0:
		e.limit = 0
		err = w.share(ctx, &s.unreplicated, e)
	default:
		err = w.share(ctx, &s.withReplicas, e)
	}
	if err != nil {
		return reply{}, 0, err
	}
	if wait > 0 {
		s.mu.Lock()
		s.waitRefused = e.waitRefused
		s.mu.Unlock()
	}
	r, err := readReply(e.reply)
	if err == nil {
		w.learn(s, r, c.mode, known, e.acknowledged)
	}
	return r, e.acknowledged, err
}

// update applies the transaction that plan returns, by commit or apply, to the given order, or if it
// is nil, to the order as it reads it. If the order was changed concurrently, it starts again. A nil
// transaction changes nothing. update returns the new state of the order.
func (w *writer) update(
	ctx context.Context, commit func(context.Context, *tx) (*order, error), at location, o *order, plan func(o *order) (*tx, error),
) (*order, error) {
	for ; ; o = nil {
		if o == nil {
			read, err := w.readOrder(ctx, w.write, at)
			if err != nil {
				return nil, err
			}
			o = read
		}
		c, err := plan(o)
		if err != nil || c == nil {
			return o, err
		}
		next, err := commit(ctx, c)
		if !errors.Is(err, errMoved) {
			return next, err
		}
	}
}
