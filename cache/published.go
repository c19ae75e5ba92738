package cache

import (
	"context"

	"larder/internal/menu"
)

// Published returns the body {"result": …} with the menu view as the ordering
// service published it, every field of it, known to larder or not: the same JSON
// values, digits of numbers and texts as published last. Its ETag is by its own
// hash; it was last changed at PublishedAt of the snapshot.
//
// The first read unpacks the view from memory, or loads it from Redis, once for
// all concurrent callers. The body is kept within the Replica's memory until the
// next version, or until the service publishes other stop lists. ctx ends only
// this caller's wait.
//
// Errors: ErrUnavailable when the view must be loaded and Redis does not answer;
// ErrNoCatalogue when Redis has lost it; ErrCorrupt; ctx's.
func (r *Replica) Published(ctx context.Context, snap *Snapshot, enc Encoding) (*Representation, error) {
	key := snap.key(PublishedMenu, enc)
	if ready, ok := r.bodies.get(key); ok {
		return ready, nil
	}
	// The name of the miss is no restaurant's: '/' cannot occur in an id.
	return r.loaded(ctx, key, snap.Restaurant+"/published", func(ctx context.Context) (*Representation, error) {
		body, published, err := r.viewOf(ctx, snap)
		if err != nil {
			return nil, err
		}
		if published != snap.Published {
			r.told.add(snap.Restaurant) // Redis is ahead
		}
		ready, err := r.store.packer.represent(snap.Version.Version, body, enc)
		if err != nil {
			return nil, err
		}
		key := key
		key.content = published
		r.versionBodies(snap).put(r.bodies, key, ready)
		return ready, nil
	})
}

// loaded gives a body that may take a look into Redis: load is called once for
// all who wait, and not again for a while where it fails. miss names it among
// the misses. ctx ends this caller's wait only.
func (r *Replica) loaded(
	ctx context.Context, key bodyKey, miss menu.RestaurantID, load func(context.Context) (*Representation, error),
) (*Representation, error) {
	if err := r.missed(miss); err != nil {
		return nil, err
	}
	loading := r.published.DoChan(key.String(), func() (any, error) {
		if ready, ok := r.bodies.get(key); ok {
			return ready, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadWithin)
		defer cancel()
		ready, err := load(ctx)
		if err != nil {
			r.noteMiss(miss, err)
			return nil, err
		}
		return ready, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case loaded := <-loading:
		ready, _ := loaded.Val.(*Representation)
		return ready, loaded.Err
	}
}
