package encoded

import (
	"fmt"
	"sync"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"larder.local/internal/menu"
)

// WholeMenu, PublishedMenu and ChangesOnly replace a dish's index in a Key: for the body of GET …/menu,
// of the published menu view, and of GET …/changes. A version has one ChangesOnly body for each Since.
const (
	WholeMenu     = menu.None
	PublishedMenu = WholeMenu - 1
	ChangesOnly   = WholeMenu - 2
)

// bodyOverhead is the approximate size of an entry without its body, in bytes.
const bodyOverhead = 320

// Key identifies one encoded body. It contains the content and the sync time,
// because a Redis that lost its data may use a version number twice.
type Key struct {
	Restaurant menu.RestaurantID
	Content    string // cache.Version.Published for PublishedMenu
	Version    int64
	Synced     int64 // milliseconds; distinguishes versions that have the same content and other stop lists
	Product    menu.Index
	Encoding   Encoding
	Modified   int64 // milliseconds; distinguishes the settings that a version is compiled with
	Since      int64 // for ChangesOnly: the version that is compared with Version
}

func (k Key) String() string {
	return fmt.Sprintf("%s %d %d %d %s %d %d %d", k.Restaurant, k.Version, k.Synced, k.Modified, k.Content, k.Product, k.Encoding, k.Since)
}

// Bodies holds encoded bodies in memory within a limit of bytes. It evicts the least used ones first
// (docs/decisions/0001-response-body-cache-and-compression.md). It is safe for concurrent use.
type Bodies struct {
	cache  store
	flight singleflight.Group
}

// store is an *otter.Cache[Key, *Representation]. If the field had that type, the compiler would generate
// the methods of the type again in every package that imports this package.
type store interface {
	GetIfPresent(key Key) (*Representation, bool)
	Set(key Key, r *Representation) (*Representation, bool)
	Invalidate(key Key) (*Representation, bool)
	WeightedSize() uint64
	CleanUp()
}

// NewBodies returns an empty cache with the given limit in bytes.
func NewBodies(memory int64) *Bodies {
	return &Bodies{cache: otter.Must(&otter.Options[Key, *Representation]{
		MaximumWeight: uint64(max(memory, 0)),
		Weigher: func(_ Key, r *Representation) uint32 {
			return uint32(min(len(r.Body)+bodyOverhead, 1<<30))
		},
		// Work runs in the caller, so that the cache starts no goroutines.
		Executor: func(work func()) { work() },
	})}
}

// Size returns the size of the bodies in bytes. It allocates nothing.
func (b *Bodies) Size() int64 { return int64(b.cache.WeightedSize()) }

// Get returns a body if it is in memory. It does not wait or allocate.
func (b *Bodies) Get(key Key) (*Representation, bool) { return b.cache.GetIfPresent(key) }

// Set keeps a body until it is evicted.
func (b *Bodies) Set(key Key, r *Representation) { b.cache.Set(key, r) }

// Build renders a body once for all concurrent callers and keeps it while its version is current.
func (b *Bodies) Build(key Key, version *VersionBodies, render func() (*Representation, error)) (*Representation, error) {
	built, err, _ := b.flight.Do(key.String(), func() (any, error) {
		if r, ok := b.Get(key); ok {
			return r, nil
		}
		r, err := render()
		if err != nil {
			return nil, err
		}
		version.Put(b, key, r)
		return r, nil
	})
	r, _ := built.(*Representation) // nil on an error
	return r, err
}

// VersionBodies tracks the bodies of one version, or of its published view, so that they are removed together. It stores
// no list of keys: the list would need more memory than the bodies, and cache.memory would not limit it. A nil
// *VersionBodies keeps nothing.
type VersionBodies struct {
	mu     sync.Mutex
	closed bool
	key    Key        // one of the keys; they differ only in dish and encoding
	last   menu.Index // the highest dish of any key
}

// Put keeps a body of the version, unless the version was cleared.
func (v *VersionBodies) Put(b *Bodies, key Key, r *Representation) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	v.key, v.last = key, max(v.last, key.Product)
	b.Set(key, r)
}

// Clear removes every body of the version. After Clear, Put keeps no bodies of the version.
func (v *VersionBodies) Clear(b *Bodies) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	key := v.key
	for key.Product = PublishedMenu; key.Product <= v.last; key.Product++ {
		for key.Encoding = Identity; int(key.Encoding) < encodings; key.Encoding++ {
			b.cache.Invalidate(key)
		}
	}
}
