package cache

import (
	"context"
	"sync/atomic"
	"time"

	"larder/internal/menu"
)

// elsewhereFor is how long the worker rests when another larder makes the body
// that it was about to make.
const elsewhereFor = 20 * time.Millisecond

// wish is for the menu of a restaurant, or its view as published, in one
// encoding: as dense as it gets, or made anew of a new version.
type wish struct {
	restaurant menu.RestaurantID
	what       menu.Index
	enc        Encoding
}

// DenseBodies counts the dense bodies that came into a Replica's memory.
type DenseBodies struct {
	Made  int64 // compressed by this process
	Taken int64 // compressed by another larder and taken from Redis
}

type denseCounts struct{ made, taken atomic.Int64 }

// DenseBodies gives what was counted since the start.
func (r *Replica) DenseBodies() DenseBodies {
	return DenseBodies{Made: r.counts.made.Load(), Taken: r.counts.taken.Load()}
}

// wish notes that a body is read whose densest form, in the encoding enc, is
// not made yet; ready is what is served meanwhile.
func (r *Replica) wish(snap *Snapshot, what menu.Index, ready *Representation, enc Encoding) {
	if ready.Encoding == enc && ready.dense || what != WholeMenu && what != PublishedMenu {
		return
	}
	// Once for each body: this stands in the way of every read.
	if bit := uint32(1) << enc; ready.wished.Load()&bit == 0 && ready.wished.Or(bit)&bit == 0 {
		r.wishes.add(wish{snap.Restaurant, what, enc})
	}
}

// densifyAlways makes the dense bodies that are wished for, one at a time, so
// that however many they are most cores are left to those who read.
func (r *Replica) densifyAlways(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wishes.wake:
		}
		for _, w := range r.wishes.take(1) {
			if !r.densify(ctx, w) {
				continue
			}
			r.wishes.add(w) // behind the others
			timer := time.NewTimer(elsewhereFor)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// densify makes one body dense, or takes it from Redis where another larder
// made it. Nothing happens where the restaurant has a newer version that nobody
// has read, or memory has let go of the body. elsewhere tells that another
// larder is making it.
func (r *Replica) densify(ctx context.Context, w wish) (elsewhere bool) {
	snap, ok := r.Peek(w.restaurant)
	if !ok {
		return false
	}
	key := snap.key(w.what, w.enc)
	before, there := r.bodies.get(key)
	if there && before.dense {
		return false
	}
	from := r.held(key)
	if from == nil {
		return false
	}
	var ready *Representation
	claim := r.claim(ctx, snap, w, from)
	switch {
	case claim.elsewhere:
		return true
	case claim.found != nil:
		ready = &Representation{Body: claim.found, ETag: from.ETag, Encoding: w.enc, sum: from.sum, dense: true}
		r.counts.taken.Add(1)
	default:
		var err error
		if ready, err = r.store.packer.recode(from, w.enc, dense); err != nil {
			r.cfg.Log.WithField("event", "replica.dense_failed").WithField("restaurant", w.restaurant).
				WithError(err).Error("a body cannot be made denser; the one that is there goes on being served")
			return false
		}
		r.counts.made.Add(1)
	}
	if there && len(before.Body) <= len(ready.Body) {
		ready.Body = before.Body // looking longer found nothing: that happens to odd menus
	}
	ready.used.Store(!there || before.used.Load()) // wished for by a reader, or renewed
	r.shelfOf(snap).put(r.bodies, key, ready)
	if claim.mine {
		r.share(ctx, snap, w, ready)
	}
	return false
}

// held gives a body that memory holds in the encoding of the key or any other,
// nil where it holds none: the one that is quickest to unpack.
func (r *Replica) held(key bodyKey) *Representation {
	for _, key.enc = range [...]Encoding{Identity, Zstd, Gzip, Brotli} {
		if held, ok := r.bodies.get(key); ok {
			return held
		}
	}
	return nil
}
