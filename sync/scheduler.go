package sync

import (
	"context"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	"golang.org/x/sync/errgroup"

	"larder/internal/sleep"
	"larder/sync/runlog"
)

// refreshQueued is the interval at which queued runs are kept alive in Redis.
const refreshQueued = queuedLife / 3

// Scheduler calls a Runner: on each restaurant's schedule, for manual runs and
// batches, and to catch up at the start and after Redis was down.
type Scheduler struct{ runner *Runner }

// NewScheduler returns a Scheduler for the Runner. Run starts it.
func NewScheduler(r *Runner) *Scheduler { return &Scheduler{runner: r} }

// Run syncs until ctx ends. It returns nil when no run is in progress and every lease is released. It
// owns the cron entries and all goroutines. Config.Concurrency limits the concurrent runs, but each
// connection may always have one.
func (s *Scheduler) Run(ctx context.Context) error {
	r := s.runner
	g, ctx := errgroup.WithContext(ctx)
	watch := func(ctx context.Context) {
		r.health.watch(ctx, func(ctx context.Context, doubt bool) error {
			if !doubt {
				return r.server.Probe(ctx)
			}
			return r.server.Probe(ctx, r.keys.Notices(), r.keys.RunNotices()) // may larder publish as well?
		}, s.catchUp)
	}
	for _, part := range []func(context.Context){s.runCron, watch, s.keepQueued, r.runs.ReceiveNotices, s.runBatches} {
		g.Go(func() error { part(ctx); return nil })
	}
	for range r.queue.workers {
		g.Go(func() error { s.work(ctx, g); return nil })
	}
	return g.Wait()
}

// runCron runs cron until ctx ends. Each Replace starts a new cron, because a running one sorts all its entries
// for each added entry. The old cron stops after the new one has started, so that no tick is lost.
func (s *Scheduler) runCron(ctx context.Context) {
	ticks := s.newCron()
	ticks.Start()
	for {
		select {
		case <-ctx.Done():
			<-ticks.Stop().Done()
			return
		case <-s.runner.replaced:
		}
		next := s.newCron()
		next.Start()
		_ = next.Entries() // returns once the new cron runs
		<-ticks.Stop().Done()
		ticks = next
	}
}

// newCron returns a cron with one entry for each target. Its jobs only queue work.
func (s *Scheduler) newCron() *cron.Cron {
	c := cron.New(cron.WithLocation(time.UTC), cron.WithLogger(cron.DiscardLogger))
	set := s.runner.set.Load()
	for _, t := range slices.Concat(set.menus, set.reasons) {
		c.Schedule(t.schedule, cron.FuncJob(func() { s.tick(t) }))
	}
	return c
}

// tick queues a run, or skips it while the target's last one is unfinished here (policy S1).
func (s *Scheduler) tick(t *Target) {
	r := s.runner
	if !r.health.isUp() {
		r.skip(t, SkipRedis)
		return
	}
	slot := t.schedule.last(r.clock())
	if t.targetState.lastTick.Swap(slot.UnixMilli()) == slot.UnixMilli() {
		return // queued by the old cron
	}
	if !r.queue.pushScheduled(Work{Target: t, Trigger: runlog.TriggerCron, tick: slot}) {
		r.skip(t, SkipBusy)
	}
}

func (s *Scheduler) keepQueued(ctx context.Context) {
	for sleep.For(ctx, refreshQueued) == nil {
		if err := s.runner.flights.extendQueued(ctx, s.runner); err != nil {
			s.runner.health.suspect()
		}
	}
}

// catchUp queues every menu that is missing or has missed its schedule: at the
// start, and after Redis was down (policy S5).
func (s *Scheduler) catchUp(ctx context.Context, first bool) {
	r := s.runner
	trigger := runlog.TriggerCron
	if first {
		trigger = runlog.TriggerStartup
	}
	current, err := r.store.CurrentVersions(ctx, r.set.Load().catalogued)
	if err != nil {
		r.log.WithError(err).WithField("event", "sync.catch_up_without_state").Debug("cannot read current versions; syncing every menu")
	}
	now := r.clock()
	set := r.set.Load()
	var old []*Target
	count := 0
	for _, t := range set.menus {
		version, ok := current[t.ID]
		switch {
		case !ok:
			count++
			r.queue.pushScheduled(Work{Target: t, Trigger: trigger, missing: true})
		case version.Behind(), t.schedule.missed(1, version.CheckedAt, now):
			old = append(old, t)
		}
	}
	for _, t := range append(old, set.reasons...) {
		count++
		r.queue.pushScheduled(Work{Target: t, Trigger: trigger})
	}
	r.log.WithField("event", "sync.catch_up").WithField("count", count).Info("syncing missing and stale menus")
}
