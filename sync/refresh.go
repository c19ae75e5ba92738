package sync

import (
	"context"
	stdsync "sync"
	"time"

	"larder.local/internal/menu"
	"larder.local/sync/runlog"
)

const (
	// refreshMenuEvery limits how often refused orders of a restaurant can start a sync on this instance, and
	// refreshMenuCalm how soon after one that found nothing new (policy O18).
	refreshMenuEvery = 5 * time.Second
	refreshMenuCalm  = 2 * time.Minute
	// refreshMenuBy is who requested such a sync, in its record.
	refreshMenuBy = "(order)"
)

// mayRefresh reports whether a refused order may start a sync. started is the time of the last one that an order
// started, and nothing the time at which the last one ended that found nothing new; zero without one.
func mayRefresh(now, started, nothing time.Time) bool {
	passed := func(since time.Time, d time.Duration) bool {
		return since.IsZero() || now.Before(since) || now.Sub(since) >= d
	}
	return passed(started, refreshMenuEvery) && passed(nothing, refreshMenuCalm)
}

// refreshes are the last syncs that refused orders have reserved, by restaurant.
type refreshes struct {
	mu   stdsync.Mutex
	last map[menu.RestaurantID]*MenuRefresh
}

// MenuRefresh is a sync for refused orders of a restaurant. Orders that are refused meanwhile share it.
type MenuRefresh struct {
	scheduler  *Scheduler
	all        *refreshes
	restaurant menu.RestaurantID
	reserved   time.Time
	start      stdsync.Once

	// The lock of all guards these.
	runID   string // empty until the run was started or joined
	over    bool   // the run has finished, or could not be started
	version int64  // after the run
	nothing time.Time
}

// RefreshMenu reserves a sync of a restaurant whose service refused an order (policy O18). It returns the reserved one of
// an order that was refused a moment ago, if it has not finished. It returns nil if no sync may start: too soon after the
// last one, or syncs are paused. It does no I/O.
func (s *Scheduler) RefreshMenu(restaurant menu.RestaurantID) *MenuRefresh {
	if _, err := s.Target(restaurant); err != nil || !s.health.isUp() {
		return nil
	}
	all, now := &s.refreshes, s.deps.Clock()
	all.mu.Lock()
	defer all.mu.Unlock()
	last := all.last[restaurant]
	if last == nil || mayRefresh(now, last.reserved, last.nothing) {
		last = &MenuRefresh{scheduler: s, all: all, restaurant: restaurant, reserved: now}
		all.last[restaurant] = last
	}
	if last.over {
		return nil
	}
	return last
}

// Start starts the sync, or joins a run in progress (policy S8). It returns immediately.
func (f *MenuRefresh) Start(ctx context.Context) {
	f.start.Do(func() {
		run, err := f.scheduler.Start(ctx, f.restaurant, Request{By: refreshMenuBy})
		f.all.mu.Lock()
		f.runID, f.over = run.ID, err != nil
		f.all.mu.Unlock()
		if err == nil { // it may have finished before its id was known here
			run, _ = f.scheduler.runs.Get(ctx, f.restaurant, run.ID)
			f.all.finished(&run, f.scheduler.deps.Clock())
		}
	})
}

// Wait waits for the end of the sync, or of ctx. It returns the version that is served after the sync, or 0 if it is not known.
func (f *MenuRefresh) Wait(ctx context.Context) int64 {
	f.all.mu.Lock()
	id, over, version := f.runID, f.over, f.version
	f.all.mu.Unlock()
	if over || id == "" {
		return version
	}
	run, err := f.scheduler.Wait(ctx, f.restaurant, id)
	if err != nil {
		return 0
	}
	f.all.finished(&run, f.scheduler.deps.Clock())
	return run.Version
}

// finished notes the end of a run, if an order started or joined it.
func (r *refreshes) finished(run *runlog.Run, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.last[run.Restaurant]
	if last == nil || last.over || last.runID != run.ID || !run.Finished() {
		return
	}
	last.over, last.version = true, run.Version
	if run.Outcome == runlog.OutcomeUnchanged || run.Outcome == runlog.OutcomeQuarantined {
		last.nothing = now
	}
}
