package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	"golang.org/x/sync/errgroup"

	"larder/internal/redisdb"
	"larder/internal/sleep"
	"larder/sync/runlog"
)

const (
	// retryQueued is how long a manual run waits before it asks again for a
	// lease that another run holds.
	retryQueued = 250 * time.Millisecond
	// refreshQueued is how often queued runs are kept alive in Redis.
	refreshQueued = queuedLife / 3
)

// Scheduler calls a Runner: on each restaurant's schedule, for manual runs,
// and to catch up at the start and when Redis has been away.
type Scheduler struct {
	runner *Runner
}

// NewScheduler gives a Scheduler over everything the Runner keeps. It starts
// nothing; Run does.
func NewScheduler(r *Runner) *Scheduler { return &Scheduler{runner: r} }

// Run keeps everything fresh until ctx ends, and returns nil when no run is in
// flight any more and every lease is released. It owns the cron entries and
// all goroutines; Config.Concurrency bounds the runs at one time, but each
// connection may have one.
func (s *Scheduler) Run(ctx context.Context) error {
	r := s.runner
	g, ctx := errgroup.WithContext(ctx)
	watch := func(ctx context.Context) {
		r.health.watch(ctx, func(ctx context.Context, doubt bool) error {
			if !doubt {
				return r.server.Probe(ctx)
			}
			return r.server.Probe(ctx, r.keys.Notices(), r.keys.RunNotices()) // may larder publish as well?
		}, r.catchUp)
	}
	for _, part := range []func(context.Context){r.runCron, watch, r.keepQueued, r.runs.ReceiveNotices, r.runBatches} {
		g.Go(func() error { part(ctx); return nil })
	}
	for range r.queue.workers {
		g.Go(func() error { r.work(ctx, g); return nil })
	}
	return g.Wait()
}

// runCron runs cron until ctx ends, anew after each Replace: ten thousand
// entries are made and started in some milliseconds, while a cron that runs
// sorts them all for each one that is added. The old one ends when the new one
// counts, so that no slot falls between them.
func (r *Runner) runCron(ctx context.Context) {
	ticks := r.newCron()
	ticks.Start()
	for {
		select {
		case <-ctx.Done():
			<-ticks.Stop().Done()
			return
		case <-r.replaced:
		}
		next := r.newCron()
		next.Start()
		_ = next.Entries() // is answered once it counts
		<-ticks.Stop().Done()
		ticks = next
	}
}

// newCron gives the cron with one entry a target. Its jobs only queue work.
func (r *Runner) newCron() *cron.Cron {
	c := cron.New(cron.WithLocation(time.UTC), cron.WithLogger(cron.DiscardLogger))
	set := r.set.Load()
	for _, t := range slices.Concat(set.menus, set.reasons) {
		c.Schedule(t.schedule, cron.FuncJob(func() { r.tick(t) }))
	}
	return c
}

// tick is what cron calls: it drops the slot into the queue, or skips it while
// the target's last one is unfinished here (policy S1).
func (r *Runner) tick(t *target) {
	if !r.health.isUp() {
		r.skip(t, SkipRedis)
		return
	}
	slot := t.schedule.Last(r.clock())
	if t.targetState.lastTick.Swap(slot.UnixMilli()) == slot.UnixMilli() {
		return // queued by the cron before
	}
	if !r.enqueueScheduled(work{target: t, trigger: runlog.TriggerCron, tick: slot}) {
		r.skip(t, SkipBusy)
	}
}

// enqueueScheduled queues scheduled work; false when the target has some already.
func (r *Runner) enqueueScheduled(w work) bool {
	if !w.target.pending.CompareAndSwap(false, true) {
		return false
	}
	r.queue.push(w)
	return true
}

// work takes from the queue until ctx ends.
func (r *Runner) work(ctx context.Context, g *errgroup.Group) {
	for {
		w, release, ok := r.queue.pop(ctx)
		if !ok || !r.health.wait(ctx) {
			return
		}
		if w.trigger == runlog.TriggerManual {
			r.manual(ctx, g, w)
		} else {
			r.process(ctx, w)
		}
		release()
	}
}

// process does a tick's or catch-up's work, for the target as it is configured
// now, and then lets the next one into the queue.
func (r *Runner) process(ctx context.Context, w work) {
	queued := w.target
	if w.target = r.configured(queued); w.target != nil {
		r.runScheduled(ctx, w)
	}
	queued.pending.Store(false)
	if t := r.configured(queued); t != nil && t.again.Load() {
		r.requeue(t)
	}
}

func (r *Runner) runScheduled(ctx context.Context, w work) {
	if w.tick.IsZero() && !w.changed && r.isFresh(ctx, w.target) {
		return // another instance caught up meanwhile
	}
	_, err := r.execute(ctx, w, r.newRun(w.target, w.trigger))
	if err != nil && !errors.Is(err, errBusy) {
		r.log.WithError(err).WithField("event", "sync.run_deferred").WithField("restaurant", string(w.target.ID)).Debug("no run")
	}
}

// manual does a queued run. While another one holds the lease it goes back
// into the queue after a pause, which costs no worker.
func (r *Runner) manual(ctx context.Context, g *errgroup.Group, w work) {
	// Not Get: this process is the run's holder, even where Redis was away so long
	// that its place in the queue has expired.
	run, err := r.runs.Stored(ctx, w.target.ID, w.runID)
	if err == nil && run.State == runlog.StateQueued {
		_, err = r.execute(ctx, w, run)
	}
	switch {
	case errors.Is(err, errBusy), errors.Is(err, redisdb.ErrUnavailable):
		g.Go(func() error {
			if sleep.For(ctx, retryQueued) == nil {
				r.queue.push(w)
			}
			return nil
		})
	default: // ended, or gone: then nobody waits for long
		if err != nil {
			r.log.WithError(err).WithField("event", "sync.queued_run_failed").WithField("run", w.runID).Debug("queued run not done")
		}
		r.untrack(w.runID)
	}
}

// keepQueued keeps this process's queued runs alive in Redis.
func (r *Runner) keepQueued(ctx context.Context) {
	for sleep.For(ctx, refreshQueued) == nil {
		if err := r.extendQueued(ctx); err != nil {
			r.health.suspect()
		}
	}
}

// catchUp queues whatever is missing or has missed its schedule: at the start,
// and once when Redis has come back (policy S5).
func (r *Runner) catchUp(ctx context.Context, first bool) {
	trigger := runlog.TriggerCron
	if first {
		trigger = runlog.TriggerStartup
	}
	current, err := r.store.Currents(ctx, r.set.Load().catalogued)
	if err != nil {
		r.log.WithError(err).WithField("event", "sync.catch_up_without_state").Debug("current versions not read: everything is synced")
	}
	now := r.clock()
	set := r.set.Load()
	var old []*target
	count := 0
	for _, t := range set.menus {
		version, ok := current[t.ID]
		switch {
		case !ok:
			count++
			r.enqueueScheduled(work{target: t, trigger: trigger, missing: true})
		case version.Behind(), t.schedule.Missed(1, version.CheckedAt, now):
			old = append(old, t)
		}
	}
	for _, t := range append(old, set.reasons...) {
		count++
		r.enqueueScheduled(work{target: t, trigger: trigger})
	}
	r.log.WithField("event", "sync.catch_up").WithField("count", count).Info("syncing what is missing or old")
}

// isFresh tells whether the target has missed no slot.
func (r *Runner) isFresh(ctx context.Context, t *target) bool {
	if t.isReasons {
		_, checked, err := r.store.Reasons(ctx, t.Connection)
		return err == nil && !t.schedule.Missed(1, checked, r.clock())
	}
	version, err := r.store.Current(ctx, t.ID)
	return err == nil && !version.Behind() && !t.schedule.Missed(1, version.CheckedAt, r.clock())
}
