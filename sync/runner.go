package sync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	stdsync "sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/upstream"
)

// Source is the ordering service as far as syncs need it; *upstream.Client is
// one. restaurant "" asks for the connection's own menu view. Reads retry by
// themselves within ctx's deadline.
type Source interface {
	MenuView(ctx context.Context, restaurant string, seen upstream.Validator) (upstream.Menu, error)
	RejectionReasons(ctx context.Context) ([]upstream.Reason, error)
}

// Replica is the in-memory side of the cache; *cache.Replica is one.
type Replica interface {
	Peek(restaurant menu.RestaurantID) (*cache.Snapshot, bool)
	Offer(snapshot *cache.Snapshot)
}

// Observer is told of what metrics count. Its methods are called from several
// goroutines and must return at once.
type Observer interface {
	// RunFinished is called for every run that was recorded.
	RunFinished(run Run)
	// TickSkipped is called for every tick of a schedule that made no run.
	TickSkipped(restaurant menu.RestaurantID, reason SkipReason)
}

// SkipReason is why a tick made no run.
type SkipReason string

// The reasons of a skipped tick.
const (
	SkipBusy  SkipReason = "busy"  // the last run is unfinished, here or on another replica
	SkipTaken SkipReason = "taken" // another replica did this slot
	SkipRedis SkipReason = "redis" // Redis is gone: syncs pause (policy S5)
)

// Deps is what a Runner works with. Replica, Observer, Clock and Log may be
// left out.
type Deps struct {
	Config      Config
	Restaurants []Restaurant
	Connections []Connection
	Redis       *cache.Redis
	Store       *cache.Store
	Replica     Replica
	Observer    Observer
	Clock       func() time.Time
	Log         logrus.FieldLogger
}

// Runner does single passes and keeps their records. It starts no goroutine;
// a Scheduler calls it. All methods may be called from any goroutine.
type Runner struct {
	cfg      Config
	server   *cache.Redis
	redis    redis.UniversalClient // strict: scripts that must not run twice (trap 2)
	ordinary redis.UniversalClient // what the store reads with
	keys     keys
	scripts  scripts
	store    *cache.Store
	replica  Replica
	observer Observer
	clock    func() time.Time
	log      logrus.FieldLogger
	queue    *queue
	ids      ids
	health   *health
	feed     *feed
	batches  *openBatches
	set      targetSet

	mu      stdsync.Mutex
	flights map[string]*flight // by run id
}

// target is one menu that is kept: a restaurant's or a connection's own.
type target struct {
	Restaurant
	upstream string // the service's restaurantId; empty for a default menu
	source   Source
	schedule *Schedule
	reasons  bool         // not a menu but the connection's rejection reasons
	pending  atomic.Bool  // a tick or catch-up waits or runs here
	last     atomic.Value // string: how the last run here ended, see say
}

// targetSet is every target; it never changes.
type targetSet struct {
	restaurants []Restaurant
	menus       []*target // restaurants first, then default menus
	reasons     []*target
	byID        map[menu.RestaurantID]*target
}

// NewRunner checks schedules, time zones and connections and gives a Runner
// over the restaurants. It does not touch Redis. Errors: *ConfigError.
func NewRunner(d Deps) (*Runner, error) {
	d.Config.SetDefaults()
	if err := d.Config.Validate(); err != nil {
		return nil, err
	}
	set, err := newTargets(d)
	if err != nil {
		return nil, err
	}
	r := &Runner{
		cfg: d.Config, server: d.Redis, redis: d.Redis.Strict(), ordinary: d.Redis.Client(), keys: keys{d.Redis.Keys()}, scripts: newScripts(),
		store: d.Store, replica: d.Replica, observer: d.Observer, clock: d.Clock, log: d.Log,
		queue: newQueue(), feed: newFeed(), batches: newOpenBatches(), set: set, flights: map[string]*flight{},
	}
	if r.clock == nil {
		r.clock = time.Now
	}
	if r.log == nil {
		r.log = silent()
	}
	if r.observer == nil {
		r.observer = nobody{}
	}
	if r.replica == nil {
		r.replica = noReplica{}
	}
	r.health = newHealth(r.log)
	return r, nil
}

func newTargets(d Deps) (targetSet, error) {
	set := targetSet{
		restaurants: slices.Clone(d.Restaurants),
		byID:        make(map[menu.RestaurantID]*target, len(d.Restaurants)+len(d.Connections)),
	}
	zones := zones{}
	connections := make(map[string]Connection, len(d.Connections))
	for _, c := range d.Connections {
		connections[c.Name] = c
	}
	for i, restaurant := range set.restaurants {
		key := fmt.Sprintf("restaurants[%d]", i)
		if _, twice := set.byID[restaurant.ID]; twice {
			return set, &ConfigError{Key: key + ".id", Msg: fmt.Sprintf("restaurant %q stands twice", restaurant.ID)}
		}
		connection, ok := connections[restaurant.Connection]
		if !ok {
			return set, &ConfigError{Key: key + ".connection", Msg: fmt.Sprintf("no connection %q; there are: %s",
				restaurant.Connection, strings.Join(slices.Sorted(maps.Keys(connections)), ", "))}
		}
		if restaurant.Schedule == "" {
			restaurant.Schedule = d.Config.Schedule
		}
		zone, err := zones.load(restaurant.TimeZone)
		if err != nil {
			return set, &ConfigError{Key: key + ".time_zone", Msg: err.Error()}
		}
		schedule, err := parseSchedule(restaurant.Schedule, zone, string(restaurant.ID))
		if err != nil {
			return set, &ConfigError{Key: key + ".schedule", Msg: err.Error()}
		}
		t := &target{Restaurant: restaurant, upstream: string(restaurant.ID), source: connection.Source, schedule: schedule}
		set.menus = append(set.menus, t)
		set.byID[t.ID] = t
	}
	return set, set.addConnections(d)
}

// addConnections adds each connection's own menu and its rejection reasons,
// both on the default schedule.
func (s *targetSet) addConnections(d Deps) error {
	for _, c := range d.Connections {
		own := Restaurant{ID: cache.DefaultMenu(c.Name), Connection: c.Name, Schedule: d.Config.Schedule, Settings: c.Settings}
		if c.DefaultMenu {
			schedule, err := ParseSchedule(own.Schedule, "", string(own.ID))
			if err != nil {
				return &ConfigError{Key: "sync.schedule", Msg: err.Error()}
			}
			t := &target{Restaurant: own, source: c.Source, schedule: schedule}
			s.menus = append(s.menus, t)
			s.byID[t.ID] = t
		}
		own.ID += reasonsSuffix
		schedule, err := ParseSchedule(own.Schedule, "", string(own.ID))
		if err != nil {
			return &ConfigError{Key: "sync.schedule", Msg: err.Error()}
		}
		s.reasons = append(s.reasons, &target{Restaurant: own, source: c.Source, schedule: schedule, reasons: true})
	}
	return nil
}

// Restaurants gives the configured restaurants in their order.
func (r *Runner) Restaurants() []Restaurant { return slices.Clone(r.set.restaurants) }

// Catalogued gives everything that has a catalogue: the restaurants and the
// connections' own menus. It is what a cache.Replica watches.
func (r *Runner) Catalogued() []menu.RestaurantID {
	ids := make([]menu.RestaurantID, len(r.set.menus))
	for i, t := range r.set.menus {
		ids[i] = t.ID
	}
	return ids
}

// Known gives a configured restaurant. Connections' own menus are none.
func (r *Runner) Known(id menu.RestaurantID) (Restaurant, bool) {
	t, ok := r.set.byID[id]
	if !ok || t.upstream == "" {
		return Restaurant{}, false
	}
	return t.Restaurant, true
}

// Keeps tells whether a menu is kept under the id: a restaurant's or a
// connection's own.
func (r *Runner) Keeps(id menu.RestaurantID) bool {
	_, ok := r.set.byID[id]
	return ok
}

// Stale tells whether a version has missed so many of its schedules that
// readers should know (policy S5).
func (r *Runner) Stale(v cache.Version) bool {
	t, ok := r.set.byID[v.Restaurant]
	if !ok {
		return true // nobody keeps it fresh
	}
	return t.schedule.Missed(r.cfg.StaleAfter, v.CheckedAt, r.clock())
}

// target finds what is synced under an id, or says which ids there are.
func (r *Runner) target(id menu.RestaurantID) (*target, error) {
	if t, ok := r.set.byID[id]; ok {
		return t, nil
	}
	return nil, &UnknownRestaurantError{ID: id, Known: r.known()}
}

func (r *Runner) known() []menu.RestaurantID {
	ids := make([]menu.RestaurantID, len(r.set.restaurants))
	for i, restaurant := range r.set.restaurants {
		ids[i] = restaurant.ID
	}
	return ids
}

// UnknownRestaurantError is a restaurant that the configuration does not have.
type UnknownRestaurantError struct {
	ID    menu.RestaurantID
	Known []menu.RestaurantID // the ids that exist
}

// Error names the unknown id.
func (e *UnknownRestaurantError) Error() string {
	return fmt.Sprintf("sync: no restaurant %q", string(e.ID))
}

// ErrUnknownRun is a run of which there is no record (any more).
var ErrUnknownRun = errors.New("sync: no such run")

type nobody struct{}

func (nobody) RunFinished(Run)                           {}
func (nobody) TickSkipped(menu.RestaurantID, SkipReason) {}

type noReplica struct{}

func (noReplica) Peek(menu.RestaurantID) (*cache.Snapshot, bool) { return nil, false }
func (noReplica) Offer(*cache.Snapshot)                          {}

func silent() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}
