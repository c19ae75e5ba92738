package cache

import (
	"fmt"
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

// bodyKey names one encoded body. The content and when it was pulled are part of
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

// bodies are the encoded bodies in memory, bounded by their bytes. The least used
// are evicted first (docs/decisions/0001-ready-bodies.md).
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

// Memory is the memory of the encoded bodies of a Replica, in bytes.
type Memory struct {
	Used  int64
	Limit int64 // of ReplicaConfig.Memory
}

// Memory returns how much memory the encoded bodies use. It allocates nothing.
func (r *Replica) Memory() Memory {
	return Memory{Used: int64(r.bodies.cache.WeightedSize()), Limit: r.cfg.Memory} //nolint:gosec // bounded by Limit
}

func (b *bodies) get(key bodyKey) (*Representation, bool) { return b.cache.GetIfPresent(key) }

// build renders a body once for all concurrent callers and keeps it while its
// version is current.
func (b *bodies) build(key bodyKey, version *versionBodies, render func() (*Representation, error)) (*Representation, error) {
	built, err, _ := b.flight.Do(key.String(), func() (any, error) {
		if r, ok := b.get(key); ok {
			return r, nil
		}
		r, err := render()
		if err != nil {
			return nil, err
		}
		version.put(b, key, r)
		return r, nil
	})
	if err != nil {
		return nil, err
	}
	r, _ := built.(*Representation)
	return r, nil
}

// versionBodies lists the bodies of one version, so that they are removed with
// it. It keeps no list of keys: that would need more memory than the bodies, and
// does not count against cache.memory. A nil *versionBodies keeps nothing.
type versionBodies struct {
	mu        sync.Mutex
	closed    bool
	key       bodyKey    // one of the keys; they differ only in dish and encoding
	last      menu.Index // the highest dish of any key
	published bodyKey    // one of the keys of the view as published, of one Published
}

func (v *versionBodies) put(b *bodies, key bodyKey, r *Representation) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	if key.product == PublishedMenu {
		v.keepPublished(b, key.content)
		v.published = key
	} else {
		v.key, v.last = key, max(v.last, key.product)
	}
	b.cache.Set(key, r)
}

// dropPublished removes the bodies of the view as published, except those of the
// given Published.
func (v *versionBodies) dropPublished(b *bodies, published string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keepPublished(b, published)
}

func (v *versionBodies) keepPublished(b *bodies, published string) {
	if v.published.content != published {
		b.drop(v.published)
	}
}

// clear removes every body of the version; later ones are not kept.
func (v *versionBodies) clear(b *bodies) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	b.drop(v.published)
	key := v.key
	for key.product = WholeMenu; key.product <= v.last; key.product++ {
		b.drop(key)
	}
}

// drop removes what the key names in every encoding.
func (b *bodies) drop(key bodyKey) {
	for key.enc = Identity; int(key.enc) < encodings; key.enc++ {
		b.cache.Invalidate(key)
	}
}
