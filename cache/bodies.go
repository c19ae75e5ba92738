package cache

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"larder/internal/menu"
)

// WholeMenu, PublishedMenu and ChangesOnly stand where a dish's index stands
// otherwise: for the body of GET …/menu, the menu view as the ordering service
// published it, and the body of GET …/changes, of which there are many and
// Replica.Ready knows none.
const (
	WholeMenu     = menu.None
	PublishedMenu = WholeMenu - 1
	ChangesOnly   = WholeMenu - 2
)

// bodyOverhead is about what an entry takes beside its body, in bytes.
const bodyOverhead = 320

// bodyKey names one ready body. The content and when it was pulled are part of
// it since a Redis that lost its data may give a version number twice.
type bodyKey struct {
	restaurant menu.RestaurantID
	content    string // Version.Published for PublishedMenu
	version    int64
	synced     int64 // milliseconds; stop lists are no part of the content
	product    menu.Index
	enc        Encoding
	since      int64 // of ChangesOnly: the other version
}

func (k bodyKey) String() string {
	return fmt.Sprintf("%s %d %d %s %d %d %d", k.restaurant, k.version, k.synced, k.content, k.product, k.enc, k.since)
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

// shelf tells which bodies were made of one version, so that they vanish with
// it. It keeps a bit for each dish and encoding, not the keys: these would
// outgrow the bodies' own memory, which they are no part of. A nil shelf keeps
// nothing.
type shelf struct {
	mu     sync.Mutex
	closed bool
	of     bodyKey // one of its keys; they differ in dish and encoding alone
	made   []uint64
	// published are the keys of the view as published, of one Published alone.
	published []bodyKey
}

func newShelf() *shelf { return &shelf{} }

const wordBits = 64

func (s *shelf) put(b *bodies, key bodyKey, r *Representation) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if held, ok := b.get(key); ok && held.dense && !r.dense {
		return // a dense one came while this was made
	}
	b.cache.Set(key, r)
	if key.product == PublishedMenu {
		s.keepPublished(b, key.content)
		if !slices.Contains(s.published, key) {
			s.published = append(s.published, key)
		}
		return
	}
	at := int(key.product-WholeMenu)*encodings + int(key.enc)
	for len(s.made) <= at/wordBits {
		s.made = append(s.made, 0)
	}
	s.of = key
	s.made[at/wordBits] |= 1 << (at % wordBits)
}

// restate takes the bodies of the view as published out, but those of the
// given Published.
func (s *shelf) restate(b *bodies, published string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepPublished(b, published)
}

func (s *shelf) keepPublished(b *bodies, published string) {
	s.published = slices.DeleteFunc(s.published, func(key bodyKey) bool {
		if key.content == published {
			return false
		}
		b.cache.Invalidate(key)
		return true
	})
}

// clear takes every body of the version out; later ones are not kept.
func (s *shelf) clear(b *bodies) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.keepPublished(b, "")
	key := s.of
	for word, made := range s.made {
		for ; made != 0; made &= made - 1 {
			at := word*wordBits + bits.TrailingZeros64(made)
			key.product, key.enc = WholeMenu+menu.Index(at/encodings), Encoding(at%encodings) //nolint:gosec // as put had them
			b.cache.Invalidate(key)
		}
	}
	s.made = nil
}
