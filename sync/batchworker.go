package sync

import (
	"context"
	"errors"
	"math/rand/v2"
	stdsync "sync"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/sleep"
)

const (
	// batchPollInterval is how often an instance looks for batches that others
	// have started, or left unfinished.
	batchPollInterval = 5 * time.Second
	// progressEvery is how often the progress of a batch is published, at most.
	progressEvery = 250 * time.Millisecond
	// batchTries bounds the runs of one restaurant in a batch: a next one where
	// the holder of the last vanished with it.
	batchTries = 3
)

// errNotPending says that a restaurant of a batch is done.
var errNotPending = errors.New("sync: another instance has done it")

// runBatches does the open batches, together with the other instances, until
// ctx ends.
func (r *Runner) runBatches(ctx context.Context) {
	var group errgroup.Group
	defer func() { _ = group.Wait() }() // its functions have no errors
	var running stdsync.Map             // ids of batches
	ticker := time.NewTicker(batchPollInterval)
	defer ticker.Stop()
	for r.health.wait(ctx) {
		// Never more than maxBatches and what was requested meanwhile.
		ids, err := r.client.ZRange(ctx, r.keys.Batches(), 0, 2*maxBatches).Result()
		if err != nil {
			r.health.suspect()
		}
		for _, id := range ids {
			if _, twice := running.LoadOrStore(id, true); twice {
				continue
			}
			group.Go(func() error {
				defer running.Delete(id)
				r.runBatch(ctx, id)
				return nil
			})
		}
		select {
		case <-ctx.Done():
		case <-r.newBatch:
		case <-ticker.C:
		}
	}
}

// runBatch syncs what is left of a batch, some restaurants at a time: those in
// flight are what a worker each can do, and as many that wait, so that manual
// runs of others that come meanwhile wait for few. What it cannot read, the
// next look does.
func (r *Runner) runBatch(ctx context.Context, id string) {
	b, err := r.Batch(ctx, id)
	if errors.Is(err, ErrUnknownBatch) { // expired
		_ = r.client.ZRem(ctx, r.keys.Batches(), id).Err()
	}
	if err != nil {
		return
	}
	pending, err := r.client.SMembers(ctx, r.keys.BatchPending(id)).Result()
	if err != nil {
		return
	}
	if len(pending) == 0 {
		r.closeBatch(ctx, id)
		return
	}
	// Each instance goes through the list in an order of its own.
	rand.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] }) //nolint:gosec // no secret
	var group errgroup.Group
	group.SetLimit(2 * r.cfg.Concurrency)
	if b.Force && b.Done == 0 { // policy S5a
		for _, t := range r.set.Load().reasons {
			if b.Connection == "" || b.Connection == t.Connection {
				group.Go(func() error { _ = r.refreshReasons(ctx, t.Connection); return nil })
			}
		}
	}
	for _, restaurant := range pending {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			r.syncOne(ctx, b, menu.RestaurantID(restaurant))
			return nil
		})
	}
	_ = group.Wait() // its functions have no errors
}

// syncOne syncs a restaurant and counts it.
func (r *Runner) syncOne(ctx context.Context, b Batch, restaurant menu.RestaurantID) {
	var run Run
	var err error
	for range batchTries {
		err = r.awaitRedis(ctx, b.ID, func() (err error) {
			run, err = r.syncRestaurant(ctx, b, restaurant)
			return err
		})
		if ctx.Err() != nil || errors.Is(err, errNotPending) {
			return
		}
		if err == nil && run.Error != holderLost {
			break
		}
	}
	if err != nil {
		now := r.clock().UTC()
		run = Run{
			Restaurant: restaurant, Trigger: TriggerManual, State: StateFinished, StartedAt: now, FinishedAt: now,
			Outcome: OutcomeFailed, Error: err.Error(),
		}
	}
	_ = r.awaitRedis(ctx, b.ID, func() error { return r.countDone(ctx, b, run) }) // else it is done once more
}

// syncRestaurant returns the finished run of a restaurant. Errors: errNotPending,
// redisdb.ErrUnavailable.
func (r *Runner) syncRestaurant(ctx context.Context, b Batch, restaurant menu.RestaurantID) (Run, error) {
	pending, err := r.client.SIsMember(ctx, r.keys.BatchPending(b.ID), string(restaurant)).Result()
	switch {
	case err != nil:
		return Run{}, unavailable(ctx, "read a batch", err)
	case !pending:
		return Run{}, errNotPending
	}
	run, err := r.Start(ctx, restaurant, Request{By: b.By, Force: b.Force, batch: true})
	if err == nil && !run.Finished() {
		run, err = r.Wait(ctx, restaurant, run.ID)
	}
	if _, unknown := errors.AsType[*UnknownRestaurantError](err); unknown { // removed since the batch began
		return Run{Restaurant: restaurant, State: StateFinished, Outcome: OutcomeSkipped}, nil
	}
	return run, err
}

// awaitRedis does something of a batch, again and again while Redis is
// away. The error is its, or ctx's.
func (r *Runner) awaitRedis(ctx context.Context, batch string, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, redisdb.ErrUnavailable) {
			return err
		}
		r.log.WithError(err).WithField("event", "sync.batch_deferred").WithField("batch", batch).Debug("a batch waits for Redis")
		r.health.suspect()
		if sleep.For(ctx, retryQueued) != nil || !r.health.wait(ctx) {
			return ctx.Err()
		}
	}
}

// countDone counts a restaurant as done. Errors: redisdb.ErrUnavailable.
func (r *Runner) countDone(ctx context.Context, b Batch, run Run) error {
	var record []byte
	var err error
	if run.Outcome == OutcomeFailed || run.Outcome == OutcomeQuarantined {
		if record, err = run.MarshalJSON(); err != nil {
			return err
		}
	}
	k := r.keys
	ended, err := batchDoneScript.Run(ctx, r.redis, []string{k.Batch(b.ID), k.BatchPending(b.ID), k.BatchFaults(b.ID)},
		string(run.Restaurant), string(run.Outcome), record, maxFaults, menu.FormatTime(r.clock()),
		k.RunNotices(), NoticeProgress, b.ID, b.Connection, progressEvery.Milliseconds()).Bool()
	if err != nil {
		return unavailable(ctx, "count a run of a batch", err)
	}
	if ended {
		r.closeBatch(ctx, b.ID)
	}
	return nil
}

// closeBatch takes a batch of which nothing is left from the list of open ones.
func (r *Runner) closeBatch(ctx context.Context, id string) {
	closed, err := r.client.ZRem(ctx, r.keys.Batches(), id).Result()
	if err != nil || closed == 0 { // the next look does it, or another instance has done it
		return
	}
	if b, err := r.Batch(ctx, id); err == nil {
		r.log.WithField("event", "sync.batch").WithField("batch", id).WithField("count", b.Total).
			WithField("failed", b.Failed).Info("every restaurant of the batch is done")
	}
}
