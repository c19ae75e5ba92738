package cache

import (
	"fmt"
	"sync"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"larder/internal/menu"
)

// wholeMenu stands in a bodyKey where a dish's index stands otherwise.
const wholeMenu = menu.None

// bodyOverhead is about what an entry takes beside its body, in bytes.
const bodyOverhead = 320

// bodyKey names one ready body. The content is part of it since a Redis that
// lost its data may give a version number twice.
type bodyKey struct {
	restaurant menu.RestaurantID
	content    string
	version    int64
	product    menu.Index
	enc        Encoding
}

func (k bodyKey) String() string {
	return fmt.Sprintf("%s %d %s %d %d", k.restaurant, k.version, k.content, k.product, k.enc)
}

// bodies are the ready bodies in memory, bounded by their bytes; the least used
// go first (docs/decisions/0001-ready-bodies.md).
type bodies struct {
	cache  *otter.Cache[bodyKey, *Representation]
	flight singleflight.Group
}

func newBodies(memory int64) *bodies {
	return &bodies{cache: otter.Must(&otter.Options[bodyKey, *Representation]{
		MaximumWeight: uint64(max(memory, 0)),
		Weigher: func(_ bodyKey, r *Representation) uint32 {
			return uint32(min(len(r.Body)+bodyOverhead, 1<<30))
		},
		// In the caller: a cache starts no goroutine of its own.
		Executor: func(work func()) { work() },
	})}
}

func (b *bodies) get(key bodyKey) (*Representation, bool) { return b.cache.GetIfPresent(key) }

// build makes a body once for all who ask at the same time, and keeps it while
// its shelf is open.
func (b *bodies) build(key bodyKey, shelf *shelf, render func() (*Representation, error)) (*Representation, error) {
	built, err, _ := b.flight.Do(key.String(), func() (any, error) {
		if r, ok := b.get(key); ok {
			return r, nil
		}
		r, err := render()
		if err != nil {
			return nil, err
		}
		shelf.put(b, key, r)
		return r, nil
	})
	if err != nil {
		return nil, err
	}
	r, _ := built.(*Representation)
	return r, nil
}

// shelf lists the bodies that were made of one version, so that they vanish
// with it. A nil shelf keeps nothing.
type shelf struct {
	mu     sync.Mutex
	closed bool
	keys   map[bodyKey]struct{}
}

func newShelf() *shelf { return &shelf{keys: make(map[bodyKey]struct{})} }

func (s *shelf) put(b *bodies, key bodyKey, r *Representation) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.keys[key] = struct{}{}
	b.cache.Set(key, r)
}

// clear takes every body of the version out; later ones are not kept.
func (s *shelf) clear(b *bodies) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for key := range s.keys {
		b.cache.Invalidate(key)
	}
	s.keys = nil
}
