// Package runlog stores the history of syncs: a record of each run, the index over all restaurants, the
// batches, and the notices that inform every instance (policies S7 and S8).
//
// Invariant: a run has one record. Only the holder of the restaurant's lease changes it, until the run
// finishes. A finished record never changes. If the holder vanishes, the first reader finishes the run as failed.
//
// Package sync writes runs and executes batches; httpapi lists them and follows the notices. The script that
// finishes a run also releases its lease and updates the current version. It belongs to package sync, which
// gets appendrun.lua and its arguments from here. The package never syncs, and starts no goroutine.
package runlog

import (
	"crypto/rand"
	"embed"
	stdsync "sync"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

//go:embed appendrun.lua orphan.lua batchdone.lua
var luaFiles embed.FS

// The Lua scripts of the Log. Each is one atomic step on the keys of one restaurant
// or one batch. A bool argument is 1 or 0.
var (
	orphanScript    = redisdb.Script(luaFiles, "orphan.lua", AppendLua())
	batchDoneScript = redisdb.Script(luaFiles, "batchdone.lua")
)

// AppendLua returns the Lua function that writes a finished run, for the script that finishes one.
func AppendLua() string { return redisdb.Lua(luaFiles, "appendrun.lua") }

// Config configures a Log.
type Config struct {
	Redis *redisdb.DB
	Keys  cache.Keys
	// Runs is the number of finished runs kept for each restaurant. Index is the
	// number of latest runs in the list over all restaurants, and in that of changes.
	Runs, Index int
	// Unlisted reports whether the runs under an id are in no list and cause no
	// notices. UnlistedRuns is the number of them that are kept.
	Unlisted     func(id menu.RestaurantID) bool
	UnlistedRuns int
	// Restaurants returns the ids under which Find looks for a run that is older than the index.
	Restaurants func() []menu.RestaurantID
	// Orphaned is called with a run that the Log has finished because its holder vanished.
	Orphaned func(run Run)
	Clock    func() time.Time
	Log      logrus.FieldLogger
}

// Log stores the records of runs and batches in Redis, and distributes notices of
// them. It starts no goroutine. All methods may be called from any goroutine.
type Log struct {
	cfg    Config
	redis  redis.UniversalClient // without retries: scripts must not run twice
	client redis.UniversalClient
	keys   cache.Keys
	ids    *ids
	feed   *noticeFeed
}

// New returns a Log. It does not connect to Redis.
func New(cfg Config) *Log {
	return &Log{
		cfg:    cfg,
		redis:  cfg.Redis.NoRetry(),
		client: cfg.Redis.Client(),
		keys:   cfg.Keys,
		ids:    newIDs(),
		feed:   &noticeFeed{more: make(chan struct{})},
	}
}

// With returns the Log for the runs of a source, whose keys are given.
func (l *Log) With(keys cache.Keys) *Log {
	of := *l
	of.keys = keys
	return &of
}

// NewID returns the id of a run that is requested at now.
func (l *Log) NewID(now time.Time) string { return l.ids.next(now) }

// ids makes the ids of runs and batches: ULIDs, which sort by time to the millisecond. The ids of one process
// sort in the order of their creation, even within a millisecond and after the clock was set back.
type ids struct {
	mu      stdsync.Mutex
	ms      uint64
	entropy *ulid.MonotonicEntropy
}

func newIDs() *ids { return &ids{entropy: ulid.Monotonic(rand.Reader, 0)} }

func (d *ids) next(now time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ms = max(d.ms, uint64(max(now.UnixMilli(), 0)))
	id, err := ulid.New(d.ms, d.entropy)
	if err != nil { // more ids than a millisecond has
		d.ms++
		id = ulid.MustNew(d.ms, d.entropy)
	}
	return id.String()
}

func isID(id string) bool {
	_, err := ulid.ParseStrict(id)
	return err == nil
}

// firstID returns the lowest id of a time.
func firstID(at time.Time) string {
	var id ulid.ULID
	_ = id.SetTime(uint64(max(at.UnixMilli(), 0))) // fits until the year 10889
	return id.String()
}

// IDTime returns the time of a valid id, in milliseconds since the epoch.
func IDTime(id string) int64 {
	return int64(ulid.MustParse(id).Time())
}
