package sync

import (
	"container/heap"
	"context"
	"errors"
	stdsync "sync"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sleep"
	"larder.local/sync/runlog"
)

// refreshQueued is the interval at which queued runs are kept alive in Redis.
const refreshQueued = queuedLife / 3

// retryQueued is the pause before a manual run tries again to get a lease.
const retryQueued = 250 * time.Millisecond

// Scheduler calls its Runner: on each restaurant's schedule, for manual runs and
// batches, and to catch up at the start and after Redis was down.
type Scheduler struct {
	*Runner

	replacing stdsync.Mutex // one Replace at a time
	replaced  sleep.Signal  // set until cron uses the current targets
	queue     *queue
	health    *health
	newBatch  sleep.Signal // set when a batch was started here
}

// NewScheduler returns a Scheduler for the Runner. Run starts it.
func NewScheduler(r *Runner) *Scheduler {
	return &Scheduler{
		Runner:   r,
		replaced: sleep.NewSignal(),
		queue:    newQueue(r.deps.Config.Concurrency, r.deps.Connections),
		health:   newHealth(r.deps.Log, r.suspected),
		newBatch: sleep.NewSignal(),
	}
}

// Run syncs until ctx ends. It returns nil when no run is in progress and every lease is released. It owns the ticks
// and all goroutines. Config.Concurrency limits the concurrent runs, but each connection may always have one.
func (s *Scheduler) Run(ctx context.Context) error {
	var group stdsync.WaitGroup
	for _, part := range []func(context.Context){s.runCron, s.watchRedis, s.keepQueued, s.runs.ReceiveNotices, s.runBatches} {
		group.Go(func() { part(ctx) })
	}
	for range s.queue.workers {
		group.Go(func() { s.work(ctx) })
	}
	group.Wait()
	return nil
}

func (s *Scheduler) watchRedis(ctx context.Context) {
	keys := s.deps.Store.Keys()
	s.health.watch(ctx, func(ctx context.Context, doubt bool) error {
		ctx, cancel := context.WithTimeout(ctx, pingLimit)
		defer cancel()
		if !doubt {
			return s.deps.Redis.Probe(ctx)
		}
		err := s.deps.Redis.Probe(ctx, keys.Notices(), keys.RunNotices()) // has larder all rights?
		if menus := s.set.Load().menus; err == nil && len(menus) > 0 {
			err = s.deps.Redis.MayUse(ctx, menus[0].keys.Sync(menus[0].Connection, menus[0].ID)...)
		}
		return err
	}, s.catchUp)
}

// RedisRefusesWrites returns why Redis refused writes at the last probe. It returns
// nil if Redis accepts writes, does not respond, or was not probed yet.
func (s *Scheduler) RedisRefusesWrites() *redisdb.RefusedError {
	refusal, _ := errors.AsType[*redisdb.RefusedError](s.health.lastFault())
	return refusal
}

// RedisDown reports whether Redis did not respond to the last probe.
func (s *Scheduler) RedisDown() bool {
	return s.health.lastFault() != nil && s.RedisRefusesWrites() == nil
}

// maxCronWait limits the time until a step of the system clock is noticed.
const maxCronWait = time.Second

// runCron calls tick at the times of all targets until ctx ends. A tick must not sort or search all targets. After a step
// of the system clock, a tick is at most one interval late (policy S11).
func (s *Scheduler) runCron(ctx context.Context) {
	last := s.deps.Clock().Round(0) // without the monotonic clock, which has no steps
	due := s.ticksAfter(last)
	for {
		replaced, wait := false, maxCronWait
		if len(due) > 0 {
			wait = min(wait, due[0].at.Sub(last))
		}
		select {
		case <-ctx.Done():
			return
		case <-s.replaced:
			replaced = true
		case <-time.After(wait):
		}
		now := s.deps.Clock().Round(0)
		s.startTrials(now)
		for len(due) > 0 && !due[0].at.After(now) {
			first := &due[0]
			if at := first.target.schedule.postponed(first.at, now); !at.IsZero() && !first.postponed {
				first.at, first.postponed = at, true
			} else {
				first.tick(first.target)
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
	tick      func(*Target) // queues its run
	postponed bool          // see Schedule.postponed
}

// ticksAfter returns the first tick of each current target after a time.
func (s *Scheduler) ticksAfter(from time.Time) ticks {
	var due ticks
	add := func(t *Target, tick func(*Target)) {
		if at := t.schedule.Next(from); !at.IsZero() {
			due = append(due, nextTick{at: at, target: t, tick: tick})
		}
	}
	set := s.set.Load()
	for _, t := range set.menus {
		add(t, s.tick)
	}
	for _, t := range set.reasons {
		add(t, s.tickReasons)
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
	if !s.health.isUp() {
		s.deps.Observer.TickSkipped(t.ID, SkipRedis)
	} else if !s.push(t, bySchedule, runlog.TriggerCron, t.schedule.last(s.deps.Clock()), true) {
		s.deps.Observer.TickSkipped(t.ID, SkipBusy)
	}
}

// push queues a scheduled run of a menu. It returns false if the menu has one already. tick is the tick of the schedule; zero
// without one. If the run is not needed for another reason, a menu that has missed no tick is not synced: another instance may
// have synced it meanwhile.
func (s *Scheduler) push(t *Target, p priority, why runlog.Trigger, tick time.Time, needed bool) bool {
	return s.queue.pushScheduled(Work{Target: t, Priority: p, Run: func(ctx context.Context) {
		now := s.set.Load().byID[t.ID] // with its current configuration; nil if it was removed
		if now != nil && (needed || !s.isFresh(ctx, now)) {
			_, err := s.once(ctx, now, s.newRun(now, why, ""), tick, forceNone)
			s.logDeferred(now, err)
		}
		t.pending.Store(false)
		if now = s.set.Load().byID[t.ID]; now != nil && now.again.Load() {
			s.requeue(now)
		}
	}})
}

// work executes queued work until ctx ends.
func (s *Scheduler) work(ctx context.Context) {
	for {
		w, release, ok := s.queue.pop(ctx)
		if !ok || !s.health.wait(ctx) {
			return
		}
		w.Run(ctx)
		release()
	}
}

func (s *Scheduler) logDeferred(t *Target, err error) {
	if err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, errTaken) {
		s.deps.Log.WithError(err).WithField("event", "sync.run_deferred").WithField("restaurant", string(t.ID)).Debug("run not started")
	}
}

// isFresh reports whether the menu has missed no tick.
func (s *Scheduler) isFresh(ctx context.Context, t *Target) bool {
	version, err := t.store.Current(ctx, t.ID)
	return err == nil && t.store.IsOwn(version) && !t.fetchAll.Load() && !version.Behind() &&
		!t.schedule.missed(1, version.CheckedAt, s.deps.Clock())
}

func (s *Scheduler) keepQueued(ctx context.Context) {
	for sleep.For(ctx, refreshQueued) == nil {
		if err := s.flights.extendQueued(ctx, s.redis); err != nil {
			s.health.suspect()
		}
	}
}

// catchUp queues every menu that is missing or has missed its schedule: at the
// start, and after Redis was down (policy S5).
func (s *Scheduler) catchUp(ctx context.Context, first bool) {
	set, now, trigger := s.set.Load(), s.deps.Clock(), runlog.TriggerCron
	if first {
		trigger = runlog.TriggerStartup
		s.noteMovedSources(ctx, set)
	}
	var absent, old []*Target
	err := s.deps.Store.Statuses(ctx, set.catalogued, func(there cache.Version) {
		switch t := set.byID[there.Restaurant]; {
		case there.Version == 0, t.fetchAll.Load():
			absent = append(absent, t)
		case there.Version <= there.Floor, t.schedule.missed(1, there.CheckedAt, now):
			old = append(old, t)
		}
	})
	if err != nil {
		s.deps.Log.WithError(err).WithField("event", "sync.catch_up_without_state").
			Debug("cannot read current versions; syncing every menu")
		absent, old = nil, set.menus
	}
	var recent map[menu.RestaurantID]bool
	if len(absent) > 0 && s.deps.Recent != nil {
		recent = s.deps.Recent(ctx)
	}
	for _, t := range byRecency(absent, recent) {
		s.push(t, withoutMenu, trigger, time.Time{}, false)
	}
	for _, t := range old {
		s.push(t, priorityOf(err != nil), trigger, time.Time{}, false)
	}
	for _, t := range set.reasons {
		s.pushReasons(t, trigger, time.Time{})
	}
	count := len(absent) + len(old) + len(set.reasons)
	s.deps.Log.WithField("event", "sync.catch_up").WithField("count", count).Info("syncing missing and stale menus")
}

// noteMovedSources makes the next fetch of menus unconditional that another source published last (policy O16).
func (s *Scheduler) noteMovedSources(ctx context.Context, set *targetSet) {
	sources, _ := s.deps.Store.PublishedSources(ctx, set.catalogued) // none on an error
	for i, source := range sources {
		if t := set.menus[i]; source != "" && !s.deps.Store.IsOwn(cache.Version{Restaurant: t.ID, Source: source}) {
			t.fetchAll.Store(true)
		}
	}
}
