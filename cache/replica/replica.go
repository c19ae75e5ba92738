package replica

import (
	"context"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/singleflight"

	"larder/cache"
	"larder/cache/encoded"
	"larder/internal/menu"
	"larder/internal/silentlog"
	"larder/internal/sleep"
)

// loadWithin limits a load; a caller may give up earlier.
const loadWithin = 10 * time.Second

// Config configures a Replica.
type Config struct {
	// Restaurants returns the restaurants to keep in memory; it is called at every
	// poll. nil means only those that are read.
	Restaurants func() []menu.RestaurantID
	// Allowed reports whether a restaurant may be in memory; nil allows all. The
	// caller passes a restaurant that it no longer allows to Drop.
	Allowed func(menu.RestaurantID) bool
	// DataLost is called once with restaurants whose served version Redis has lost. They should be
	// synced again (policy S2a). It must return immediately. It may be nil.
	DataLost func([]menu.RestaurantID)
	// Connections are those whose rejection reasons are kept in memory.
	Connections []string

	Memory int64         // bytes of encoded bodies; 0 means 512 MiB
	Poll   time.Duration // 0 means 5 s
	Clock  func() time.Time
	Log    logrus.FieldLogger // nil means none
}

// Replica holds the catalogues in this process's memory, from which all reads are served. It reads from Redis
// only what is not in memory, and keeps serving when Redis is down (policy S5). It is safe for concurrent use.
type Replica struct {
	store    *cache.Store
	cfg      Config
	contents *contentCache
	bodies   *encoded.Bodies
	encoder  *encoded.Encoder

	slots     slots
	reasons   sync.Map // connection to its rejection reasons, []byte
	flight    singleflight.Group
	published singleflight.Group // of published views and of changes

	readers readers // that wait

	noticeQueue *queue       // restaurants with notices, not yet loaded
	pollNow     sleep.Signal // requests an immediate poll
}

// New returns an empty Replica. It serves reads immediately, and loads new versions while Run runs.
func New(store *cache.Store, cfg Config) *Replica {
	if cfg.Memory <= 0 {
		cfg.Memory = int64(cache.DefaultMemory)
	}
	if cfg.Poll <= 0 {
		cfg.Poll = cache.DefaultPoll
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = silentlog.New()
	}
	if cfg.Allowed == nil {
		cfg.Allowed = func(menu.RestaurantID) bool { return true }
	}
	if cfg.DataLost == nil {
		cfg.DataLost = func([]menu.RestaurantID) {}
	}
	if cfg.Restaurants == nil {
		cfg.Restaurants = func() []menu.RestaurantID { return nil }
	}
	bodies := encoded.NewBodies(cfg.Memory)
	return &Replica{
		store:    store,
		cfg:      cfg,
		contents: newContentCache(store.Content),
		bodies:   bodies,
		encoder:  encoded.NewEncoder(),
		slots: slots{
			allowed: cfg.Allowed,
			bodies:  bodies,
			misses:  misses{clock: cfg.Clock, all: make(map[menu.RestaurantID]miss)},
			watches: watches{all: make(map[menu.RestaurantID]map[*Watch]struct{})},
		},
		noticeQueue: newQueue(),
		pollNow:     sleep.NewSignal(),
	}
}

// loading is a load that concurrent callers with the same key share.
type loading[T any] struct {
	flight *singleflight.Group
	key    string
	miss   menu.RestaurantID // its name among the misses
	find   func() (T, bool)  // returns the value if it is loaded already
	load   func(context.Context) (T, error)
}

// loadOnce returns what l.load returns. After a failure it is not called again for a
// moment. ctx ends only this caller's wait.
func loadOnce[T any](ctx context.Context, r *Replica, l loading[T]) (T, error) {
	var none T
	if err := r.slots.misses.find(l.miss); err != nil {
		return none, err
	}
	flight := l.flight.DoChan(l.key, func() (any, error) {
		if value, ok := l.find(); ok {
			return value, nil
		}
		defer r.readers.enter()()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadWithin)
		defer cancel()
		value, err := l.load(ctx)
		if err != nil {
			r.slots.misses.note(l.miss, err)
			return nil, err
		}
		return value, nil
	})
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case loaded := <-flight:
		value, _ := loaded.Val.(T)
		return value, loaded.Err
	}
}

// load loads the restaurant's current version from Redis and returns the one that is in memory then.
func (r *Replica) load(ctx context.Context, restaurant menu.RestaurantID) (*cache.Snapshot, error) {
	version, err := r.store.Current(ctx, restaurant)
	if err != nil {
		return nil, err
	}
	if err := r.apply(ctx, version); err != nil {
		return nil, err
	}
	if snapshot, ok := r.Cached(restaurant); ok {
		return snapshot, nil
	}
	return nil, cache.ErrNoCatalogue
}
