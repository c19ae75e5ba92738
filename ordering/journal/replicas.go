package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/ordering"
)

const (
	// replyTimeout is how long an answer may take beyond the wait for replicas.
	replyTimeout = 5 * time.Second
	// probeEvery is how often a write is tried while replicas do not acknowledge.
	probeEvery = time.Second
	// detectTimeout bounds the wait for the first acknowledgement ever.
	detectTimeout = 500 * time.Millisecond
)

// Modes of commit.lua.
const (
	modeCreate = "create"
	modeCommit = "commit"
	modeWatch  = "watch"
	modeProbe  = "probe"
)

// commit makes the change, waits until as many replicas have it as policy O14
// requires, and returns the order after it. With ErrReplicas the change is
// made and the order returned, but too few replicas have acknowledged it in time.
func (j *Journal) commit(ctx context.Context, c *tx) (*order, error) {
	s := j.state(c.connection())
	wait := j.required(s)
	o, err := j.commitTo(ctx, c, wait)
	if err == nil && o != nil && j.required(s) > wait { // another instance has seen a replica meanwhile
		return o, j.confirm(ctx, o)
	}
	return o, err
}

// confirm waits until enough replicas have an order as it is in Redis. It
// writes first: WAIT covers only what its own connection has written.
func (j *Journal) confirm(ctx context.Context, o *order) error {
	_, err := j.commitTo(ctx, j.begin(o), j.required(j.state(o.place.connection)))
	if errors.Is(err, errMoved) {
		err = fmt.Errorf("%w: changed meanwhile", ErrReplicas)
	}
	return err
}

func (j *Journal) commitTo(ctx context.Context, c *tx, wait int) (*order, error) {
	if err := c.checkReadable(); err != nil {
		return nil, err
	}
	r, acknowledged, err := j.run(ctx, c, wait, j.cfg.WaitTimeout)
	if err != nil {
		return nil, err
	}
	s := j.state(c.connection())
	if r.refused {
		return nil, &ordering.RestoredError{Connection: c.connection(), Since: r.pausedAt} // policy O14a
	}
	for _, field := range c.stampedFields {
		c.fields[field] = r.now
	}
	var o *order
	if len(c.fields) > 0 {
		if o, err = decode(c.order.place, c.fields, c.answers); err != nil {
			return nil, err
		}
	}
	if wait > 0 {
		s.acknowledged(acknowledged >= wait)
		if acknowledged < wait {
			return o, fmt.Errorf("%w: %d of %d", ErrReplicas, acknowledged, wait)
		}
	}
	return o, nil
}

// apply makes a change without waiting for replicas: one that is made again
// should a failover undo it.
func (j *Journal) apply(ctx context.Context, c *tx) (*order, error) {
	return j.commitTo(ctx, c, 0)
}

// acknowledged notes whether enough replicas have acknowledged a write.
func (s *state) acknowledged(enough bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = !enough
	if !enough {
		s.probed = time.Now()
	}
}

// recovered returns nil unless the last WAIT failed. Then a write is probed,
// single flight and at most once per second; until it is acknowledged nothing
// is opened (policy O14).
func (j *Journal) recovered(ctx context.Context, connection string) error {
	s := j.state(connection)
	s.mu.Lock()
	failing, mine := s.failing, s.failing && !s.probing && time.Since(s.probed) >= probeEvery
	if mine {
		s.probing, s.probed = true, time.Now() // also when Redis itself fails: then WAIT is never reached
	}
	s.mu.Unlock()
	switch {
	case !failing:
		return nil
	case mine:
		err := j.probe(ctx, connection)
		s.mu.Lock()
		s.probing = false
		s.mu.Unlock()
		if err == nil {
			return nil
		}
	}
	return &ordering.NotReadyError{
		Msg: fmt.Sprintf("too few replicas of Redis acknowledge writes (%d needed): see to the replicas, "+
			"or set ordering.wait_replicas to 0", j.required(s)),
		RetryAfter: retrySilent,
		Err:        ErrReplicas,
	}
}

// probe writes, and waits until enough replicas have it.
func (j *Journal) probe(ctx context.Context, connection string) error {
	_, err := j.commitTo(ctx, j.blank(connection, modeProbe), j.required(j.state(connection)))
	return err
}

// blank is a change of no order, modeWatch or modeProbe. Neither raises the mark:
// instances that learn from each other's marks would commit for ever.
func (j *Journal) blank(connection, mode string) *tx {
	c := j.begin(&order{place: location{connection: connection}})
	c.mode, c.checks, c.keys = mode, nil, c.keys[:1]
	return c
}

// detect finds out whether a replica acknowledges writes: one that does changes
// the rule for good (policy O14). A replica that is only connected, such as one
// that copies the data for the first time or a backup program, does not.
func (j *Journal) detect(ctx context.Context, connection string) error {
	_, acknowledged, err := j.run(ctx, j.blank(connection, modeProbe), 1, detectTimeout)
	if err != nil || acknowledged < 1 {
		return err
	}
	return j.probe(ctx, connection) // stores the rule, in the replica too
}

// evalAndWait runs commit.lua and WAIT on one connection to the server that
// has the keys, and returns how many replicas have what it wrote.
func (j *Journal) evalAndWait(
	ctx context.Context, keys []string, arguments []any, wait int, limit time.Duration,
) (done *redis.Cmd, acknowledged int, err error) {
	pipe, err := j.pipelineOf(ctx, keys[0], limit)
	if err != nil {
		return nil, 0, err
	}
	done = commitScript.EvalSha(ctx, pipe, keys, arguments...)
	waited := pipe.Do(ctx, "WAIT", wait, millis(limit))
	_, _ = pipe.Exec(ctx) // each reply has its own error
	if redis.HasErrorPrefix(done.Err(), "NOSCRIPT") {
		done = commitScript.Eval(ctx, pipe, keys, arguments...)
		waited = pipe.Do(ctx, "WAIT", wait, millis(limit))
		_, _ = pipe.Exec(ctx)
	}
	count, _ := waited.Int() // an error is no acknowledgement
	return done, count, nil
}

// pipelineOf returns a pipeline to the very server that has a key (in a cluster
// a WAIT by itself would go to any), which waits for answers long enough.
func (j *Journal) pipelineOf(ctx context.Context, key string, limit time.Duration) (redis.Pipeliner, error) {
	switch client := j.write.(type) {
	case *redis.Client:
		return client.WithTimeout(replyTimeout + limit).Pipeline(), nil
	case *redis.ClusterClient:
		master, err := client.MasterForKey(ctx, key)
		if err != nil {
			return nil, err
		}
		return master.WithTimeout(replyTimeout + limit).Pipeline(), nil
	default:
		return nil, fmt.Errorf("%w: a %T has no WAIT", ErrReplicas, client)
	}
}
