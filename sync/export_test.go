package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"larder/internal/menu"
	"larder/sync/runlog"
)

// SetDeadline sets a limit of runs that no configuration allows.
func (r *Runner) SetDeadline(d time.Duration) { r.cfg.Deadline = d }

// OnceOf is Once with the restaurant's id. A skipped run is not an error.
func (r *Runner) OnceOf(ctx context.Context, id menu.RestaurantID, why runlog.Trigger) (runlog.Run, error) {
	return r.onceOf(ctx, id, Work{Trigger: why})
}

// OnceAt is OnceOf for one tick of the schedule.
func (r *Runner) OnceAt(ctx context.Context, id menu.RestaurantID, tick time.Time) (runlog.Run, error) {
	return r.onceOf(ctx, id, Work{Trigger: runlog.TriggerCron, tick: tick})
}

func (r *Runner) onceOf(ctx context.Context, id menu.RestaurantID, w Work) (runlog.Run, error) {
	var err error
	if w.Target, err = r.Target(id); err != nil {
		return runlog.Run{}, err
	}
	run, err := r.Once(ctx, w)
	if errors.Is(err, ErrBusy) {
		err = nil
	}
	return run, err
}

// ReasonsOnce syncs a connection's rejection reasons.
func (r *Runner) ReasonsOnce(ctx context.Context, connection string) (runlog.Run, error) {
	for _, t := range r.set.Load().reasons {
		if t.Connection == connection {
			return r.Once(ctx, Work{Target: t, Trigger: runlog.TriggerCron})
		}
	}
	return runlog.Run{}, errors.New("no such connection")
}

// Runs returns a page of recorded runs.
func (r *Runner) Runs(ctx context.Context, f runlog.Filter) ([]runlog.Run, string, error) {
	return r.runs.List(ctx, f)
}

// Run returns one run.
func (r *Runner) Run(ctx context.Context, id string) (runlog.Run, error) { return r.runs.Find(ctx, id) }

// Batch returns a batch.
func (r *Runner) Batch(ctx context.Context, id string) (runlog.Batch, error) {
	return r.runs.Batch(ctx, id)
}

// Follow starts to follow the runs of all instances.
func (r *Runner) Follow() *runlog.Follower { return r.runs.Follow() }

// RefreshQueued keeps queued runs alive once.
func (r *Runner) RefreshQueued(ctx context.Context) error { return r.flights.extendQueued(ctx, r) }

// StartTrials queues the next trials of circuit breakers, and returns the restaurants that may be read in them.
func (r *Runner) StartTrials(connection string) (chosen []menu.RestaurantID) {
	NewScheduler(r).startTrials(r.clock())
	b := r.breakers[connection]
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.trial {
		chosen = append(chosen, id)
	}
	slices.Sort(chosen)
	return chosen
}

// DefaultSchedule is defaultSchedule.
const DefaultSchedule = defaultSchedule

// Last calls last.
func (s *Schedule) Last(t time.Time) time.Time { return s.last(t) }

// Missed calls missed.
func (s *Schedule) Missed(n int, since, now time.Time) bool { return s.missed(n, since, now) }

// StartForBatch starts or joins a run as a forced batch does.
func (r *Runner) StartForBatch(ctx context.Context, id menu.RestaurantID) (runlog.Run, error) {
	return r.Start(ctx, id, Request{Force: true, batch: true})
}

// ViewMemory calls viewMemory.
func ViewMemory(body []byte) int64 { return (&budget{size: 1 << 40}).viewMemory(body) }
