package replica

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"larder/cache"
	"larder/cache/encoded"
	"larder/internal/menu"
)

// slot is where a restaurant's current version is found.
type slot struct {
	current       atomic.Pointer[currentEntry]
	pending       atomic.Pointer[cache.Version] // known and not loaded yet; nil once current is set
	published     atomic.Pointer[packedView]
	mu            sync.Mutex // one at a time
	brokenContent string     // the content that could not be loaded; guarded by mu
}

// currentEntry is a snapshot with the list of its version's bodies.
type currentEntry struct {
	snapshot *cache.Snapshot
	bodies   *encoded.VersionBodies
}

// slots are those of all restaurants, and what is kept in step with them.
type slots struct {
	all     sync.Map                     // menu.RestaurantID to *slot
	allowed func(menu.RestaurantID) bool // Config.Allowed
	bodies  *encoded.Bodies
	misses  misses
	watches watches
}

// findOrMake returns the restaurant's slot and makes it where it has none.
func (s *slots) findOrMake(restaurant menu.RestaurantID) *slot {
	if one := s.find(restaurant); one != nil {
		return one
	}
	found, _ := s.all.LoadOrStore(restaurant, &slot{})
	one, _ := found.(*slot)
	return one
}

// change runs fn with the restaurant's slot locked. A restaurant that is no longer
// kept then loses the slot again: either this call sees that, or Drop comes later.
func (s *slots) change(restaurant menu.RestaurantID, fn func(*slot)) {
	one := s.findOrMake(restaurant)
	one.mu.Lock()
	fn(one)
	one.mu.Unlock()
	s.dropIfNotAllowed(restaurant)
}

// setPending notes a version of a restaurant of which memory holds none, unless
// its content is known to be broken.
func (s *slots) setPending(version cache.Version) {
	s.change(version.Restaurant, func(one *slot) {
		if one.current.Load() == nil && one.brokenContent != version.Content {
			one.pending.Store(&version)
		}
	})
}

// markBroken drops the pending version whose content turned out to be lost or
// unreadable. If Redis does not answer, the content is not known to be broken.
func (s *slots) markBroken(version cache.Version, err error) {
	if !errors.Is(err, cache.ErrNoCatalogue) && !errors.Is(err, cache.ErrCorrupt) {
		return
	}
	s.change(version.Restaurant, func(one *slot) {
		one.brokenContent = version.Content
		one.pending.Store(nil)
	})
}

// apply brings a version that Redis holds into memory, unless memory holds it
// already or a higher one.
func (r *Replica) apply(ctx context.Context, version cache.Version) error {
	now := r.slots.current(version.Restaurant)
	if now != nil && !replaces(version, now.snapshot.Version) {
		r.slots.replaceCurrent(version, now.snapshot.Catalogue)
		return nil
	}
	content, err := r.contents.content(ctx, version.Content)
	if err != nil {
		r.slots.markBroken(version, err)
		return err
	}
	r.slots.replaceCurrent(version, content.Catalogue(version.Stops))
	return nil
}

// Install hands over a version that was just published by this process, so that
// it is served here at once. A lower version than the one held is ignored.
func (r *Replica) Install(snapshot *cache.Snapshot) {
	if snapshot == nil || snapshot.Catalogue == nil {
		return
	}
	catalogue := snapshot.Catalogue
	if content := r.contents.intern(snapshot.Content, catalogue.Content); content != catalogue.Content {
		catalogue = content.Catalogue(snapshot.Stops)
	}
	r.slots.replaceCurrent(snapshot.Version, catalogue)
	r.noticeQueue.add(snapshot.Restaurant) // for the view as published
}

// replaces reports whether v is another catalogue than the one held, and may
// take its place: versions never go back (policy S2). If a number was used twice
// because Redis lost its data, Redis decides: the two differ in content or, if
// only the stop lists changed, in the time of the pull.
func replaces(v, held cache.Version) bool {
	return v.Version > held.Version ||
		v.Version == held.Version && (v.Content != held.Content || !v.SyncedAt.Equal(held.SyncedAt))
}

// isNewerCheck tells whether a check may take the place of another: a later one, or
// one so much earlier that the other's clock was wrong.
func isNewerCheck(checked, before time.Time) bool {
	return !checked.Before(before) || before.Sub(checked) > cache.ClockSlack
}

// replaceCurrent puts a version with its catalogue into its slot unless a later one
// is there. Of the version that is there already, only the moving fields are taken.
func (s *slots) replaceCurrent(version cache.Version, catalogue *menu.Catalogue) {
	snapshot := &cache.Snapshot{Version: version, Catalogue: catalogue}
	internTexts(snapshot)
	s.change(version.Restaurant, func(one *slot) {
		before := one.current.Load()
		switch {
		case before == nil || replaces(version, before.snapshot.Version):
			one.current.Store(&currentEntry{snapshot, &encoded.VersionBodies{}})
			one.pending.Store(nil)
			one.brokenContent = ""
			if before != nil {
				before.bodies.Clear(s.bodies)
			}
			s.misses.forget(version.Restaurant)
			s.watches.onReplaced(before, snapshot)
		case version.Version == before.snapshot.Version.Version && isNewerCheck(version.CheckedAt, before.snapshot.CheckedAt):
			snapshot.Catalogue = before.snapshot.Catalogue
			snapshot.Floor = max(version.Floor, before.snapshot.Floor) // policy S2a: Redis may have lost it
			one.current.Store(&currentEntry{snapshot, before.bodies})
			if version.Published != before.snapshot.Published {
				before.bodies.DropPublished(s.bodies, version.Published)
			}
		}
	})
}

// internTexts lets the snapshot share texts with others: in a chain most of them
// are the same, and there may be thousands of restaurants.
func internTexts(s *cache.Snapshot) {
	s.Content = unique.Make(s.Content).Value()
	s.LastOutcome = unique.Make(s.LastOutcome).Value()
	s.Published = unique.Make(s.Published).Value()
	s.Stops = s.Catalogue.Stops()
}

// Drop removes restaurants that are no longer kept from memory: their catalogues
// and encoded bodies. Redis is not touched. Config.Allowed must report false for
// them before; then nothing brings them back, whatever is being loaded or published.
func (r *Replica) Drop(restaurants ...menu.RestaurantID) {
	for _, restaurant := range restaurants {
		r.slots.drop(restaurant)
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
	one.published.Store(nil)
	one.mu.Unlock()
	if now != nil {
		now.bodies.Clear(s.bodies)
	}
}

// dropIfNotAllowed is called after a slot was filled or made.
func (s *slots) dropIfNotAllowed(restaurant menu.RestaurantID) {
	if !s.allowed(restaurant) {
		s.drop(restaurant)
	}
}

// bodiesOf returns the list of the bodies of the snapshot's version, nil if the
// version is not current.
func (s *slots) bodiesOf(snap *cache.Snapshot) *encoded.VersionBodies {
	now := s.current(snap.Restaurant)
	if now == nil || now.snapshot.Catalogue != snap.Catalogue {
		return nil
	}
	return now.bodies
}
