package replica

import (
	"context"
	"errors"
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

const (
	// endsWithin is how long after its end a restriction may still be shown. Orders know the end at once.
	endsWithin = 500 * time.Millisecond
	// availabilityChunk limits how many restaurants are read at a time, because a notice waits for it.
	availabilityChunk = 64
)

// Availability has what operators have said about restaurants, as last read from Redis. While Redis is down, it stays.
type Availability struct {
	replica *Replica
	all     sync.Map            // menu.RestaurantID to *restricted, for those with restrictions
	readAt  atomic.Int64        // when the last poll of all restaurants began, in milliseconds since the epoch; 0: never
	reading *semaphore.Weighted // so that an older answer never replaces a later one
	queue   *queue              // restaurants with notices
}

// restricted is a restaurant with restrictions.
type restricted struct {
	state   atomic.Pointer[heldState]
	settled atomic.Pointer[heldState] // the state that memory shows and streams know
}

// heldState is what holds from one time until another. It never changes.
type heldState struct {
	all, holding hours.Availability
	snoozed      map[string]time.Time
	from, until  time.Time // until is zero if nothing ends
}

func newState(all hours.Availability, now time.Time) *heldState {
	s := &heldState{all: all, holding: all.Holding(now), snoozed: all.Snoozed(now), from: now}
	for _, r := range s.holding {
		if !r.Until.IsZero() && (s.until.IsZero() || r.Until.Before(s.until)) {
			s.until = r.Until
		}
	}
	return s
}

func newAvailability(r *Replica) *Availability {
	return &Availability{replica: r, reading: semaphore.NewWeighted(1), queue: newQueue()}
}

// now returns what holds now; its fields are empty if nobody has said anything.
func (a *Availability) now(restaurant menu.RestaurantID) *heldState {
	found, _ := a.all.Load(restaurant)
	one, ok := found.(*restricted)
	if !ok {
		return &heldState{}
	}
	now, state := a.replica.cfg.Clock(), one.state.Load()
	if now.Before(state.from) || !state.until.IsZero() && !now.Before(state.until) { // or the clock was set back
		next := newState(state.all, now)
		if one.state.CompareAndSwap(state, next) {
			return next
		}
		return one.state.Load()
	}
	return state
}

// Of returns what operators have said about a restaurant. It reads only memory. The caller must not change the result.
func (a *Availability) Of(restaurant menu.RestaurantID) hours.Availability {
	return a.now(restaurant).all
}

// ReadAt returns when the last complete poll began; zero if there was none.
func (a *Availability) ReadAt() time.Time {
	if ms := a.readAt.Load(); ms != 0 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}

// Read reads what operators have said about restaurants from Redis. What Redis has lost it gets back. Errors:
// redisdb.ErrUnavailable, that of ctx.
func (a *Availability) Read(ctx context.Context, restaurants ...menu.RestaurantID) error {
	var faults []error
	for part := range slices.Chunk(restaurants, availabilityChunk) {
		if err := a.reading.Acquire(ctx, 1); err != nil {
			return err
		}
		lost, old := map[menu.RestaurantID]hours.Availability{}, map[menu.RestaurantID]hours.Availability{}
		err := a.replica.store.Availability(ctx, part, func(id menu.RestaurantID, read hours.Availability) {
			now := a.replica.cfg.Clock()
			lost[id] = read.Newer(a.Of(id), now)
			maps.Copy(read, lost[id])
			old[id] = read.Forgotten(now)
			maps.DeleteFunc(read, func(kind hours.Kind, _ hours.Restriction) bool { _, ended := old[id][kind]; return ended })
			a.store(id, read)
		})
		a.reading.Release(1)
		if err != nil {
			return err
		}
		for _, id := range part {
			if len(lost[id])+len(old[id]) > 0 {
				faults = append(faults, a.replica.store.Restrict(ctx, id, lost[id], old[id]))
			}
			a.settle(ctx, id)
		}
	}
	return errors.Join(faults...)
}

// store keeps what was read. The state is the same one if nothing has changed.
func (a *Availability) store(id menu.RestaurantID, read hours.Availability) {
	found, known := a.all.Load(id)
	switch one, _ := found.(*restricted); {
	case !a.replica.cfg.Allowed(id) || len(read) == 0 && !known:
		a.all.Delete(id)
	case !known:
		one = &restricted{}
		one.state.Store(newState(read, a.replica.cfg.Clock()))
		a.all.Store(id, one)
	case !maps.Equal(one.state.Load().all, read):
		one.state.Store(newState(read, a.replica.cfg.Clock()))
	}
}

// poll reads the availability of restaurants.
func (a *Availability) poll(ctx context.Context, restaurants []menu.RestaurantID) error {
	began := a.replica.cfg.Clock()
	err := a.Read(ctx, restaurants...)
	if err == nil {
		a.readAt.Store(began.UnixMilli())
	}
	return err
}

// runEnds ends restrictions at their time, until ctx ends.
func (a *Availability) runEnds(ctx context.Context) {
	ticks := time.Tick(endsWithin)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
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
	found, _ := a.all.Load(id)
	one, ok := found.(*restricted)
	if !ok {
		return
	}
	state, before := a.now(id), one.settled.Load()
	if now := a.replica.slots.current(id); now != nil && !a.replica.slots.isSetUp(now.snapshot) {
		if a.replica.apply(ctx, now.snapshot.Version) != nil {
			return
		}
	}
	if state != before && one.settled.CompareAndSwap(before, state) && (before == nil || !maps.Equal(before.holding, state.holding)) {
		a.replica.slots.watches.onAvailability(id)
	}
}

// snooze returns a snapshot with what is snoozed now. It was modified when that changed.
func (a *Availability) snooze(s *cache.Snapshot) *cache.Snapshot {
	state := a.now(s.Restaurant)
	if since := state.all.SnoozedSince(a.replica.cfg.Clock()); since.After(s.ModifiedAt) {
		s.ModifiedAt = s.ModifiedAfter(since)
	}
	s.Catalogue = menu.WithSnoozed(s.Catalogue.Content, s.Catalogue.Stops(), state.snoozed)
	return s
}
