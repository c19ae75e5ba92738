package replica

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"larder.local/cache"
	"larder.local/internal/hours"
	"larder.local/internal/menu"
)

// endsWithin is how long after its end a restriction may still be shown. Orders know the end at once.
const endsWithin = 500 * time.Millisecond

// availabilityChunk limits how many restaurants a poll reads at a time, because a notice waits for it.
const availabilityChunk = 256

// Availability has what operators have said about restaurants, as last read from Redis. While Redis is down, it stays.
type Availability struct {
	replica *Replica
	all     sync.Map            // menu.RestaurantID to hours.Availability, which never changes
	readAt  atomic.Int64        // when Redis was last read, in milliseconds since the epoch; 0: never
	reading *semaphore.Weighted // so that an older answer never replaces a later one
	queue   *queue              // restaurants with notices

	mu        sync.Mutex // of announced
	announced map[menu.RestaurantID]hours.Availability
}

func newAvailability(r *Replica) *Availability {
	return &Availability{
		replica: r, reading: semaphore.NewWeighted(1), queue: newQueue(), announced: map[menu.RestaurantID]hours.Availability{},
	}
}

// Of returns what operators have said about a restaurant. It reads only memory. The caller must not change the result.
func (a *Availability) Of(restaurant menu.RestaurantID) hours.Availability {
	found, _ := a.all.Load(restaurant)
	said, _ := found.(hours.Availability)
	return said
}

// ReadAt returns when a poll has last read all of it from Redis; zero if it never was read.
func (a *Availability) ReadAt() time.Time {
	if ms := a.readAt.Load(); ms != 0 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}

// Read reads what operators have said about restaurants from Redis. The error is redisdb.ErrUnavailable, or that of ctx.
func (a *Availability) Read(ctx context.Context, restaurants ...menu.RestaurantID) error {
	for part := range slices.Chunk(restaurants, availabilityChunk) {
		if err := a.reading.Acquire(ctx, 1); err != nil {
			return err
		}
		lost := map[menu.RestaurantID]hours.Availability{}
		err := a.replica.store.Availability(ctx, part, func(id menu.RestaurantID, read hours.Availability) {
			for kind, before := range a.Of(id).Holding(a.replica.cfg.Clock()) {
				if _, there := read[kind]; !there { // only data that Redis has lost disappears while it holds
					if lost[id] == nil {
						lost[id] = hours.Availability{}
					}
					read[kind], lost[id][kind] = before, before
				}
			}
			a.all.Store(id, read)
		})
		a.reading.Release(1)
		if err != nil {
			return err
		}
		for id, all := range lost {
			if err := a.replica.store.Restrict(ctx, id, all, nil); err != nil {
				return err
			}
		}
		for _, id := range part {
			a.settle(ctx, id)
		}
	}
	return nil
}

// poll reads all restaurants that have ever had a restriction.
func (a *Availability) poll(ctx context.Context) error {
	began := a.replica.cfg.Clock()
	restricted, err := cache.Restricted(ctx, a.replica.store)
	if err != nil {
		return err
	}
	a.all.Range(func(key, _ any) bool { // also those that Redis has lost
		id, _ := key.(menu.RestaurantID)
		restricted = append(restricted, id)
		return true
	})
	slices.Sort(restricted)
	restricted = slices.DeleteFunc(slices.Compact(restricted), func(id menu.RestaurantID) bool { return !a.replica.cfg.Allowed(id) })
	if err = a.Read(ctx, restricted...); err == nil {
		a.readAt.Store(began.UnixMilli())
	}
	return err
}

// run reads announced availability, and ends restrictions at their time, until ctx ends.
func (a *Availability) run(ctx context.Context) {
	ticker := time.NewTicker(endsWithin)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.queue.wake:
			_ = a.Read(ctx, a.queue.pop(noticesAtATime)...) // if it fails, the poll reads again
		case <-ticker.C:
			a.all.Range(func(key, _ any) bool {
				id, _ := key.(menu.RestaurantID)
				a.settle(ctx, id)
				return ctx.Err() == nil
			})
		}
	}
}

// settle compiles the menu in memory again if other dishes are snoozed now, and notifies the watches if something has changed.
// An error can occur only if Redis is needed; the next call tries again.
func (a *Availability) settle(ctx context.Context, id menu.RestaurantID) {
	if now := a.replica.slots.current(id); now != nil && !a.replica.slots.isSetUp(now.snapshot) {
		_ = a.replica.apply(ctx, now.snapshot.Version)
	}
	holding := a.Of(id).Holding(a.replica.cfg.Clock())
	a.mu.Lock()
	changed := !maps.Equal(holding, a.announced[id])
	if changed {
		a.announced[id] = holding
	}
	a.mu.Unlock()
	if changed {
		a.replica.slots.watches.onAvailability(id)
	}
}

// snooze returns a snapshot with what is snoozed now. It was modified when that changed.
func (a *Availability) snooze(s *cache.Snapshot) *cache.Snapshot {
	all, now := a.Of(s.Restaurant), a.replica.cfg.Clock()
	if since := all.SnoozedSince(now); since.After(s.ModifiedAt) {
		s.ModifiedAt = s.ModifiedAfter(since)
	}
	s.Catalogue = menu.WithSnoozed(s.Catalogue.Content, s.Stops, all.Snoozed(now))
	return s
}
