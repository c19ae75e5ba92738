// Package sync keeps catalogues fresh: it pulls each restaurant's menu view on
// its schedule, and publishes what is whole, plausible and new.
//
// Its one invariant: what readers see is replaced only by a menu that was
// fetched whole, decoded, compiled and let through by the guard, and only by
// the holder of the restaurant's lease. Everything else leaves the last good
// menu where it is and says why in the run's record (policies S2 to S6).
//
// A Runner does single runs; a Scheduler owns the cron entries and the goroutines
// that call it. Package runlog keeps the records of runs and batches. httpapi and
// cmd use all of them; the package serves no HTTP itself. Importers alias it
// menusync.
package sync

import (
	"context"
	"embed"
	"errors"
	"fmt"
	stdsync "sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/singleflight"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/silentlog"
	"larder/internal/sleep"
	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/sync/runlog"
)

//go:embed acquire.lua renew.lua finish.lua start.lua
var luaFiles embed.FS

// The Lua scripts. Each is one step on the keys of one restaurant.
// They get a bool as 1 or 0.
var (
	acquireScript = redisdb.Script(luaFiles, "acquire.lua")                                        //nolint:gochecknoglobals // constant
	renewScript   = redisdb.Script(luaFiles, "renew.lua")                                          //nolint:gochecknoglobals // constant
	finishScript  = redisdb.Script(luaFiles, "finish.lua", cache.CheckedLua(), runlog.AppendLua()) //nolint:gochecknoglobals // constant
	startScript   = redisdb.Script(luaFiles, "start.lua")                                          //nolint:gochecknoglobals // constant
)

// Source is the ordering service as far as syncs need it; *upstream.Client is
// one. restaurant "" asks for the connection's own menu view, of most bytes at
// most. Reads retry by themselves within ctx's deadline.
type Source interface {
	MenuView(ctx context.Context, restaurant string, seen upstream.Validator, most int64) (upstream.Menu, error)
	RejectionReasons(ctx context.Context) ([]upstream.Reason, error)
}

// Replica is the in-memory side of the cache; *replica.Replica is one.
type Replica interface {
	Cached(restaurant menu.RestaurantID) (*cache.Snapshot, bool)
	Install(snapshot *cache.Snapshot)
}

// Observer is called with what metrics count. Its methods are called from several
// goroutines and must return at once.
type Observer interface {
	// RunFinished is called for every run that was recorded.
	RunFinished(run runlog.Run)
	// TickSkipped is called for every tick of a schedule that made no run.
	TickSkipped(restaurant menu.RestaurantID, reason SkipReason)
}

// SkipReason is why a tick made no run.
type SkipReason string

// The reasons of a skipped tick.
const (
	SkipBusy  SkipReason = "busy"  // the last run is unfinished, here or on another replica
	SkipTaken SkipReason = "taken" // another replica did this slot
	SkipRedis SkipReason = "redis" // Redis is gone or refuses writes: syncs pause (policy S5)
)

// Deps is what a Runner works with. Observer, Clock and Log may be left out.
type Deps struct {
	Config      Config
	Restaurants []Restaurant
	Connections []Connection
	Redis       *redisdb.DB
	Store       *cache.Store
	Replica     Replica
	Observer    Observer
	Tracing     *tracing.Tracing // nil: off
	Clock       func() time.Time
	Log         logrus.FieldLogger
}

// Runner does single passes and keeps their records. It starts no goroutine;
// a Scheduler calls it. All methods may be called from any goroutine.
type Runner struct {
	cfg       Config
	server    *redisdb.DB
	redis     redis.UniversalClient // never retries: scripts that must not run twice
	keys      cache.Keys
	store     *cache.Store
	replica   Replica
	observer  Observer
	tracing   *tracing.Tracing
	clock     func() time.Time
	log       logrus.FieldLogger
	queue     *queue
	runs      *runlog.Log
	health    *health
	upstreams upstreamHealth
	newBatch  sleep.Signal // set when a batch was started here
	budget    *budget

	reasonsAsked singleflight.Group
	reasonsAt    stdsync.Map // connection to the time.Time of the last RefreshReasons

	replacing stdsync.Mutex             // one Replace at a time
	set       atomic.Pointer[targetSet] // what is kept now
	replaced  sleep.Signal              // set when cron has not followed set yet

	flights flights
}

// NewRunner checks schedules, time zones and connections and gives a Runner
// over the restaurants. It does not touch Redis. Errors: *setting.Error.
func NewRunner(d Deps) (*Runner, error) {
	d.Config.SetDefaults()
	if err := d.Config.Validate(); err != nil {
		return nil, err
	}
	set, err := newTargets(d.Connections, d.Restaurants, d.Config.Schedule, nil)
	if err != nil {
		return nil, err
	}
	r := &Runner{
		cfg: d.Config, server: d.Redis, redis: d.Redis.NoRetry(), keys: cache.NewKeys(d.Redis.Prefix()),
		store: d.Store, replica: d.Replica, observer: d.Observer, tracing: d.Tracing, clock: d.Clock, log: d.Log,
		queue:     newQueue(d.Config.Concurrency, d.Connections),
		upstreams: upstreamHealth{of: map[string]upstreamState{}}, budget: newBudget(d.Config.Memory),
		newBatch: sleep.NewSignal(), replaced: sleep.NewSignal(),
		flights: flights{runs: map[string]*flight{}, asked: map[menu.RestaurantID]string{}},
	}
	r.set.Store(set)
	if r.clock == nil {
		r.clock = time.Now
	}
	if r.log == nil {
		r.log = silentlog.New()
	}
	if r.observer == nil {
		r.observer = nopObserver{}
	}
	r.health = newHealth(r.log)
	r.runs = runlog.New(runlog.Config{
		Redis: d.Redis, Runs: d.Config.Runs, Index: d.Config.RunIndex, Unlisted: isReasons, UnlistedRuns: reasonRuns,
		Restaurants: func() []menu.RestaurantID { return r.set.Load().catalogued },
		Orphaned:    r.orphaned, Clock: r.clock, Log: r.log,
	})
	return r, nil
}

// Log returns the records of runs and batches.
func (r *Runner) Log() *runlog.Log { return r.runs }

// RedisRefusesWrites returns why Redis takes no writes, as the Scheduler last found it; nil
// while it does, while it does not answer at all, and before a Scheduler runs.
func (r *Runner) RedisRefusesWrites() *redisdb.RefusedError {
	refusal, _ := errors.AsType[*redisdb.RefusedError](r.health.lastFault())
	return refusal
}

// RedisDown reports whether Redis did not answer the Scheduler's last question.
func (r *Runner) RedisDown() bool {
	fault := r.health.lastFault()
	return fault != nil && !errors.As(fault, new(*redisdb.RefusedError))
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

type nopObserver struct{}

func (nopObserver) RunFinished(runlog.Run)                    {}
func (nopObserver) TickSkipped(menu.RestaurantID, SkipReason) {}
