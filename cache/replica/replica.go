package replica

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/singleflight"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/silentlog"
	"larder.local/internal/sleep"
)

// loadWithin is the timeout of one load. A caller may stop waiting earlier.
const loadWithin = 10 * time.Second

// Config configures a Replica.
type Config struct {
	// Restaurants returns the restaurants to keep in memory. It is called at every poll. If it is nil,
	// memory has only the restaurants that somebody has read.
	Restaurants func() []menu.RestaurantID
	// Allowed reports whether a restaurant may be in memory. nil allows all. If a restaurant is no
	// longer allowed, the caller must call Drop.
	Allowed func(menu.RestaurantID) bool
	// DataLost is called with restaurants whose served version Redis has lost, if this instance is the first to detect it,
	// and with those whose content cannot be loaded. They should be synced again (policy S2a). The function must return
	// immediately. It may be nil.
	DataLost func([]menu.RestaurantID)
	// Setup returns what this instance's configuration says about a menu (policies O16 and S9). nil: menus are served with
	// the default settings.
	Setup func(menu.RestaurantID) Setup
	// Sources returns the source of a connection and its former names. nil: orders may use any menu.
	Sources func(connection string) []string
	// Connections are the connections whose rejection reasons are kept in memory.
	Connections []string

	Memory int64         // bytes of encoded bodies; 0 means 512 MiB
	Poll   time.Duration // 0 means 5 s
	Clock  func() time.Time
	Log    logrus.FieldLogger // nil means none
}

// Setup is what an instance's configuration says about a menu.
type Setup struct {
	Settings menu.Settings
	Name     string // of the restaurant; empty: that of the menu

	snoozed map[string]time.Time // by operators now
}

// Replica has the catalogues in the memory of this process, and serves all reads from there, also while Redis
// is down (policy S5). It reads from Redis only what is not in memory. It is safe for concurrent use.
type Replica struct {
	store    *cache.Store
	cfg      Config
	contents *contentCache
	bodies   *encoded.Bodies
	encoder  *encoded.Encoder

	packedContents weakMap[string, []byte] // the contents of packedViews by hash, compressed as in Redis

	slots   slots
	reasons sync.Map           // connection to its rejection reasons, []byte
	flight  singleflight.Group // the key of a catalogue is the restaurant's id, other keys have a '/' or a space

	readers readers // that wait for a load

	// Availability has what operators have said about restaurants.
	Availability *Availability

	noticeQueue *queue       // restaurants with notices, not yet loaded
	pollNow     sleep.Signal // requests an immediate poll
	foreign     atomic.Int64 // menus of other sources at the last poll
}

// New returns an empty Replica. The Replica serves reads immediately. It loads new versions while Run runs.
func New(store *cache.Store, cfg Config) *Replica {
	cfg.Memory = cmp.Or(max(cfg.Memory, 0), int64(cache.DefaultMemory))
	cfg.Poll = cmp.Or(max(cfg.Poll, 0), cache.DefaultPoll)
	cfg.Log = cmp.Or(cfg.Log, silentlog.New())
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Allowed == nil {
		cfg.Allowed = func(menu.RestaurantID) bool { return true }
	}
	if cfg.DataLost == nil {
		cfg.DataLost = func([]menu.RestaurantID) {}
	}
	if cfg.Sources == nil {
		cfg.Sources = func(string) []string { return nil }
	}
	if cfg.Restaurants == nil {
		cfg.Restaurants = func() []menu.RestaurantID { return nil }
	}
	if cfg.Setup == nil {
		cfg.Setup = func(menu.RestaurantID) Setup { return Setup{Settings: menu.DefaultSettings()} }
	}
	bodies := encoded.NewBodies(cfg.Memory)
	r := &Replica{
		store: store,
		cfg:   cfg,
		contents: &contentCache{load: func(ctx context.Context, key contentKey) (*menu.Content, error) {
			return store.Content(ctx, key.hash, &key.settings)
		}},
		bodies:  bodies,
		encoder: encoded.NewEncoder(),
		slots: slots{
			store:   store,
			allowed: cfg.Allowed,
			bodies:  bodies,
			misses:  misses{clock: cfg.Clock, all: make(map[string]miss)},
			watches: watches{all: make(map[menu.RestaurantID][]*Watch)},
		},
		noticeQueue: newQueue(),
		pollNow:     sleep.NewSignal(),
	}
	r.Availability = newAvailability(r)
	r.slots.setup = func(id menu.RestaurantID) Setup {
		of := cfg.Setup(id)
		of.snoozed = r.Availability.now(id).snoozed
		return of
	}
	return r
}

// loadOnce returns what find has in memory, or the result of load. Concurrent callers with the same key share one load. If it
// fails, later callers get the same error for missLife.
func loadOnce[T any](
	ctx context.Context, r *Replica, key string, find func() (T, bool), load func(context.Context) (T, error),
) (T, error) {
	if value, ok := find(); ok {
		return value, nil
	}
	var none T
	if err := cmp.Or(ctx.Err(), r.slots.misses.find(key)); err != nil {
		return none, err
	}
	return shared(ctx, &r.flight, key, func(ctx context.Context) (T, error) {
		if value, ok := find(); ok {
			return value, nil
		}
		defer r.readers.enter()()
		value, err := load(ctx)
		if err != nil {
			r.slots.misses.note(key, err)
		}
		return value, err
	})
}

// shared returns the result of load. Concurrent callers with the same key share one call. The end of ctx ends only this
// caller's wait.
func shared[T any](
	ctx context.Context, flight *singleflight.Group, key string, load func(context.Context) (T, error),
) (value T, err error) {
	result := flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadWithin)
		defer cancel()
		return load(ctx)
	})
	select {
	case <-ctx.Done():
		return value, ctx.Err()
	case loaded := <-result:
		value, _ = loaded.Val.(T)
		return value, loaded.Err
	}
}

// load loads the restaurant's current version from Redis, and returns the version that is then in memory.
func (r *Replica) load(ctx context.Context, restaurant menu.RestaurantID) (*cache.Snapshot, error) {
	if err := r.Availability.Read(ctx, restaurant); err != nil {
		return nil, err
	}
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
