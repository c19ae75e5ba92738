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
	"larder.local/sync/runlog"
)

const (
	// batchPollInterval is how often an instance looks for open batches of all instances.
	batchPollInterval = 5 * time.Second
	// batchTries is how often a batch runs one restaurant whose lease holder vanishes.
	batchTries = 3
)

// StartBatch saves a batch of all restaurants, or of all restaurants of a connection, and returns at once. It takes By,
// Connection and Force, as in Request, from req. The Scheduler of any instance executes it. Errors: ErrTooManyBatches,
// redisdb.ErrUnavailable.
func (s *Scheduler) StartBatch(ctx context.Context, req runlog.Batch) (runlog.Batch, error) {
	var restaurants []menu.RestaurantID
	for _, restaurant := range s.set.Load().restaurants {
		if req.Connection == "" || restaurant.Connection == req.Connection {
			restaurants = append(restaurants, restaurant.ID)
		}
	}
	req.By = cleanName(req.By)
	b, err := s.runs.StartBatch(ctx, req, restaurants)
	if err == nil {
		s.newBatch.Set()
	}
	return b, err
}

// runBatches executes the open batches, together with the other instances, until ctx ends.
func (s *Scheduler) runBatches(ctx context.Context) {
	var group stdsync.WaitGroup
	defer group.Wait()
	var running stdsync.Map // ids of batches
	ticks := time.Tick(batchPollInterval)
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
				if err := s.runBatch(ctx, id); errors.Is(err, redisdb.ErrUnavailable) {
					s.deps.Log.WithError(err).WithField("event", "sync.batch_deferred").WithField("batch", id).
						Debug("batch waits for Redis")
				}
			})
		}
		select {
		case <-ctx.Done():
		case <-s.newBatch:
		case <-ticks:
		}
	}
}

// runBatch syncs the pending restaurants of a batch, and closes it. It starts at most twice as many runs as there are
// workers, so that other manual runs wait for few of them. After an error, the next poll goes on with the others.
func (s *Scheduler) runBatch(ctx context.Context, id string) error {
	b, err := s.runs.Batch(ctx, id)
	if errors.Is(err, runlog.ErrUnknownBatch) { // expired
		_, err = s.runs.CloseBatch(ctx, id)
		return err
	}
	if err != nil {
		return err
	}
	pending, err := s.runs.Pending(ctx, id)
	if err != nil {
		return err
	}
	// Each instance uses a different order.
	rand.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
	var group errgroup.Group
	group.SetLimit(2 * s.deps.Config.Concurrency)
	if b.Force && b.Done == 0 { // policy S5a
		for _, t := range s.set.Load().reasons {
			if b.Connection == "" || b.Connection == t.Connection {
				group.Go(func() error { _ = s.fetchReasons(ctx, t); return nil })
			}
		}
	}
	for _, restaurant := range pending {
		if !s.health.wait(ctx) {
			break
		}
		group.Go(func() error {
			err := s.syncOne(ctx, b, restaurant)
			if errors.Is(err, redisdb.ErrUnavailable) {
				s.health.suspect()
			}
			return err
		})
	}
	if err := group.Wait(); err != nil || ctx.Err() != nil {
		return err
	}
	closed, err := s.runs.CloseBatch(ctx, id)
	if err != nil || !closed { // the next poll closes it, or another instance did
		return err
	}
	if b, err = s.runs.Batch(ctx, id); err == nil {
		s.deps.Log.WithField("event", "sync.batch").WithField("batch", id).WithField("count", b.Total).
			WithField("failed", b.Failed).Info("batch finished")
	}
	return err
}

// syncOne syncs a restaurant of a batch, unless another instance has, and counts it as done. After an error it is still
// pending. Errors: redisdb.ErrUnavailable, ctx's.
func (s *Scheduler) syncOne(ctx context.Context, b runlog.Batch, restaurant menu.RestaurantID) error {
	var run runlog.Run
	for range batchTries {
		pending, err := s.runs.IsPending(ctx, b.ID, restaurant)
		if err != nil || !pending {
			return err
		}
		run, err = s.Start(ctx, restaurant, Request{By: b.By, Force: b.Force, batch: true})
		if err == nil && !run.Finished() {
			run, err = s.Wait(ctx, restaurant, run.ID)
		}
		now := s.deps.Clock().UTC()
		switch {
		case ctx.Err() != nil, errors.Is(err, redisdb.ErrUnavailable):
			return err
		case errors.As(err, new(*UnknownRestaurantError)): // removed since the batch began
			run = runlog.Run{Restaurant: restaurant, State: runlog.StateFinished, Outcome: runlog.OutcomeSkipped}
		case err != nil:
			run = runlog.Run{
				Restaurant: restaurant,
				Trigger:    runlog.TriggerManual,
				State:      runlog.StateFinished,
				StartedAt:  now,
				FinishedAt: now,
				Outcome:    runlog.OutcomeFailed,
				Error:      err.Error(),
			}
			continue
		}
		if run.Error != runlog.HolderLost {
			break
		}
	}
	return s.runs.CountDone(ctx, b, run)
}
