package sync

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/cache"
	"larder/internal/menu"
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

// Run syncs until ctx ends. It returns nil when no run is in progress and every lease is released. It owns the ticks
// and all goroutines. Config.Concurrency limits the concurrent runs, but each connection may always have one.
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

// maxCronWait limits the time until a step of the system clock is noticed.
const maxCronWait = time.Second

// runCron calls tick at the times of all targets until ctx ends. A tick must not sort or search all targets. After a step
// of the system clock, a tick is at most one interval late (policy S11).
func (s *Scheduler) runCron(ctx context.Context) {
	last := s.runner.clock().Round(0) // without the monotonic clock, which has no steps
	due := s.ticksAfter(last)
	for {
		replaced, wait := false, maxCronWait
		if len(due) > 0 {
			wait = min(wait, due[0].at.Sub(last))
		}
		select {
		case <-ctx.Done():
			return
		case <-s.runner.replaced:
			replaced = true
		case <-time.After(wait):
		}
		now := s.runner.clock().Round(0)
		s.startTrials(now)
		for len(due) > 0 && !due[0].at.After(now) {
			first := &due[0]
			if at := first.target.schedule.postponed(first.at, now); !at.IsZero() && !first.postponed {
				first.at, first.postponed = at, true
			} else {
				s.tick(first.target)
				first.at, first.postponed = first.target.schedule.Next(now), false
			}
			if first.at.IsZero() {
				heap.Pop(&due)
			} else {
				heap.Fix(&due, 0)
			}
		}
		if replaced || now.Before(last) { // after the old ticks, so that none is lost or repeated
			due = s.ticksAfter(now)
		}
		last = now
	}
}

// ticks is a heap of the next ticks of targets.
type ticks []nextTick

type nextTick struct {
	at        time.Time
	target    *Target
	postponed bool // see Schedule.postponed
}

// ticksAfter returns the first tick of each current target after a time.
func (s *Scheduler) ticksAfter(from time.Time) ticks {
	var due ticks
	set := s.runner.set.Load()
	for _, t := range slices.Concat(set.menus, set.reasons) {
		if at := t.schedule.Next(from); !at.IsZero() {
			due = append(due, nextTick{at: at, target: t})
		}
	}
	heap.Init(&due)
	return due
}

func (d ticks) Len() int           { return len(d) }
func (d ticks) Less(i, k int) bool { return d[i].at.Before(d[k].at) }
func (d ticks) Swap(i, k int)      { d[i], d[k] = d[k], d[i] }

func (d *ticks) Push(any) {} // not needed
func (d *ticks) Pop() any { *d = (*d)[:len(*d)-1]; return nil }

// tick queues a run, or skips it while the target's last one is unfinished here (policy S1).
func (s *Scheduler) tick(t *Target) {
	r := s.runner
	if !r.health.isUp() {
		r.skip(t, SkipRedis)
	} else if !r.queue.pushScheduled(Work{Target: t, Trigger: runlog.TriggerCron, tick: t.schedule.last(r.clock())}) {
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
	set, now, trigger := r.set.Load(), r.clock(), runlog.TriggerCron
	var moved map[menu.RestaurantID]bool
	if first {
		trigger, moved = runlog.TriggerStartup, r.movedSources(ctx, set)
	}
	push := func(t *Target, missing bool) {
		r.queue.pushScheduled(Work{Target: t, Trigger: trigger, missing: missing})
	}
	var absent, old []*Target
	err := r.store.Statuses(ctx, set.catalogued, func(id menu.RestaurantID, there cache.Status) {
		switch t := set.byID[id]; {
		case there.Version == 0, moved[id]:
			absent = append(absent, t)
		case there.Version <= there.Floor, t.schedule.missed(1, there.CheckedAt, now):
			old = append(old, t)
		}
	})
	if err != nil {
		r.log.WithError(err).WithField("event", "sync.catch_up_without_state").Debug("cannot read current versions; syncing every menu")
		absent, old = nil, set.menus
	}
	var recent map[menu.RestaurantID]bool
	if len(absent) > 0 {
		recent = r.recent(ctx)
	}
	for _, t := range byRecency(absent, recent) {
		push(t, true)
	}
	for _, t := range slices.Concat(old, set.reasons) {
		push(t, err != nil && !t.isReasons)
	}
	count := len(absent) + len(old) + len(set.reasons)
	r.log.WithField("event", "sync.catch_up").WithField("count", count).Info("syncing missing and stale menus")
}

// movedSources returns the menus that another source published last. Their next fetch is unconditional (policy O16).
func (r *Runner) movedSources(ctx context.Context, set *targetSet) map[menu.RestaurantID]bool {
	sources, err := r.store.PublishedSources(ctx, set.catalogued)
	if err != nil {
		return nil
	}
	moved := map[menu.RestaurantID]bool{}
	for i, source := range sources {
		if t := set.menus[i]; source != "" && !r.store.IsOwn(cache.Version{Restaurant: t.ID, Source: source}) {
			moved[t.ID] = true
			t.fetchAll.Store(true)
		}
	}
	return moved
}
