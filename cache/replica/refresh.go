package replica

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sleep"
)

const (
	// maxFaults limits the restaurants in the error of a refresh.
	maxFaults = 5
	// maxYield limits how long background work waits for readers; yieldInterval is how often it checks.
	maxYield      = 25 * time.Millisecond
	yieldInterval = time.Millisecond
	// pollShare limits polls to a share of the time, unless the pause would be longer than maxPause.
	pollShare = 20
	maxPause  = time.Minute
)

// Run keeps memory at the current versions until ctx ends: immediately after a notice, and by polls in
// case a notice was lost. At first it reads the current versions from Redis, then it loads their contents. A
// read that comes earlier loads its content immediately. While Redis is down, Run retries with growing
// pauses and memory serves reads. It returns when its goroutines have ended.
func (r *Replica) Run(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() { r.runSubscriber(ctx) })
	group.Go(func() { r.runPoller(ctx) })
	group.Go(func() { r.Availability.queue.run(ctx, r.Availability.Read) })
	group.Go(func() { r.Availability.runEnds(ctx) })
	for range noticeWorkers {
		group.Go(func() { r.noticeQueue.run(ctx, r.refresh) })
	}
	group.Wait()
	return nil
}

// Poll reads what operators have said about restaurants, compares the version of every restaurant with Redis and loads newer
// ones, and then rejection reasons. If a content cannot be loaded, its restaurants keep their version. Errors:
// redisdb.ErrUnavailable, cache.ErrNoCatalogue, cache.ErrCorrupt.
func (r *Replica) Poll(ctx context.Context) error {
	wanted := r.wantedRestaurants()
	err := errors.Join(r.Availability.poll(ctx, wanted), r.refresh(ctx, wanted...), r.pollReasons(ctx))
	logForeign(r, wanted)
	return err
}

func (r *Replica) wantedRestaurants() []menu.RestaurantID {
	ids := append([]menu.RestaurantID(nil), r.cfg.Restaurants()...)
	seen := make(map[menu.RestaurantID]bool, len(ids))
	for _, id := range ids {
		seen[id] = true
	}
	r.slots.all.Range(func(key, _ any) bool {
		if id, ok := key.(menu.RestaurantID); ok && !seen[id] {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// refresh updates the restaurants to their versions in Redis: it compares them,
// sets all newer ones as pending, and then loads them.
func (r *Replica) refresh(ctx context.Context, restaurants ...menu.RestaurantID) error {
	behind, err := r.compare(ctx, restaurants)
	if err != nil {
		return err
	}
	versions, broken, err := r.learn(ctx, behind)
	if err != nil {
		return err
	}
	failed, err := r.applyAll(ctx, versions)
	if err != nil {
		return err
	}
	if err := r.keepViews(ctx, restaurants); err != nil {
		return err
	}
	broken = append(broken, failed...)
	if more := len(broken) - maxFaults; more > 0 {
		broken = append(broken[:maxFaults], fmt.Errorf("%d more", more))
	}
	return errors.Join(broken...)
}

// compare returns the restaurants whose version is not in memory, or differs from Redis. For the others
// it copies the moving fields. It raises the floors of versions that Redis has lost.
func (r *Replica) compare(ctx context.Context, restaurants []menu.RestaurantID) (behind []menu.RestaurantID, err error) {
	var held []menu.RestaurantID
	var lost []*cache.Snapshot
	for _, id := range restaurants {
		if now := r.slots.current(id); now == nil || cache.IsElsewhere(r.store, now.snapshot.Version) {
			behind = append(behind, id)
		} else {
			held = append(held, id)
		}
	}
	err = r.store.Statuses(ctx, held, func(there cache.Version) {
		id := there.Restaurant
		now := r.slots.current(id)
		if now == nil || cache.IsElsewhere(r.store, now.snapshot.Version) {
			return // dropped meanwhile, or the configuration has changed
		}
		here := now.snapshot
		if here.Version.Lost(there) {
			lost = append(lost, here) // memory keeps serving it
		}
		switch {
		case there.Version < here.Version.Version:
			if there.Floor != here.Floor {
				version := here.Version
				version.Floor = there.Floor
				r.slots.replaceCurrent(version, here.Catalogue)
			}
		case replaces(there, here.Version),
			there.Version == here.Version.Version && !r.slots.isSetUp(here):
			behind = append(behind, id)
		case there.Version == here.Version.Version && statusDiffers(here.Version, there):
			r.slots.replaceCurrent(here.Version.With(there), here.Catalogue)
		}
	})
	if err != nil {
		return nil, err
	}
	return behind, r.raiseFloors(ctx, lost)
}

// raiseFloors raises the floors of versions in memory that Redis has lost, in memory too, and requests a sync of them.
func (r *Replica) raiseFloors(ctx context.Context, lost []*cache.Snapshot) error {
	versions := make([]cache.Version, len(lost))
	for i, snapshot := range lost {
		versions[i] = snapshot.Version
	}
	floors, raised, err := r.store.RaiseFloor(ctx, versions...)
	if err != nil {
		return err
	}
	var mine []menu.RestaurantID
	for i, version := range versions {
		if floors[i] != version.Floor {
			version.Floor = floors[i]
			r.slots.replaceCurrent(version, lost[i].Catalogue)
		}
		if raised[i] {
			mine = append(mine, version.Restaurant)
		}
	}
	if len(mine) > 0 {
		r.cfg.Log.WithField("event", "replica.data_lost_in_redis").WithField("count", len(mine)).WithField("restaurant", string(mine[0])).
			Warn("Redis has lost menus that this instance serves; they are stale until they are synced again")
		r.cfg.DataLost(mine)
	}
	return nil
}

// learn reads the versions of restaurants that are behind and sets each as pending.
// broken has the errors of unreadable records.
func (r *Replica) learn(ctx context.Context, behind []menu.RestaurantID) (versions []cache.Version, broken []error, err error) {
	founds, err := r.store.Find(ctx, behind)
	if err != nil {
		return nil, nil, err
	}
	versions = make([]cache.Version, 0, len(founds))
	for _, id := range behind {
		switch found := founds[id]; {
		case found.Err == nil:
			r.slots.setPending(found.Version)
			versions = append(versions, found.Version)
		case !errors.Is(found.Err, cache.ErrNoCatalogue):
			broken = append(broken, found.Err)
		}
	}
	return versions, broken, nil
}

// applyAll loads versions into memory, one content at a time, and leaves a CPU core to readers. failed
// has the errors of single versions. If Redis stops responding, applyAll returns an error.
func (r *Replica) applyAll(ctx context.Context, versions []cache.Version) (failed []error, err error) {
	sharing := make(map[string][]*cache.Version) // by content
	for i := range versions {
		sharing[versions[i].Content] = append(sharing[versions[i].Content], &versions[i])
	}
	var mu sync.Mutex // of failed
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, runtime.GOMAXPROCS(0)-1))
	for _, same := range sharing {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			if r.slots.current(same[0].Restaurant) == nil { // no reader has requested it
				r.readers.yieldToRequests(ctx)
			}
			for _, version := range same {
				err := r.apply(ctx, *version)
				if errors.Is(err, redisdb.ErrUnavailable) {
					return err
				}
				if err != nil {
					mu.Lock()
					failed = append(failed, fmt.Errorf("%s: version %d: %w", version.Restaurant, version.Version, err))
					mu.Unlock()
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return failed, err
}

// statusDiffers reports whether a moving field of the version in memory differs.
func statusDiffers(held, there cache.Version) bool {
	moved := held.With(there)
	return !moved.CheckedAt.Equal(held.CheckedAt) || moved.LastOutcome != held.LastOutcome || moved.Hold != held.Hold ||
		moved.Published != held.Published || moved.Floor != held.Floor
}

// runPoller polls at the start, at intervals, and when notices may have been lost. The interval is longer than
// Config.Poll if a poll takes long, because it has tens of thousands of restaurants.
func (r *Replica) runPoller(ctx context.Context) {
	ticker := time.NewTicker(r.cfg.Poll)
	defer ticker.Stop()
	r.pollNow.Set()
	var last error
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-r.pollNow:
		}
		began := time.Now()
		err := r.Poll(ctx)
		if err == nil && !first { // the first one loads everything
			ticker.Reset(max(r.cfg.Poll, min(pollShare*time.Since(began), maxPause)))
		}
		r.logChange(ctx, err, last)
		last = err
	}
}

func (r *Replica) logChange(ctx context.Context, err, last error) {
	switch {
	case ctx.Err() != nil:
	case err != nil && last == nil:
		r.cfg.Log.WithError(err).WithField("event", "replica.refresh_failed").Warn("catalogues cannot be refreshed; menus are served from memory")
	case err == nil && last != nil:
		r.cfg.Log.WithField("event", "replica.refresh_recovered").Info("catalogues are refreshed again")
	}
}

// readers counts the readers that wait for a load or an encoding, so that
// background work does not take the CPU cores from them.
type readers struct{ waiting atomic.Int32 }

// enter counts a reader until leave is called.
func (r *readers) enter() (leave func()) {
	r.waiting.Add(1)
	return func() { r.waiting.Add(-1) }
}

// yieldToRequests waits until no reader waits, at most maxYield or until ctx ends.
func (r *readers) yieldToRequests(ctx context.Context) {
	for range maxYield / yieldInterval {
		if r.waiting.Load() == 0 || sleep.For(ctx, yieldInterval) != nil {
			return
		}
	}
}
