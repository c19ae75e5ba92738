package replica

import (
	"context"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
)

func (s *slots) find(restaurant menu.RestaurantID) *slot {
	found, _ := s.all.Load(restaurant)
	one, _ := found.(*slot) // nil if it does not exist
	return one
}

func (s *slots) current(restaurant menu.RestaurantID) *currentEntry {
	if one := s.find(restaurant); one != nil {
		return one.current.Load()
	}
	return nil
}

// Cached returns the restaurant's menu if it is in memory.
func (r *Replica) Cached(restaurant menu.RestaurantID) (*cache.Snapshot, bool) {
	if now := r.slots.current(restaurant); now != nil {
		return now.snapshot, true
	}
	return nil, false
}

// Version returns the restaurant's current version as far as known: the one in memory or, soon after a
// start, the one that Redis named and whose content is not loaded yet.
func (r *Replica) Version(restaurant menu.RestaurantID) (cache.Version, bool) {
	s := r.slots.find(restaurant)
	if s == nil {
		return cache.Version{}, false
	}
	coming := s.pending.Load() // read before current, which is set before pending is cleared
	if now := s.current.Load(); now != nil {
		return now.snapshot.Version, true
	}
	if coming != nil {
		return *coming, true
	}
	return cache.Version{}, false
}

// Catalogue returns the restaurant's current version from memory. On a miss it loads the version from
// Redis, once for all concurrent readers. ctx ends only this caller's wait.
// Errors: cache.ErrNoCatalogue; redisdb.ErrUnavailable; cache.ErrCorrupt; ctx's.
func (r *Replica) Catalogue(ctx context.Context, restaurant menu.RestaurantID) (*cache.Snapshot, error) {
	find := func() (*cache.Snapshot, bool) { return r.Cached(restaurant) }
	return loadOnce(ctx, r, string(restaurant), find, func(ctx context.Context) (*cache.Snapshot, error) {
		return r.load(ctx, restaurant)
	})
}

func menuBody(v cache.Version, catalogue *menu.Catalogue) []byte {
	// The approximate size of a menu, so that the buffer grows at most once.
	size := 1024 + 900*catalogue.Products().Len() + 450*catalogue.Ingredients().Len()
	return catalogue.AppendMenu(make([]byte, 0, size), menu.Head{
		Restaurant:     v.Restaurant,
		RestaurantName: v.Name,
		Version:        v.Version,
		SyncedAt:       v.SyncedAt,
	})
}

func bodyKey(s *cache.Snapshot, what menu.Index, enc encoded.Encoding) encoded.Key {
	key := encoded.Key{
		Restaurant: s.Restaurant,
		Content:    s.Content,
		Version:    s.Version.Version,
		Synced:     s.SyncedAt.UnixMilli(),
		Modified:   s.ModifiedAt.UnixMilli(),
		Product:    what,
		Encoding:   enc,
	}
	if what == encoded.PublishedMenu {
		key.Content, key.Synced, key.Modified = s.Published, 0, 0
	}
	return key
}

// Ready returns the body of WholeMenu, PublishedMenu or the dish of that index if
// it is in memory. It does not encode, wait or allocate.
func (r *Replica) Ready(snap *cache.Snapshot, what menu.Index, enc encoded.Encoding) (*encoded.Representation, bool) {
	return r.bodies.Get(bodyKey(snap, what, enc))
}

// Menu returns the body of GET …/menu. The first read of a version encodes it, once for all concurrent readers.
// It stays in the Replica's memory until the next version. The body of an old snapshot is not kept.
func (r *Replica) Menu(snap *cache.Snapshot, enc encoded.Encoding) (*encoded.Representation, error) {
	return r.representation(snap, encoded.WholeMenu, enc, func() []byte {
		return menuBody(snap.Version, snap.Catalogue)
	})
}

// Product returns the body of GET …/products/{id} as Menu does. p must be an index of the snapshot's catalogue.
func (r *Replica) Product(snap *cache.Snapshot, p menu.Index, enc encoded.Encoding) (*encoded.Representation, error) {
	return r.representation(snap, p, enc, func() []byte {
		return snap.Catalogue.AppendProduct(nil, p, snap.Version.Version)
	})
}

func (r *Replica) representation(
	snap *cache.Snapshot, what menu.Index, enc encoded.Encoding, body func() []byte,
) (*encoded.Representation, error) {
	key := bodyKey(snap, what, enc)
	if ready, ok := r.bodies.Get(key); ok {
		return ready, nil
	}
	return r.bodies.Build(key, r.slots.bodiesOf(snap), func() (*encoded.Representation, error) {
		defer r.readers.enter()()
		return r.encoder.Represent(snap.Version.Version, body(), enc)
	})
}

// Memory returns the memory of the encoded bodies in bytes, and its limit, Config.Memory. It allocates nothing.
func (r *Replica) Memory() (used, limit int64) { return r.bodies.Size(), r.cfg.Memory }
