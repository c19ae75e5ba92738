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

// refreshQueued is how often queued runs are kept alive in Redis.
const refreshQueued = queuedLife / 3

// Scheduler calls a Runner: on each restaurant's schedule, for manual runs and
// batches, and to catch up at the start and when Redis has been away.
type Scheduler struct{ runner *Runner }

// NewScheduler returns a Scheduler for the Runner. It starts nothing; Run does.
func NewScheduler(r *Runner) *Scheduler { return &Scheduler{runner: r} }

// Run keeps everything fresh until ctx ends, and returns nil when no run is in flight
// and every lease is released. It owns the cron entries and all goroutines.
// Config.Concurrency bounds the runs at one time, but each connection may have one.
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

// runCron runs cron until ctx ends. Each Replace starts a new cron, because a running
// one sorts all its entries for each entry that is added. The old cron stops once the
// new one counts, so that no slot is lost.
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
		_ = next.Entries() // is answered once it counts
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

// tick queues a slot, or skips it while the target's last one is unfinished here (policy S1).
func (s *Scheduler) tick(t *Target) {
	r := s.runner
	if !r.health.isUp() {
		r.skip(t, SkipRedis)
		return
	}
	slot := t.schedule.Last(r.clock())
	if t.targetState.lastTick.Swap(slot.UnixMilli()) == slot.UnixMilli() {
		return // queued by the cron before
	}
	if !r.queue.pushScheduled(Work{Target: t, Trigger: runlog.TriggerCron, tick: slot}) {
		r.skip(t, SkipBusy)
	}
}

// keepQueued keeps this process's queued runs alive in Redis.
func (s *Scheduler) keepQueued(ctx context.Context) {
	for sleep.For(ctx, refreshQueued) == nil {
		if err := s.runner.flights.extendQueued(ctx, s.runner); err != nil {
			s.runner.health.suspect()
		}
	}
}

// catchUp queues whatever is missing or has missed its schedule: at the start,
// and once when Redis has come back (policy S5).
func (s *Scheduler) catchUp(ctx context.Context, first bool) {
	r := s.runner
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
	var old []*Target
	count := 0
	for _, t := range set.menus {
		version, ok := current[t.ID]
		switch {
		case !ok:
			count++
			r.queue.pushScheduled(Work{Target: t, Trigger: trigger, missing: true})
		case version.Behind(), t.schedule.Missed(1, version.CheckedAt, now):
			old = append(old, t)
		}
	}
	for _, t := range append(old, set.reasons...) {
		count++
		r.queue.pushScheduled(Work{Target: t, Trigger: trigger})
	}
	r.log.WithField("event", "sync.catch_up").WithField("count", count).Info("syncing what is missing or old")
}
