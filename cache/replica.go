package cache

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/singleflight"

	"larder/internal/menu"
)

const (
	// loadWithin bounds a load; whoever waits may give up earlier.
	loadWithin = 10 * time.Second
	// missLife is how long a restaurant without a catalogue, or a Redis that
	// does not answer, is not asked about again by readers. A notice ends it.
	missLife = time.Second
	// maxMisses bounds what is remembered of names that nobody has.
	maxMisses = 4096
)

// ReplicaConfig is what a Replica needs beside its Store.
type ReplicaConfig struct {
	// Restaurants are those to keep in memory; asked at every poll. nil means
	// only those that readers ask for.
	Restaurants func() []menu.RestaurantID
	Memory      int64         // bytes of ready bodies; 0 means 512 MiB
	Poll        time.Duration // 0 means 5 s
	Clock       func() time.Time
	Log         logrus.FieldLogger // nil means none
}

// Replica is the catalogues in this process's memory, where every read is
// answered from. It asks Redis only for what it does not hold, and goes on
// answering when Redis is gone (policy S5). It is safe for concurrent use.
type Replica struct {
	store    *Store
	cfg      ReplicaConfig
	contents *library
	bodies   *bodies

	seats     sync.Map // menu.RestaurantID to *seat
	flight    singleflight.Group
	published singleflight.Group // of views as published, and of changes

	missesMu sync.Mutex
	misses   map[menu.RestaurantID]miss

	watches watches

	dirtyMu sync.Mutex
	dirty   map[menu.RestaurantID]struct{} // told of by notices, not yet loaded
	wake    chan struct{}
}

// seat is where a restaurant's current version is found.
type seat struct {
	now   atomic.Pointer[seated]
	moves sync.Mutex // one at a time
}

// seated is a snapshot with the shelf of its version's bodies.
type seated struct {
	snapshot *Snapshot
	shelf    *shelf
}

type miss struct {
	err   error
	until time.Time
}

// Snapshot is one version of a restaurant's catalogue. It never changes: all
// that is read from one snapshot is of one version.
type Snapshot struct {
	Version
	Catalogue *menu.Catalogue
}

// NewReplica makes an empty Replica. It answers reads at once, and learns of
// new versions while Run runs.
func NewReplica(store *Store, cfg ReplicaConfig) *Replica {
	if cfg.Memory <= 0 {
		cfg.Memory = int64(defaultMemory)
	}
	if cfg.Poll <= 0 {
		cfg.Poll = defaultPoll
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		silent := logrus.New()
		silent.SetOutput(io.Discard)
		cfg.Log = silent
	}
	if cfg.Restaurants == nil {
		cfg.Restaurants = func() []menu.RestaurantID { return nil }
	}
	return &Replica{
		store: store, cfg: cfg, contents: newLibrary(store.Content), bodies: newBodies(cfg.Memory),
		misses: make(map[menu.RestaurantID]miss), dirty: make(map[menu.RestaurantID]struct{}), wake: make(chan struct{}, 1),
	}
}

// Peek gives what memory holds of the restaurant.
func (r *Replica) Peek(restaurant menu.RestaurantID) (*Snapshot, bool) {
	if now := r.seated(restaurant); now != nil {
		return now.snapshot, true
	}
	return nil, false
}

func (r *Replica) seated(restaurant menu.RestaurantID) *seated {
	found, ok := r.seats.Load(restaurant)
	if !ok {
		return nil
	}
	s, _ := found.(*seat)
	return s.now.Load()
}

// Catalogue gives the restaurant's current version: from memory, and on a miss
// from Redis, loaded once for all who wait. ctx ends this caller's wait only.
//
// Errors: ErrNoCatalogue; ErrUnavailable when Redis cannot be asked; ErrCorrupt;
// ctx's.
func (r *Replica) Catalogue(ctx context.Context, restaurant menu.RestaurantID) (*Snapshot, error) {
	if snapshot, ok := r.Peek(restaurant); ok {
		return snapshot, nil
	}
	if err := r.missed(restaurant); err != nil {
		return nil, err
	}
	loading := r.flight.DoChan(string(restaurant), func() (any, error) {
		if snapshot, ok := r.Peek(restaurant); ok {
			return snapshot, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadWithin)
		defer cancel()
		snapshot, err := r.load(ctx, restaurant)
		if err != nil {
			r.noteMiss(restaurant, err)
			return nil, err
		}
		return snapshot, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case loaded := <-loading:
		if loaded.Err != nil {
			return nil, loaded.Err
		}
		snapshot, _ := loaded.Val.(*Snapshot)
		return snapshot, nil
	}
}

// load takes the restaurant's current version from Redis into memory and
// gives what stands there then.
func (r *Replica) load(ctx context.Context, restaurant menu.RestaurantID) (*Snapshot, error) {
	version, ready, err := r.store.current(ctx, restaurant)
	if err != nil {
		return nil, err
	}
	if err := r.take(ctx, version, ready, true); err != nil {
		return nil, err
	}
	if snapshot, ok := r.Peek(restaurant); ok {
		return snapshot, nil
	}
	return nil, ErrNoCatalogue
}

// take brings a version that Redis holds into memory, unless memory holds it
// already or a higher one.
func (r *Replica) take(ctx context.Context, version Version, ready *readyRecord, wanted bool) error {
	now := r.seated(version.Restaurant)
	if now != nil && !supersedes(version, now.snapshot.Version) {
		r.swap(&Snapshot{Version: version, Catalogue: now.snapshot.Catalogue})
		return nil
	}
	content, err := r.contents.content(ctx, version.Content)
	if err != nil {
		return err
	}
	// Ready bodies come along only where somebody reads the menu: of thousands
	// of restaurants most are never asked for here.
	if wanted || now != nil && r.reads(now.snapshot) {
		version.ready = r.store.ready(ctx, version, ready)
	}
	r.swap(&Snapshot{Version: version, Catalogue: content.Catalogue(version.Stops)})
	return nil
}

// reads tells whether the menu of the snapshot has been asked for in gzip.
func (r *Replica) reads(snapshot *Snapshot) bool {
	_, ok := r.bodies.get(snapshot.key(wholeMenu, Gzip))
	return ok
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
}

// supersedes tells whether v is another catalogue than the one held, and may
// take its place: versions never go back (policy S2). A number that was given
// twice, because Redis lost its data, is settled by Redis: its content or, where
// only the stop lists are others, the time of its pull tells the two apart.
func supersedes(v, held Version) bool {
	return v.Version > held.Version ||
		v.Version == held.Version && (v.Content != held.Content || !v.SyncedAt.Equal(held.SyncedAt))
}

// swap puts the snapshot in its seat unless a later one stands there. Of the
// version that stands there already, only the moving fields are taken.
func (r *Replica) swap(snapshot *Snapshot) {
	ready := snapshot.ready
	snapshot.ready = nil // kept by the bodies, within their memory
	found, _ := r.seats.LoadOrStore(snapshot.Restaurant, &seat{})
	s, _ := found.(*seat)
	s.moves.Lock()
	defer s.moves.Unlock()
	before := s.now.Load()
	next := &seated{snapshot: snapshot}
	switch {
	case before == nil || supersedes(snapshot.Version, before.snapshot.Version):
		next.shelf = newShelf()
		if ready != nil {
			next.shelf.put(r.bodies, snapshot.key(wholeMenu, Gzip), ready)
		}
		s.now.Store(next)
		if before != nil {
			before.shelf.clear(r.bodies)
		}
		r.forgetMiss(snapshot.Restaurant)
		r.watches.swapped(before, snapshot)
	case snapshot.Version.Version == before.snapshot.Version.Version && !snapshot.CheckedAt.Before(before.snapshot.CheckedAt):
		next.shelf = before.shelf
		snapshot.Catalogue = before.snapshot.Catalogue
		s.now.Store(next)
		if snapshot.Published != before.snapshot.Published {
			next.shelf.restate(r.bodies, snapshot.Published)
		}
	}
}

func (r *Replica) missed(restaurant menu.RestaurantID) error {
	r.missesMu.Lock()
	defer r.missesMu.Unlock()
	m, ok := r.misses[restaurant]
	if !ok || !r.cfg.Clock().Before(m.until) {
		return nil
	}
	return m.err
}

func (r *Replica) noteMiss(restaurant menu.RestaurantID, err error) {
	if !errors.Is(err, ErrNoCatalogue) && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrCorrupt) {
		return
	}
	r.missesMu.Lock()
	defer r.missesMu.Unlock()
	if len(r.misses) >= maxMisses {
		clear(r.misses)
	}
	r.misses[restaurant] = miss{err, r.cfg.Clock().Add(missLife)}
}

func (r *Replica) forgetMiss(restaurant menu.RestaurantID) {
	r.missesMu.Lock()
	defer r.missesMu.Unlock()
	delete(r.misses, restaurant)
}
