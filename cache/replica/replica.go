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

// loadWithin bounds a load; whoever waits may give up earlier.
const loadWithin = 10 * time.Second

// Config is what a Replica needs beside its cache.Store.
type Config struct {
	// Restaurants are those to keep in memory; asked at every poll. nil means
	// only those that readers ask for.
	Restaurants func() []menu.RestaurantID
	// Allowed tells whether a restaurant may stand in memory; nil means that any
	// may. What it no longer keeps must be handed to Drop.
	Allowed func(menu.RestaurantID) bool
	// DataLost is called with restaurants of which Redis has lost the version that
	// is served here, once each time: they should be pulled again (policy S2a).
	// It must return at once. It may be nil.
	DataLost func([]menu.RestaurantID)
	// Connections are those whose rejection reasons are kept in memory.
	Connections []string

	Memory int64         // bytes of encoded bodies; 0 means 512 MiB
	Poll   time.Duration // 0 means 5 s
	Clock  func() time.Time
	Log    logrus.FieldLogger // nil means none
}

// Replica is the catalogues in this process's memory, where every read is
// answered from. It asks Redis only for what it does not hold, and goes on
// answering when Redis is gone (policy S5). It is safe for concurrent use.
type Replica struct {
	store    *cache.Store
	cfg      Config
	contents *contentCache
	bodies   *encoded.Bodies
	encoder  *encoded.Encoder

	slots     slots
	reasons   sync.Map // connection to its rejection reasons, []byte
	flight    singleflight.Group
	published singleflight.Group // of views as published, and of changes

	readers readers // who wait

	noticeQueue *queue       // by notices, not yet loaded
	pollNow     sleep.Signal // asks for a poll before its time
}

// New makes an empty Replica. It answers reads at once, and learns of
// new versions while Run runs.
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

// loadOnce returns what load returns, called once for all who ask for the key at
// the same time, and not again for a moment where it fails. found looks whether
// that is needed; miss names it among the misses. ctx ends this caller's wait
// only.
func loadOnce[T any](
	ctx context.Context, r *Replica, flight *singleflight.Group, key string, miss menu.RestaurantID,
	found func() (T, bool), load func(context.Context) (T, error),
) (T, error) {
	var none T
	if err := r.slots.misses.find(miss); err != nil {
		return none, err
	}
	loading := flight.DoChan(key, func() (any, error) {
		if value, ok := found(); ok {
			return value, nil
		}
		defer r.readers.enter()()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadWithin)
		defer cancel()
		value, err := load(ctx)
		if err != nil {
			r.slots.misses.note(miss, err)
			return nil, err
		}
		return value, nil
	})
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case loaded := <-loading:
		value, _ := loaded.Val.(T)
		return value, loaded.Err
	}
}

// load takes the restaurant's current version from Redis into memory and
// gives what stands there then.
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
