package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"larder.local/internal/menu"
	"larder.local/sync/runlog"
)

// Instance is what a process has.
type Instance struct {
	*Runner
	*Scheduler
}

// NewInstance returns an Instance.
func NewInstance(d Deps) (*Instance, error) {
	r, err := NewRunner(d)
	if err != nil {
		return nil, err
	}
	return &Instance{r, NewScheduler(r)}, nil
}

// SetDeadline sets a limit of runs that no configuration allows.
func (r *Runner) SetDeadline(d time.Duration) { r.deps.Config.Deadline = d }

// OnceOf is Once with the restaurant's id. A skipped run is not an error.
func (r *Runner) OnceOf(ctx context.Context, id menu.RestaurantID, why runlog.Trigger) (runlog.Run, error) {
	return r.onceOf(ctx, id, why, time.Time{})
}

// OnceAt is OnceOf for one tick of the schedule.
func (r *Runner) OnceAt(ctx context.Context, id menu.RestaurantID, tick time.Time) (runlog.Run, error) {
	return r.onceOf(ctx, id, runlog.TriggerCron, tick)
}

func (r *Runner) onceOf(ctx context.Context, id menu.RestaurantID, why runlog.Trigger, tick time.Time) (runlog.Run, error) {
	t, err := r.Target(id)
	if err != nil {
		return runlog.Run{}, err
	}
	run, err := r.once(ctx, t, r.newRun(t, why, ""), tick, forceNone)
	if errors.Is(err, ErrBusy) || errors.Is(err, errTaken) {
		return runlog.Run{Restaurant: id, Trigger: why, State: runlog.StateFinished, Outcome: runlog.OutcomeSkipped}, nil
	}
	return run, err
}

// ReasonsOnce syncs a connection's rejection reasons.
func (r *Runner) ReasonsOnce(ctx context.Context, connection string) (runlog.Run, error) {
	return r.syncReasons(ctx, r.set.Load().reasons[connection], runlog.TriggerCron, time.Time{})
}

// Runs returns a page of recorded runs.
func (r *Runner) Runs(ctx context.Context, f runlog.Filter) ([]runlog.Run, string, error) {
	return r.runs.List(ctx, f)
}

// FindRun returns one run.
func (r *Runner) FindRun(ctx context.Context, id string) (runlog.Run, error) {
	return r.runs.Find(ctx, id)
}

// Batch returns a batch.
func (r *Runner) Batch(ctx context.Context, id string) (runlog.Batch, error) {
	return r.runs.Batch(ctx, id)
}

// Follow starts to follow the runs of all instances.
func (r *Runner) Follow() *runlog.Follower { return r.runs.Follow() }

// CatchUp queues what is missing or old at the start, and returns it in the order of the queue.
func (s *Scheduler) CatchUp(ctx context.Context) []Work {
	s.catchUp(ctx, true)
	return s.drain()
}

// Drain returns the queued work as if it was done at once.
func (s *Scheduler) Drain() []Work { return s.drain() }

// RefreshQueued keeps queued runs alive once.
func (r *Runner) RefreshQueued(ctx context.Context) error {
	return r.flights.extendQueued(ctx, r.redis)
}

// StartTrials queues the next trials of circuit breakers, and returns the restaurants that may be read in them.
func (s *Scheduler) StartTrials(connection string) (chosen []menu.RestaurantID) {
	s.startTrials(s.deps.Clock())
	b := s.breakers[connection]
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
func (s *Scheduler) StartForBatch(ctx context.Context, id menu.RestaurantID) (runlog.Run, error) {
	return s.Start(ctx, id, Request{Force: true, batch: true})
}

// ViewMemory calls viewMemory.
func ViewMemory(body []byte) int64 { return (&budget{size: 1 << 40}).viewMemory(body) }
