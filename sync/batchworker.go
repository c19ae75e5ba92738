package sync

import (
	"context"
	"errors"
	"math/rand/v2"
	stdsync "sync"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sleep"
	"larder.local/sync/runlog"
)

const (
	// batchPollInterval is how often an instance looks for open batches of all instances.
	batchPollInterval = 5 * time.Second
	// batchTries is how often a batch runs one restaurant whose lease holder vanishes.
	batchTries = 3
)

// errNotPending means that a restaurant of a batch is done.
var errNotPending = errors.New("sync: another instance has synced it")

// BatchRequest asks for a sync of many restaurants.
type BatchRequest struct {
	Connection string // limits the batch to its restaurants; empty: all
	By         string // the client's id; may be empty
	Force      bool   // as in Request
}

// StartBatch saves a batch of all restaurants, or of all restaurants of a connection, and returns at
// once. The Scheduler of any instance executes it. Errors: ErrTooManyBatches, redisdb.ErrUnavailable.
func (s *Scheduler) StartBatch(ctx context.Context, req BatchRequest) (runlog.Batch, error) {
	var restaurants []menu.RestaurantID
	for _, restaurant := range s.set.Load().restaurants {
		if req.Connection == "" || restaurant.Connection == req.Connection {
			restaurants = append(restaurants, restaurant.ID)
		}
	}
	b, err := s.runs.StartBatch(ctx, runlog.Batch{Connection: req.Connection, By: cleanName(req.By), Force: req.Force}, restaurants)
	if err != nil {
		return runlog.Batch{}, err
	}
	s.newBatch.Set()
	return b, nil
}

// runBatches executes the open batches, together with the other instances, until ctx ends.
func (s *Scheduler) runBatches(ctx context.Context) {
	var group stdsync.WaitGroup
	defer group.Wait()
	var running stdsync.Map // ids of batches
	ticker := time.NewTicker(batchPollInterval)
	defer ticker.Stop()
	for s.health.wait(ctx) {
		ids, err := s.runs.OpenBatches(ctx)
		if err != nil {
			s.health.suspect()
		}
		for _, id := range ids {
			if _, twice := running.LoadOrStore(id, true); twice {
				continue
			}
			group.Go(func() {
				defer running.Delete(id)
				s.runBatch(ctx, id)
			})
		}
		select {
		case <-ctx.Done():
		case <-s.newBatch:
		case <-ticker.C:
		}
	}
}

// runBatch syncs the pending restaurants of a batch. It starts at most twice as many runs as there are workers,
// so that other manual runs wait for few of them. If it cannot read the batch, the next poll tries again.
func (s *Scheduler) runBatch(ctx context.Context, id string) {
	b, err := s.runs.Batch(ctx, id)
	if errors.Is(err, runlog.ErrUnknownBatch) { // expired
		_, _ = s.runs.CloseBatch(ctx, id)
	}
	if err != nil {
		return
	}
	pending, err := s.runs.Pending(ctx, id)
	if err != nil {
		return
	}
	if len(pending) == 0 {
		s.closeBatch(ctx, id)
		return
	}
	// Each instance uses a different order.
	rand.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
	var group errgroup.Group
	group.SetLimit(2 * s.deps.Config.Concurrency)
	if b.Force && b.Done == 0 { // policy S5a
		for _, t := range s.set.Load().reasons {
			if b.Connection == "" || b.Connection == t.Connection {
				group.Go(func() error { _ = s.runner.fetchReasons(ctx, t); return nil })
			}
		}
	}
	for _, restaurant := range pending {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { s.syncOne(ctx, b, restaurant); return nil })
	}
	_ = group.Wait() // its functions return nil
}

// syncOne syncs a restaurant and counts it as done.
func (s *Scheduler) syncOne(ctx context.Context, b runlog.Batch, restaurant menu.RestaurantID) {
	var run runlog.Run
	var err error
	for range batchTries {
		err = s.awaitRedis(ctx, b.ID, func() (err error) {
			run, err = s.syncRestaurant(ctx, b, restaurant)
			return err
		})
		if ctx.Err() != nil || errors.Is(err, errNotPending) {
			return
		}
		if err == nil && run.Error != runlog.HolderLost {
			break
		}
	}
	if err != nil {
		now := s.deps.Clock().UTC()
		run = runlog.Run{
			Restaurant: restaurant,
			Trigger:    runlog.TriggerManual,
			State:      runlog.StateFinished,
			StartedAt:  now,
			FinishedAt: now,
			Outcome:    runlog.OutcomeFailed,
			Error:      err.Error(),
		}
	}
	_ = s.awaitRedis(ctx, b.ID, func() error { // on an error the restaurant is synced again
		ended, err := s.runs.CountDone(ctx, b, run)
		if ended {
			s.closeBatch(ctx, b.ID)
		}
		return err
	})
}

// syncRestaurant returns the finished run of a restaurant. Errors: errNotPending, redisdb.ErrUnavailable.
func (s *Scheduler) syncRestaurant(ctx context.Context, b runlog.Batch, restaurant menu.RestaurantID) (runlog.Run, error) {
	pending, err := s.runs.IsPending(ctx, b.ID, restaurant)
	switch {
	case err != nil:
		return runlog.Run{}, err
	case !pending:
		return runlog.Run{}, errNotPending
	}
	run, err := s.Start(ctx, restaurant, Request{By: b.By, Force: b.Force, batch: true})
	if err == nil && !run.Finished() {
		run, err = s.runner.Wait(ctx, restaurant, run.ID)
	}
	if _, unknown := errors.AsType[*UnknownRestaurantError](err); unknown { // removed since the batch began
		return runlog.Run{Restaurant: restaurant, State: runlog.StateFinished, Outcome: runlog.OutcomeSkipped}, nil
	}
	return run, err
}

// awaitRedis calls do until Redis is available. It returns do's error, or ctx's.
func (s *Scheduler) awaitRedis(ctx context.Context, batch string, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, redisdb.ErrUnavailable) {
			return err
		}
		s.deps.Log.WithError(err).WithField("event", "sync.batch_deferred").WithField("batch", batch).Debug("batch waits for Redis")
		s.health.suspect()
		if sleep.For(ctx, retryQueued) != nil || !s.health.wait(ctx) {
			return ctx.Err()
		}
	}
}

// closeBatch removes a finished batch from the list of open batches.
func (s *Scheduler) closeBatch(ctx context.Context, id string) {
	closed, err := s.runs.CloseBatch(ctx, id)
	if err != nil || !closed { // the next poll closes it, or another instance did
		return
	}
	if b, err := s.runs.Batch(ctx, id); err == nil {
		s.deps.Log.WithField("event", "sync.batch").WithField("batch", id).WithField("count", b.Total).
			WithField("failed", b.Failed).Info("batch finished")
	}
}
