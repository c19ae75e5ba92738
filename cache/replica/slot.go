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

// slots are those of all restaurants. The zero value has none.
type slots struct{ all sync.Map } // menu.RestaurantID to *slot

// find returns the restaurant's slot, nil where it has none yet.
func (s *slots) find(restaurant menu.RestaurantID) *slot {
	found, ok := s.all.Load(restaurant)
	if !ok {
		return nil
	}
	one, _ := found.(*slot)
	return one
}

// current returns what stands in the restaurant's slot, nil where nothing does.
func (s *slots) current(restaurant menu.RestaurantID) *currentEntry {
	if one := s.find(restaurant); one != nil {
		return one.current.Load()
	}
	return nil
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

// setPending notes a version of a restaurant of which memory holds none, unless
// its content is known to be broken.
func (r *Replica) setPending(version cache.Version) {
	s := r.slots.findOrMake(version.Restaurant)
	defer r.dropIfNotAllowed(version.Restaurant)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.Load() == nil && s.brokenContent != version.Content {
		s.pending.Store(&version)
	}
}

// markBroken drops the pending version whose content turned out to be
// lost or unreadable; a Redis that does not answer says nothing of it.
func (r *Replica) markBroken(version cache.Version, err error) {
	if !errors.Is(err, cache.ErrNoCatalogue) && !errors.Is(err, cache.ErrCorrupt) {
		return
	}
	s := r.slots.findOrMake(version.Restaurant)
	defer r.dropIfNotAllowed(version.Restaurant)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.brokenContent = version.Content
	s.pending.Store(nil)
}

// apply brings a version that Redis holds into memory, unless memory holds it
// already or a higher one.
func (r *Replica) apply(ctx context.Context, version cache.Version) error {
	now := r.slots.current(version.Restaurant)
	if now != nil && !replaces(version, now.snapshot.Version) {
		r.replaceCurrent(&cache.Snapshot{Version: version, Catalogue: now.snapshot.Catalogue})
		return nil
	}
	content, err := r.contents.content(ctx, version.Content)
	if err != nil {
		r.markBroken(version, err)
		return err
	}
	r.replaceCurrent(&cache.Snapshot{Version: version, Catalogue: content.Catalogue(version.Stops)})
	return nil
}

// Install hands over a version that was just published by this process, so that
// it is served here at once. A lower version than the one held is ignored.
func (r *Replica) Install(snapshot *cache.Snapshot) {
	if snapshot == nil || snapshot.Catalogue == nil {
		return
	}
	offered := *snapshot
	content := r.contents.intern(offered.Content, offered.Catalogue.Content)
	if content != offered.Catalogue.Content {
		offered.Catalogue = content.Catalogue(offered.Stops)
	}
	r.replaceCurrent(&offered)
	r.noticeQueue.add(offered.Restaurant) // for the view as published
}

// replaces tells whether v is another catalogue than the one held, and may
// take its place: versions never go back (policy S2). A number that was given
// twice, because Redis lost its data, is decided by Redis: its content or, where
// only the stop lists are others, the time of its pull tells the two apart.
func replaces(v, held cache.Version) bool {
	return v.Version > held.Version ||
		v.Version == held.Version && (v.Content != held.Content || !v.SyncedAt.Equal(held.SyncedAt))
}

// isNewerCheck tells whether a check may take the place of another: a later one, or
// one so much earlier that the other's clock was wrong.
func isNewerCheck(checked, before time.Time) bool {
	return !checked.Before(before) || before.Sub(checked) > cache.ClockSlack
}

// replaceCurrent puts the snapshot into its slot unless a later one is there. Of the
// version that stands there already, only the moving fields are taken.
func (r *Replica) replaceCurrent(snapshot *cache.Snapshot) {
	internTexts(snapshot)
	s := r.slots.findOrMake(snapshot.Restaurant)
	defer r.dropIfNotAllowed(snapshot.Restaurant)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.current.Load()
	next := &currentEntry{snapshot: snapshot}
	switch {
	case before == nil || replaces(snapshot.Version, before.snapshot.Version):
		next.bodies = &encoded.VersionBodies{}
		s.current.Store(next)
		s.pending.Store(nil)
		s.brokenContent = ""
		if before != nil {
			before.bodies.Clear(r.bodies)
		}
		r.misses.forget(snapshot.Restaurant)
		r.watches.onReplaced(before, snapshot)
	case snapshot.Version.Version == before.snapshot.Version.Version && isNewerCheck(snapshot.CheckedAt, before.snapshot.CheckedAt):
		next.bodies = before.bodies
		snapshot.Catalogue = before.snapshot.Catalogue
		snapshot.Floor = max(snapshot.Floor, before.snapshot.Floor) // policy S2a: Redis may have lost it
		s.current.Store(next)
		if snapshot.Published != before.snapshot.Published {
			next.bodies.DropPublished(r.bodies, snapshot.Published)
		}
	}
}

// internTexts lets the snapshot use the texts that others hold too: in a chain most
// of them are the same, and there may be thousands of restaurants.
func internTexts(s *cache.Snapshot) {
	s.Content = unique.Make(s.Content).Value()
	s.LastOutcome = unique.Make(s.LastOutcome).Value()
	s.Published = unique.Make(s.Published).Value()
	s.Stops = s.Catalogue.Stops()
}

// Drop removes restaurants that are no longer kept from memory: their
// catalogues and encoded bodies. Redis is not touched. Config.Allowed
// must have ceased to name them before; then nothing brings them back, whatever
// is being loaded or published meanwhile.
func (r *Replica) Drop(restaurants ...menu.RestaurantID) {
	for _, restaurant := range restaurants {
		r.misses.forget(restaurant)
		found, ok := r.slots.all.LoadAndDelete(restaurant)
		if !ok {
			continue
		}
		s, _ := found.(*slot)
		s.mu.Lock()
		now := s.current.Swap(nil)
		s.pending.Store(nil)
		s.published.Store(nil)
		s.mu.Unlock()
		if now != nil {
			now.bodies.Clear(r.bodies)
		}
	}
}

// dropIfNotAllowed is called after a slot was filled or made: a restaurant that is no
// longer kept loses it again. Either this call sees that, or Drop comes later.
func (r *Replica) dropIfNotAllowed(restaurant menu.RestaurantID) {
	if !r.cfg.Allowed(restaurant) {
		r.Drop(restaurant)
	}
}
