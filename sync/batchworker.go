package sync

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	stdsync "sync"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/cache"
	"larder/internal/menu"
)

const (
	// lookForBatches is how often a replica looks for batches that nobody does:
	// those of a replica that has vanished.
	lookForBatches = 5 * time.Second
	// progressEvery is how often a batch tells how far it is, at most.
	progressEvery = 250 * time.Millisecond
	// batchTries bounds the runs of one restaurant in a batch: a next one where
	// the holder of the last vanished with it.
	batchTries = 3
)

// openBatches is what this process knows of the batches that are open.
type openBatches struct {
	signal chan struct{} // holds a token when there is a new one

	mu    stdsync.Mutex
	doing map[string]bool // here
}

func newOpenBatches() *openBatches {
	return &openBatches{signal: make(chan struct{}, 1), doing: map[string]bool{}}
}

func (o *openBatches) tell() {
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// begin notes a batch that is done here; false when it is already.
func (o *openBatches) begin(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.doing[id] {
		return false
	}
	o.doing[id] = true
	return true
}

func (o *openBatches) end(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.doing, id)
}

// carryBatches does the open batches that no other replica does, until ctx
// ends; then those that it does are left to the others.
func (r *Runner) carryBatches(ctx context.Context) {
	var group errgroup.Group
	defer func() { _ = group.Wait() }() // its functions have no errors
	ticker := time.NewTicker(lookForBatches)
	defer ticker.Stop()
	r.batches.tell() // there may be some from before the start
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.batches.signal:
		case <-ticker.C:
		}
		if !r.health.wait(ctx) {
			return
		}
		// Never more than maxBatches and what was asked for meanwhile.
		ids, err := r.ordinary.ZRange(ctx, r.keys.of.Batches(), 0, 2*maxBatches).Result()
		if err != nil {
			r.health.doubt()
			continue
		}
		for _, id := range ids {
			if !r.batches.begin(id) {
				continue
			}
			group.Go(func() error {
				defer r.batches.end(id)
				r.carry(ctx, id)
				return nil
			})
		}
	}
}

// carried is a batch that this process does.
type carried struct {
	r    *Runner
	id   string
	hand string // names this process as the one that does it
	lose context.CancelCauseFunc
	req  BatchRequest

	mu   stdsync.Mutex
	now  Progress
	told Progress // last
}

// carry does what is left of a batch, if no other replica does.
func (r *Runner) carry(ctx context.Context, id string) {
	c := &carried{r: r, id: id, hand: rand.Text()}
	held, err := c.hold(ctx, r.cfg.Lease)
	switch {
	case errors.Is(err, ErrUnknownBatch):
		_ = r.ordinary.ZRem(ctx, r.keys.of.Batches(), id).Err() // expired; else the next look does it
		return
	case err != nil || !held:
		return // the next look asks again
	}
	pending, err := c.load(ctx)
	if err != nil {
		return
	}
	within, lose := context.WithCancelCause(ctx)
	c.lose = lose
	var keeping stdsync.WaitGroup
	keeping.Go(func() { c.keep(within) })
	c.do(within, pending)
	lose(nil)
	keeping.Wait()
	c.close(ctx)
}

// load reads the batch and the restaurants that are left.
func (c *carried) load(ctx context.Context) (pending []string, err error) {
	b, err := c.r.Batch(ctx, c.id)
	if err != nil {
		return nil, err
	}
	c.req = BatchRequest{Connection: b.Connection, By: b.By, Force: b.Force}
	c.now = Progress{Batch: b.ID, Connection: b.Connection, Done: b.Done, Failed: b.Failed, Total: b.Total}
	return c.r.ordinary.SMembers(ctx, c.r.keys.of.BatchPending(c.id)).Result()
}

// do syncs the restaurants, some at a time: those in flight are what a worker
// each can do, and as many that wait, so that manual runs of others that come
// meanwhile wait for few.
func (c *carried) do(ctx context.Context, pending []string) {
	var group errgroup.Group
	group.SetLimit(2 * c.r.cfg.Concurrency)
	if c.req.Force { // policy S5a
		for _, t := range c.r.set.Load().reasons {
			if c.req.Connection == "" || c.req.Connection == t.Connection {
				group.Go(func() error { _ = c.r.refreshReasons(ctx, t.Connection); return nil })
			}
		}
	}
	for _, id := range pending {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			c.one(ctx, menu.RestaurantID(id))
			return nil
		})
	}
	_ = group.Wait() // its functions have no errors
}

// one syncs a restaurant and counts it. While Redis is away it waits.
func (c *carried) one(ctx context.Context, restaurant menu.RestaurantID) {
	run, err := c.sync(ctx, restaurant)
	for err == nil {
		if err = c.count(ctx, run); !errors.Is(err, cache.ErrUnavailable) {
			return
		}
		err = c.await(ctx, err)
	}
}

// sync gives the finished run of a restaurant. The error is ctx's.
func (c *carried) sync(ctx context.Context, restaurant menu.RestaurantID) (Run, error) {
	for try := 1; ; {
		run, err := c.r.Start(ctx, restaurant, Request{By: c.req.By, Force: c.req.Force, batch: true})
		if err == nil && !run.Finished() {
			run, err = c.r.Wait(ctx, restaurant, run.ID)
		}
		var unknown *UnknownRestaurantError
		switch {
		case ctx.Err() != nil:
			return Run{}, ctx.Err()
		case errors.Is(err, cache.ErrUnavailable):
			if err := c.await(ctx, err); err != nil {
				return Run{}, err
			}
			continue // no try: nothing can run
		case errors.As(err, &unknown): // removed since the batch began
			return Run{Restaurant: restaurant, State: StateFinished, Outcome: OutcomeSkipped}, nil
		case err == nil && run.Error != holderLost, err == nil && try == batchTries:
			return run, nil
		case try == batchTries:
			now := c.r.clock().UTC()
			return Run{
				Restaurant: restaurant, Trigger: TriggerManual, State: StateFinished, StartedAt: now, FinishedAt: now,
				Outcome: OutcomeFailed, Error: err.Error(),
			}, nil
		}
		try++
	}
}

// await waits until Redis answers again. The error is ctx's.
func (c *carried) await(ctx context.Context, err error) error {
	c.r.log.WithError(err).WithField("event", "sync.batch_waits").WithField("batch", c.id).Debug("a batch waits for Redis")
	c.r.health.doubt()
	if !pause(ctx, retryQueued) || !c.r.health.wait(ctx) {
		return ctx.Err()
	}
	return nil
}

// count counts a restaurant as done. Errors: cache.ErrUnavailable,
// errLeaseLost.
func (c *carried) count(ctx context.Context, run Run) error {
	k := c.r.keys.of
	var record []byte
	if run.Outcome == OutcomeFailed || run.Outcome == OutcomeQuarantined {
		var err error
		if record, err = run.MarshalJSON(); err != nil {
			return err
		}
	}
	answer, err := c.r.scripts.batchDone.Run(ctx, c.r.redis,
		[]string{k.BatchHold(c.id), k.Batch(c.id), k.BatchPending(c.id), k.BatchFaults(c.id)},
		c.hand, string(run.Restaurant), string(run.Outcome), record, maxFaults, c.r.clock().UTC().Format(menu.TimeFormat)).Int64Slice()
	if err != nil {
		return unavailable(ctx, "count a run of a batch", err)
	}
	if len(answer) != 2 || answer[0] < 0 {
		c.lose(errLeaseLost) // the next look, here or elsewhere, goes on with what is left
		return errLeaseLost
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if done := int(answer[0]); done > c.now.Done {
		c.now.Done, c.now.Failed = done, int(answer[1])
	}
	return nil
}

// hold makes this process the one that does the batch, or goes on being it; for
// 0 it gives it up. Errors: ErrUnknownBatch, cache.ErrUnavailable.
func (c *carried) hold(ctx context.Context, life time.Duration) (bool, error) {
	k := c.r.keys.of
	held, err := c.r.scripts.batchHold.Run(ctx, c.r.redis, []string{k.BatchHold(c.id), k.Batch(c.id)}, c.hand, life.Milliseconds()).Int()
	switch {
	case err != nil:
		return false, unavailable(ctx, "hold a batch", err)
	case held < 0:
		return false, ErrUnknownBatch
	}
	return held == 1, nil
}

// keep renews the hold and tells of progress until ctx ends, which it does when
// another does the batch.
func (c *carried) keep(ctx context.Context) {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		c.tell(ctx)
		if time.Since(renewed) < c.r.cfg.Lease/3 {
			continue
		}
		renewed = time.Now()
		if held, err := c.hold(ctx, c.r.cfg.Lease); err == nil && !held || errors.Is(err, ErrUnknownBatch) {
			c.lose(errLeaseLost)
			return
		}
	}
}

// tell publishes how far the batch is, where that is news.
func (c *carried) tell(ctx context.Context) {
	c.mu.Lock()
	now := c.now
	news := now != c.told
	c.told = now
	c.mu.Unlock()
	if !news {
		return
	}
	data, err := json.Marshal(now)
	if err == nil {
		// Whoever misses it reads the batch.
		_ = c.r.ordinary.Publish(ctx, c.r.keys.of.RunNotices(), NoticeProgress+" "+string(data)).Err()
	}
}

// close tells the end and takes the batch from the list, or leaves what is not
// done to another replica.
func (c *carried) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	c.mu.Lock()
	now := c.now
	c.mu.Unlock()
	if now.Done >= now.Total {
		c.tell(ctx)
		_ = c.r.ordinary.ZRem(ctx, c.r.keys.of.Batches(), c.id).Err() // else the next look finds nothing left, and does it
		c.r.log.WithField("event", "sync.batch").WithField("batch", c.id).WithField("count", now.Total).
			WithField("failed", now.Failed).Info("every restaurant of the batch is done")
	}
	_, _ = c.hold(ctx, 0) // else it expires
}
