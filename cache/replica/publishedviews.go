package replica

import (
	"context"
	"fmt"
	"slices"

	"larder/cache"
	"larder/cache/encoded"
	"larder/internal/menu"
)

// viewsAtATime is how many views one pipeline loads; each may have megabytes.
const viewsAtATime = 16

// packedView is the menu view as the ordering service published it, compressed as in Redis. It is in
// memory so that it can be read while Redis is down (docs/decisions/0050-published-view-in-memory.md).
type packedView struct {
	published string // cache.Version.Published
	content   []byte // shared by all restaurants that have the content
	stops     []byte
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
	// The miss must not have a restaurant's name: an id cannot contain '/'.
	return r.loadBody(ctx, key, snap.Restaurant+"/published", func(ctx context.Context) (*encoded.Representation, error) {
		body, published, err := r.viewOf(ctx, snap)
		if err != nil {
			return nil, err
		}
		if published != snap.Published {
			r.noticeQueue.add(snap.Restaurant) // Redis is ahead
		}
		ready, err := r.encoder.Represent(snap.Version.Version, body, enc)
		if err != nil {
			return nil, err
		}
		key := key
		key.Content = published
		r.slots.bodiesOf(snap).Put(r.bodies, key, ready)
		return ready, nil
	})
}

// loadBody is loadOnce for a body.
func (r *Replica) loadBody(
	ctx context.Context, key encoded.Key, miss menu.RestaurantID, load func(context.Context) (*encoded.Representation, error),
) (*encoded.Representation, error) {
	return loadOnce(ctx, r, loading[*encoded.Representation]{
		flight: &r.published,
		key:    key.String(),
		miss:   miss,
		find:   func() (*encoded.Representation, bool) { return r.bodies.Get(key) },
		load:   load,
	})
}

// keepViews loads missing published views of restaurants whose catalogue is in memory. A view that Redis does
// not have, or has in a newer version, is left to the next poll. The error is redisdb.ErrUnavailable.
func (r *Replica) keepViews(ctx context.Context, restaurants []menu.RestaurantID) error {
	var missing []*cache.Snapshot
	for _, id := range restaurants {
		if s := r.slots.find(id); s != nil {
			now, view := s.current.Load(), s.published.Load()
			if now != nil && (view == nil || view.published != now.snapshot.Published) {
				missing = append(missing, now.snapshot)
			}
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
	stops, contents, err := r.store.PackedViews(ctx, versions, func(content string) bool {
		_, held := r.contents.packedContent(content)
		return held
	})
	if err != nil {
		return err
	}
	for hash, packed := range contents {
		r.contents.keepPackedContent(hash, packed)
	}
	for i, snapshot := range snapshots {
		content, held := r.contents.packedContent(snapshot.Content)
		values, err := r.store.Unpack(stops[i])
		if !held || err != nil || cache.PublishedSum(snapshot.Content, values) != snapshot.Published {
			continue
		}
		if s := r.slots.find(snapshot.Restaurant); s != nil {
			s.published.Store(&packedView{published: snapshot.Published, content: content, stops: stops[i]})
			r.slots.dropIfNotAllowed(snapshot.Restaurant)
		}
	}
	return nil
}

// viewOf returns the last published view and its name, from memory or else from
// Redis, which may be ahead of the snapshot. Errors are those of cache.Store.View.
func (r *Replica) viewOf(ctx context.Context, snap *cache.Snapshot) (view []byte, name string, err error) {
	published, ok := r.unpackView(snap)
	if !ok {
		if published, err = r.store.View(ctx, snap.Version); err != nil {
			return nil, "", err
		}
	}
	view, err = published.AppendAnswer(nil)
	if err != nil {
		return nil, "", fmt.Errorf("replica: %s@%d as published: %w: %w", snap.Restaurant, snap.Version.Version, cache.ErrCorrupt, err)
	}
	return view, cache.PublishedSum(snap.Content, published.Stops), nil
}

func (r *Replica) unpackView(snap *cache.Snapshot) (published menu.Published, ok bool) {
	s := r.slots.find(snap.Restaurant)
	if s == nil {
		return published, false
	}
	packed := s.published.Load()
	if packed == nil || packed.published != snap.Published {
		return published, false
	}
	var err, err2 error
	published.Content, err = r.store.Unpack(packed.content)
	published.Stops, err2 = r.store.Unpack(packed.stops)
	return published, err == nil && err2 == nil
}
