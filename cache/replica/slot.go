package replica

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
)

// slot holds a restaurant's current and pending version.
type slot struct {
	current       atomic.Pointer[currentEntry]
	pending       atomic.Pointer[cache.Version] // known and not loaded yet; nil once current is set
	published     atomic.Pointer[packedView]
	mu            sync.Mutex // one at a time
	brokenContent string     // the content that could not be loaded; guarded by mu
}

// currentEntry is a snapshot with its version's bodies.
type currentEntry struct {
	snapshot *cache.Snapshot
	bodies   *encoded.VersionBodies
}

// slots holds the slots of all restaurants, and the state that changes with them.
type slots struct {
	store   *cache.Store
	all     sync.Map                     // menu.RestaurantID to *slot
	allowed func(menu.RestaurantID) bool // Config.Allowed
	setup   func(menu.RestaurantID) Setup
	bodies  *encoded.Bodies
	misses  misses
	watches watches
}

// change runs fn with the restaurant's slot locked; it makes one if necessary. Then it drops the slot of a restaurant that is not
// allowed. If the restaurant is disallowed later, Drop removes the slot.
func (s *slots) change(restaurant menu.RestaurantID, fn func(*slot)) {
	found, _ := s.all.LoadOrStore(restaurant, &slot{})
	one, _ := found.(*slot)
	one.mu.Lock()
	fn(one)
	one.mu.Unlock()
	if !s.allowed(restaurant) {
		s.drop(restaurant)
	}
}

// setPending sets the pending version of a restaurant without one in memory, unless its content is known to be broken.
func (s *slots) setPending(version cache.Version) {
	s.change(version.Restaurant, func(one *slot) {
		if one.current.Load() == nil && one.brokenContent != version.Content {
			one.pending.Store(&version)
		}
	})
}

// markBroken clears the pending version if its content is missing or corrupt, and reports whether that is new. Connection
// errors leave it pending.
func (s *slots) markBroken(version cache.Version, err error) (first bool) {
	if !errors.Is(err, cache.ErrNoCatalogue) && !errors.Is(err, cache.ErrCorrupt) {
		return false
	}
	s.change(version.Restaurant, func(one *slot) {
		first = one.brokenContent != version.Content
		one.brokenContent = version.Content
		one.pending.Store(nil)
	})
	return first
}

// apply loads a version into memory, unless memory holds it or a higher one.
func (r *Replica) apply(ctx context.Context, version cache.Version) error {
	now := r.slots.current(version.Restaurant)
	if now != nil && !r.slots.supersedes(version, now.snapshot) &&
		(r.slots.isSetUp(now.snapshot) || now.snapshot.Version.Version != version.Version) {
		r.slots.replaceCurrent(version, now.snapshot.Catalogue)
		return nil
	}
	snapshot, err := compile(ctx, r, version)
	if err != nil {
		if r.slots.markBroken(version, err) {
			r.cfg.DataLost([]menu.RestaurantID{version.Restaurant})
		}
		return err
	}
	if len(r.Availability.Of(version.Restaurant)) > 0 {
		snapshot = r.Availability.snooze(snapshot)
	}
	r.slots.replaceCurrent(snapshot.Version, snapshot.Catalogue)
	return nil
}

// Install adds a version that this process has just published, so that it is served
// here immediately. A version lower than the current one is ignored.
func (r *Replica) Install(snapshot *cache.Snapshot) {
	catalogue := snapshot.Catalogue
	if !r.slots.isSetUp(snapshot) { // published with the settings of a newer configuration (policy S9)
		r.noticeQueue.add(snapshot.Restaurant)
		return
	}
	if content := r.contents.contents.intern(r.slots.contentKey(snapshot.Version), catalogue.Content); content != catalogue.Content {
		catalogue = content.WithStops(snapshot.Stops)
	}
	r.slots.replaceCurrent(snapshot.Version, catalogue)
	r.noticeQueue.add(snapshot.Restaurant) // for the view as published
}

// replaces reports whether v is another catalogue than the held one and may replace it: versions never
// go back (policy S2). If Redis lost its data and used a number twice, its version wins. The two then
// differ in content or, if only stop lists changed, in the sync time.
func replaces(v, held cache.Version) bool {
	return v.Version > held.Version || v.Version == held.Version && !v.Same(held)
}

// isNewerCheck reports whether a check may replace another: it is later, or so much
// earlier that the other's clock was wrong.
func isNewerCheck(checked, before time.Time) bool {
	return !checked.Before(before) || before.Sub(checked) > cache.ClockSlack
}

// replaceCurrent puts a version with its catalogue into its slot, unless a later
// one is there. If it is the current version, only the moving fields are updated.
func (s *slots) replaceCurrent(version cache.Version, catalogue *menu.Catalogue) {
	snapshot := &cache.Snapshot{Version: version, Catalogue: catalogue}
	internTexts(snapshot)
	s.change(version.Restaurant, func(one *slot) {
		before := one.current.Load()
		switch {
		case before == nil || s.supersedes(version, before.snapshot) || s.completes(snapshot, before.snapshot):
			if before != nil && s.completes(snapshot, before.snapshot) {
				snapshot.ModifiedAt = before.snapshot.ModifiedAfter(s.misses.clock())
			}
			one.current.Store(&currentEntry{snapshot, &encoded.VersionBodies{}})
			one.pending.Store(nil)
			one.brokenContent = ""
			if before != nil {
				before.bodies.Clear(s.bodies)
			}
			s.misses.forget(version.Restaurant)
			s.watches.onReplaced(before, snapshot)
		case s.store.IsOwn(version) != s.store.IsOwn(before.snapshot.Version):
		case version.Version == before.snapshot.Version.Version && isNewerCheck(version.CheckedAt, before.snapshot.CheckedAt):
			snapshot.Catalogue, snapshot.Stops, snapshot.Served = before.snapshot.Catalogue, before.snapshot.Stops, before.snapshot.Served
			snapshot.Name, snapshot.ModifiedAt = before.snapshot.Name, before.snapshot.ModifiedAt // see compile
			snapshot.Floor = max(version.Floor, before.snapshot.Floor)                            // policy S2a: Redis may have lost it
			one.current.Store(&currentEntry{snapshot, before.bodies})
		}
	})
}

// internTexts lets the snapshot share equal texts with others. In a chain of
// thousands of restaurants most of them are equal.
func internTexts(s *cache.Snapshot) {
	s.Content = unique.Make(s.Content).Value()
	s.LastOutcome = unique.Make(s.LastOutcome).Value()
	s.Published = unique.Make(s.Published).Value()
	s.Stops, s.Served = menu.PublishedStops(s.Catalogue), s.Catalogue.Stops()
}

// Drop removes the catalogues and encoded bodies of restaurants from memory. It does not change Redis.
// Config.Allowed must report false for them before, so that no concurrent load or publish adds them again.
func (r *Replica) Drop(restaurants ...menu.RestaurantID) {
	for _, restaurant := range restaurants {
		r.slots.drop(restaurant)
		r.Availability.all.Delete(restaurant)
	}
}

func (s *slots) drop(restaurant menu.RestaurantID) {
	s.misses.forget(restaurant)
	found, ok := s.all.LoadAndDelete(restaurant)
	if !ok {
		return
	}
	one, _ := found.(*slot)
	one.mu.Lock()
	now := one.current.Swap(nil)
	one.pending.Store(nil)
	view := one.published.Swap(nil)
	one.mu.Unlock()
	if view != nil {
		view.bodies.Clear(s.bodies)
	}
	if now != nil {
		now.bodies.Clear(s.bodies)
	}
}

// bodiesOf returns the bodies of the snapshot's version; nil if it is not current.
func (s *slots) bodiesOf(snap *cache.Snapshot) *encoded.VersionBodies {
	now := s.current(snap.Restaurant)
	if now == nil || now.snapshot.Catalogue != snap.Catalogue {
		return nil
	}
	return now.bodies
}
