package replica

import (
	"context"
	"fmt"
	"slices"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
)

// viewsAtATime is how many views one pipeline loads; each may have megabytes.
const viewsAtATime = 16

// packedView is the menu view as the ordering service published it, compressed as in Redis. It is in
// memory so that it can be read while Redis is down (docs/decisions/0008-published-menu-view.md).
type packedView struct {
	snapshot *cache.Snapshot // that it is the view of
	content  *[]byte         // shared by all restaurants that have the content
	stops    []byte
	bodies   encoded.VersionBodies
}

// LastPublished returns the restaurant's last snapshot whose published view is in memory. Readers get it if the view
// of the current one cannot be loaded.
func (r *Replica) LastPublished(restaurant menu.RestaurantID) (*cache.Snapshot, bool) {
	if s := r.slots.find(restaurant); s != nil {
		if view := s.published.Load(); view != nil {
			return view.snapshot, true
		}
	}
	return nil, false
}

// Published returns the body {"result": …} with the menu view as the ordering service last published it. It has
// every field, known to larder or not, with the same JSON values, digits of numbers and texts. Its ETag has its
// own hash; its time of modification is the snapshot's PublishedAt.
//
// The first read unpacks the view from memory, or loads it from Redis, once for all concurrent callers. The
// body stays in the Replica's memory until the next version, or until the service publishes other stop lists.
// ctx ends only this caller's wait. Errors: redisdb.ErrUnavailable if the view is not in memory and Redis does
// not respond; cache.ErrNoCatalogue if Redis has lost it; cache.ErrCorrupt; ctx's.
func (r *Replica) Published(ctx context.Context, snap *cache.Snapshot, enc encoded.Encoding) (*encoded.Representation, error) {
	key := bodyKey(snap, encoded.PublishedMenu, enc)
	if ready, ok := r.bodies.Get(key); ok {
		return ready, nil
	}
	if view := r.slots.view(snap); view != nil {
		return r.unpackBody(key, view)
	}
	return r.loadBody(ctx, key, func(ctx context.Context) (*encoded.Representation, error) {
		if err := r.loadViews(ctx, []*cache.Snapshot{snap}); err != nil {
			return nil, err
		}
		if view := r.slots.view(snap); view != nil {
			return r.unpackBody(key, view)
		}
		published, err := r.store.View(ctx, snap.Version)
		if err != nil {
			return nil, err
		}
		r.noticeQueue.add(snap.Restaurant) // Redis is ahead
		return encodeView(r.encoder, snap, published, enc)
	})
}

// view returns the snapshot's published view if it is in memory.
func (s *slots) view(snap *cache.Snapshot) *packedView {
	if one := s.find(snap.Restaurant); one != nil {
		if view := one.published.Load(); view != nil && view.isOf(snap) {
			return view
		}
	}
	return nil
}

func (v *packedView) isOf(snap *cache.Snapshot) bool {
	return v.snapshot.Published == snap.Published && v.snapshot.Version.Version == snap.Version.Version
}

// unpackBody builds the body of a view in memory, and keeps it while the view is there.
func (r *Replica) unpackBody(key encoded.Key, view *packedView) (*encoded.Representation, error) {
	return r.bodies.Build(key, &view.bodies, func() (*encoded.Representation, error) {
		defer r.readers.enter()()
		content, err := r.store.Unpack(*view.content)
		if err != nil {
			return nil, err
		}
		stops, err := r.store.Unpack(view.stops)
		if err != nil {
			return nil, err
		}
		return encodeView(r.encoder, view.snapshot, menu.Published{Content: content, Stops: stops}, key.Encoding)
	})
}

func encodeView(
	encoder *encoded.Encoder, snap *cache.Snapshot, view menu.Published, enc encoded.Encoding,
) (*encoded.Representation, error) {
	body, err := view.AppendAnswer(nil)
	if err != nil {
		return nil, fmt.Errorf("replica: %s@%d as published: %w: %w", snap.Restaurant, snap.Version.Version, cache.ErrCorrupt, err)
	}
	return encoder.Represent(snap.Version.Version, body, enc)
}

// loadBody is loadOnce for a body.
func (r *Replica) loadBody(
	ctx context.Context, key encoded.Key, load func(context.Context) (*encoded.Representation, error),
) (*encoded.Representation, error) {
	return loadOnce(ctx, r, key.String(), func() (*encoded.Representation, bool) { return r.bodies.Get(key) }, load)
}

// keepViews loads missing published views of restaurants whose catalogue is in memory. A view that Redis does
// not have, or has in a newer version, is left to the next poll. The error is redisdb.ErrUnavailable.
func (r *Replica) keepViews(ctx context.Context, restaurants []menu.RestaurantID) error {
	var missing []*cache.Snapshot
	for _, id := range restaurants {
		if now := r.slots.current(id); now != nil && r.slots.view(now.snapshot) == nil {
			missing = append(missing, now.snapshot)
		}
	}
	for part := range slices.Chunk(missing, viewsAtATime) {
		if err := r.loadViews(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (r *Replica) loadViews(ctx context.Context, snapshots []*cache.Snapshot) error {
	versions := make([]cache.Version, len(snapshots))
	for i, snapshot := range snapshots {
		versions[i] = snapshot.Version
	}
	contents := map[string]*[]byte{} // by hash
	stops, loaded, err := r.store.PackedViews(ctx, versions, func(hash string) bool {
		contents[hash] = r.packedContents.get(hash)
		return contents[hash] != nil
	})
	if err != nil {
		return err
	}
	for hash, packed := range loaded {
		contents[hash] = r.packedContents.intern(hash, &packed)
	}
	for i, snapshot := range snapshots {
		content := contents[snapshot.Content]
		values, err := r.store.Unpack(stops[i])
		if content == nil || err != nil || cache.PublishedSum(snapshot.Content, values) != snapshot.Published {
			continue
		}
		r.slots.change(snapshot.Restaurant, func(one *slot) {
			view := &packedView{snapshot: snapshot, content: content, stops: stops[i]}
			if now := one.current.Load(); now == nil || !view.isOf(now.snapshot) {
				return // replaced meanwhile
			}
			if before := one.published.Swap(view); before != nil {
				before.bodies.Clear(r.bodies)
			}
		})
	}
	return nil
}
