package cache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"larder/internal/menu"
)

// seat is where a restaurant's current version is found.
type seat struct {
	now    atomic.Pointer[seated]
	coming atomic.Pointer[Version] // known and not loaded yet; nil once now is set
	view   atomic.Pointer[packedView]
	moves  sync.Mutex // one at a time
	broken string     // the content that could not be loaded; guarded by moves
}

// seated is a snapshot with the list of its version's bodies.
type seated struct {
	snapshot *Snapshot
	bodies   *versionBodies
}

// seat gives the restaurant's seat, nil where it has none yet.
func (r *Replica) seat(restaurant menu.RestaurantID) *seat {
	found, ok := r.seats.Load(restaurant)
	if !ok {
		return nil
	}
	s, _ := found.(*seat)
	return s
}

func (r *Replica) seated(restaurant menu.RestaurantID) *seated {
	if s := r.seat(restaurant); s != nil {
		return s.now.Load()
	}
	return nil
}

// ownSeat gives the restaurant's seat and makes it where it has none.
func (r *Replica) ownSeat(restaurant menu.RestaurantID) *seat {
	if s := r.seat(restaurant); s != nil {
		return s
	}
	found, _ := r.seats.LoadOrStore(restaurant, &seat{})
	s, _ := found.(*seat)
	return s
}

// expect notes a version of a restaurant of which memory holds none, unless
// its content is known to be broken.
func (r *Replica) expect(version Version) {
	s := r.ownSeat(version.Restaurant)
	defer r.forgetUnkept(version.Restaurant)
	s.moves.Lock()
	defer s.moves.Unlock()
	if s.now.Load() == nil && s.broken != version.Content {
		s.coming.Store(&version)
	}
}

// disappoint takes back what was expected where the content turned out to be
// lost or unreadable; a Redis that does not answer says nothing of it.
func (r *Replica) disappoint(version Version, err error) {
	if !errors.Is(err, ErrNoCatalogue) && !errors.Is(err, ErrCorrupt) {
		return
	}
	s := r.ownSeat(version.Restaurant)
	defer r.forgetUnkept(version.Restaurant)
	s.moves.Lock()
	defer s.moves.Unlock()
	s.broken = version.Content
	s.coming.Store(nil)
}

// take brings a version that Redis holds into memory, unless memory holds it
// already or a higher one.
func (r *Replica) take(ctx context.Context, version Version) error {
	now := r.seated(version.Restaurant)
	if now != nil && !supersedes(version, now.snapshot.Version) {
		r.swap(&Snapshot{Version: version, Catalogue: now.snapshot.Catalogue})
		return nil
	}
	content, err := r.contents.content(ctx, version.Content)
	if err != nil {
		r.disappoint(version, err)
		return err
	}
	r.swap(&Snapshot{Version: version, Catalogue: content.Catalogue(version.Stops)})
	return nil
}

// Offer hands over a version that was just published by this process, so that
// it is served here at once. A lower version than the one held is ignored.
func (r *Replica) Offer(snapshot *Snapshot) {
	if snapshot == nil || snapshot.Catalogue == nil {
		return
	}
	offered := *snapshot
	content := r.contents.adopt(offered.Content, offered.Catalogue.Content)
	if content != offered.Catalogue.Content {
		offered.Catalogue = content.Catalogue(offered.Stops)
	}
	r.swap(&offered)
	r.told.add(offered.Restaurant) // for the view as published
}

// supersedes tells whether v is another catalogue than the one held, and may
// take its place: versions never go back (policy S2). A number that was given
// twice, because Redis lost its data, is settled by Redis: its content or, where
// only the stop lists are others, the time of its pull tells the two apart.
func supersedes(v, held Version) bool {
	return v.Version > held.Version ||
		v.Version == held.Version && (v.Content != held.Content || !v.SyncedAt.Equal(held.SyncedAt))
}

// follows tells whether a check may take the place of another: a later one, or
// one so much earlier that the other's clock was wrong.
func follows(checked, before time.Time) bool {
	return !checked.Before(before) || before.Sub(checked) > ClockSlack
}

// swap puts the snapshot in its seat unless a later one stands there. Of the
// version that stands there already, only the moving fields are taken.
func (r *Replica) swap(snapshot *Snapshot) {
	snapshot.share()
	s := r.ownSeat(snapshot.Restaurant)
	defer r.forgetUnkept(snapshot.Restaurant)
	s.moves.Lock()
	defer s.moves.Unlock()
	before := s.now.Load()
	next := &seated{snapshot: snapshot}
	switch {
	case before == nil || supersedes(snapshot.Version, before.snapshot.Version):
		next.bodies = &versionBodies{}
		s.now.Store(next)
		s.coming.Store(nil)
		s.broken = ""
		if before != nil {
			before.bodies.clear(r.bodies)
		}
		r.forgetMiss(snapshot.Restaurant)
		r.watches.swapped(before, snapshot)
	case snapshot.Version.Version == before.snapshot.Version.Version && follows(snapshot.CheckedAt, before.snapshot.CheckedAt):
		next.bodies = before.bodies
		snapshot.Catalogue = before.snapshot.Catalogue
		snapshot.Floor = max(snapshot.Floor, before.snapshot.Floor) // policy S2a: Redis may have lost it
		s.now.Store(next)
		if snapshot.Published != before.snapshot.Published {
			next.bodies.restate(r.bodies, snapshot.Published)
		}
	}
}

// Forget removes restaurants that are no longer kept from memory: their
// catalogues and encoded bodies. Redis is not touched. ReplicaConfig.Keeps
// must have ceased to name them before; then nothing brings them back, whatever
// is being loaded or published meanwhile.
func (r *Replica) Forget(restaurants ...menu.RestaurantID) {
	for _, restaurant := range restaurants {
		r.forgetMiss(restaurant)
		found, ok := r.seats.LoadAndDelete(restaurant)
		if !ok {
			continue
		}
		s, _ := found.(*seat)
		s.moves.Lock()
		now := s.now.Swap(nil)
		s.coming.Store(nil)
		s.view.Store(nil)
		s.moves.Unlock()
		if now != nil {
			now.bodies.clear(r.bodies)
		}
	}
}

// forgetUnkept is called after a seat was taken or made: a restaurant that is no
// longer kept loses it again. Either this call sees that, or Forget comes later.
func (r *Replica) forgetUnkept(restaurant menu.RestaurantID) {
	if !r.cfg.Keeps(restaurant) {
		r.Forget(restaurant)
	}
}
