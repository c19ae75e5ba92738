// Package sync keeps catalogues fresh: it fetches each restaurant's menu view on its schedule, and
// publishes it if it is complete, plausible and new.
//
// Invariant: only the holder of the restaurant's lease replaces the served menu, and only with a menu
// that was completely fetched, decoded, compiled and passed by the guard. Otherwise the last good menu
// stays, and the run's record has the reason (policies S2 to S6).
//
// A Runner executes single runs under a lease and keeps their records. A Scheduler decides which runs there are: it owns the
// ticks, the queue, the targets and the goroutines, and watches Redis.
// Package runlog keeps the records of runs and batches. httpapi and cmd use all of them; the package
// serves no HTTP itself. Importers alias it menusync.
package sync

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	stdsync "sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/sleep"
	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
	"larder.local/sync/runlog"
)

//go:embed acquire.lua renew.lua finish.lua start.lua
var luaFiles embed.FS

// The Lua scripts. Each is one atomic step on the keys of one restaurant. A bool argument is 1 or 0.
var (
	acquireScript = redisdb.Script(luaFiles, "acquire.lua")
	renewScript   = redisdb.Script(luaFiles, "renew.lua")
	finishScript  = redisdb.Script(luaFiles, "finish.lua", cache.CheckedLua(), runlog.AppendLua())
	startScript   = redisdb.Script(luaFiles, "start.lua")
)

// Source is the part of the ordering service's client that syncs need;
// *upstream.Client implements it. restaurant "" requests the default menu. most
// limits the body, in bytes. Both retry within ctx's deadline.
type Source interface {
	MenuView(ctx context.Context, restaurant string, seen upstream.Validator, most int64) (upstream.Menu, error)
	RejectionReasons(ctx context.Context) ([]upstream.Reason, error)
	AskTokenAgain() time.Duration
}

// Replica is the in-memory side of the cache; *replica.Replica implements it.
type Replica interface {
	Cached(restaurant menu.RestaurantID) (*cache.Snapshot, bool)
	Install(snapshot *cache.Snapshot)
}

// Observer receives the events that metrics count. Its methods are called from
// several goroutines and must return immediately.
type Observer interface {
	// RunFinished is called for every recorded run.
	RunFinished(run runlog.Run)
	// TickSkipped is called for every tick of a schedule without a run.
	TickSkipped(restaurant menu.RestaurantID, reason SkipReason)
}

// SkipReason is why a tick made no run.
type SkipReason string

// The reasons of a skipped tick.
const (
	SkipBusy  SkipReason = "busy"  // the last run is unfinished, on any instance
	SkipTaken SkipReason = "taken" // another instance executed this tick
	SkipRedis SkipReason = "redis" // Redis is down or refuses writes: syncs pause (policy S5)
)

// Deps are the dependencies of a Runner. Recent, Observer, Tracing, Clock and Log are optional.
type Deps struct {
	Config      Config
	Restaurants []Restaurant
	Connections []Connection
	Redis       *redisdb.DB
	Store       *cache.Store
	Replica     Replica
	// Recent returns the restaurants with an order in the last hour; nil if they are not known.
	Recent   func(context.Context) map[menu.RestaurantID]bool
	Observer Observer
	Tracing  *tracing.Tracing // nil: off
	Clock    func() time.Time
	Log      logrus.FieldLogger
}

// Runner executes single runs and keeps their records. It starts no goroutine; a
// Scheduler calls it. All methods may be called from any goroutine.
type Runner struct {
	deps      Deps
	redis     redis.UniversalClient     // without retries: scripts must not run twice
	set       atomic.Pointer[targetSet] // the current targets; the Scheduler replaces them
	runs      *runlog.Log
	flights   flights
	refreshes refreshes
	breakers  map[string]*breaker // by connection
	budget    *budget
	suspected sleep.Signal // set when a run failed to reach Redis

	reasonsAsked singleflight.Group // by connection

	reading  stdsync.Mutex // guards lastRead, and readAt of the targets
	lastRead time.Time     // the readAt of the last configuration that has one
}

// NewRunner checks schedules, time zones and connections, and returns a Runner for
// the restaurants. It does not connect to Redis. Errors: *setting.Error.
func NewRunner(d Deps) (*Runner, error) {
	d.Config.SetDefaults()
	if err := d.Config.Validate(); err != nil {
		return nil, err
	}
	set, err := newTargets(d.Connections, d.Restaurants, d.Config.Schedule, &targetSet{store: d.Store})
	if err != nil {
		return nil, err
	}
	d.Observer = cmp.Or[Observer](d.Observer, nopObserver{})
	d.Log = cmp.Or(d.Log, silentlog.New())
	if d.Clock == nil {
		d.Clock = time.Now
	}
	r := &Runner{
		deps:      d,
		redis:     d.Redis.NoRetry(),
		flights:   flights{runs: map[string]flight{}, asked: map[menu.RestaurantID]string{}},
		refreshes: refreshes{last: map[menu.RestaurantID]*MenuRefresh{}},
		breakers:  make(map[string]*breaker, len(d.Connections)),
		budget:    &budget{places: semaphore.NewWeighted(int64(d.Config.Memory)), size: int64(d.Config.Memory)},
		suspected: sleep.NewSignal(),
	}
	r.set.Store(set)
	for _, c := range d.Connections {
		r.breakers[c.Name] = &breaker{log: d.Log.WithField("connection", c.Name), failed: map[menu.RestaurantID]bool{}}
	}
	r.runs = runlog.New(runlog.Config{
		Redis:        d.Redis,
		Keys:         d.Store.Keys(),
		Runs:         d.Config.Runs,
		Index:        d.Config.RunIndex,
		Unlisted:     isReasons,
		UnlistedRuns: reasonRuns,
		Restaurants:  func() []menu.RestaurantID { return r.set.Load().catalogued },
		Orphaned:     r.orphaned,
		Clock:        d.Clock,
		Log:          d.Log,
	})
	return r, nil
}

// Log returns the records of runs and batches.
func (r *Runner) Log() *runlog.Log { return r.runs }

// UnknownRestaurantError means that the configuration does not contain a restaurant.
type UnknownRestaurantError struct {
	ID    menu.RestaurantID
	Total int // restaurants that exist
}

func (e *UnknownRestaurantError) Error() string {
	return fmt.Sprintf("sync: no restaurant %q", string(e.ID))
}

type nopObserver struct{}

func (nopObserver) RunFinished(runlog.Run)                    {}
func (nopObserver) TickSkipped(menu.RestaurantID, SkipReason) {}
