// Package runlog keeps what is known of syncs: a record of each run, the index
// over all restaurants, the batches, and the notices that tell every instance of
// them (policies S7 and S8).
//
// Its invariant: a run has one record. It is changed by the holder of the
// restaurant's lease until the run ends, and by nobody afterwards. A run whose
// holder vanished is ended as failed by the first who reads it.
//
// Package sync writes runs and does batches; httpapi lists them and follows the
// notices. The script that ends a run also releases its lease and notes what was
// found of the current version. It belongs to package sync, and gets the text and
// the arguments of appendrun.lua from here. The package never syncs, and starts
// no goroutine.
package runlog

import (
	"crypto/rand"
	"embed"
	stdsync "sync"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
)

//go:embed appendrun.lua orphan.lua batchdone.lua
var luaFiles embed.FS

// The Lua scripts of the Log. Each is one step on the keys of one restaurant or
// of one batch. They get a bool as 1 or 0.
var (
	orphanScript    = redisdb.Script(luaFiles, "orphan.lua", AppendLua()) //nolint:gochecknoglobals // constant
	batchDoneScript = redisdb.Script(luaFiles, "batchdone.lua")           //nolint:gochecknoglobals // constant
)

// AppendLua returns the text of the Lua function that writes a finished run, for
// the script that ends one.
func AppendLua() string { return redisdb.Lua(luaFiles, "appendrun.lua") }

// Config is what a Log works with.
type Config struct {
	Redis *redisdb.DB
	// Runs is how many records of finished runs are kept a restaurant, Index how
	// many of the latest runs the list over all restaurants has.
	Runs, Index int
	// Unlisted reports whether the runs under an id are in no list and in no
	// notice. UnlistedRuns is how many of them are kept.
	Unlisted     func(id menu.RestaurantID) bool
	UnlistedRuns int
	// Restaurants returns the ids under which Find looks for a run that is older
	// than the index.
	Restaurants func() []menu.RestaurantID
	// Orphaned is called with a run that the Log has ended because its holder
	// vanished.
	Orphaned func(run Run)
	Clock    func() time.Time
	Log      logrus.FieldLogger
}

// Log keeps the records of runs and batches in Redis, and passes on the notices
// of them. It starts no goroutine. All methods may be called from any
// goroutine.
type Log struct {
	cfg    Config
	redis  redis.UniversalClient // never retries: scripts that must not run twice
	client redis.UniversalClient
	keys   cache.Keys
	ids    *ids
	feed   *noticeFeed
}

// New returns a Log. It does not touch Redis.
func New(cfg Config) *Log {
	return &Log{
		cfg: cfg, redis: cfg.Redis.NoRetry(), client: cfg.Redis.Client(), keys: cache.NewKeys(cfg.Redis.Prefix()),
		ids: newIDs(), feed: newFeed(),
	}
}

// NewID returns the id of a run that is asked for now.
func (l *Log) NewID(now time.Time) string { return l.ids.next(now) }

// ids makes the ids of runs and batches: ULIDs, which sort by time to the
// millisecond. Those of one process sort in the order in which they are made,
// within a millisecond and when the clock goes back too.
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

// IDTime returns the milliseconds since the epoch that a valid id begins with.
func IDTime(id string) int64 {
	return int64(ulid.MustParse(id).Time()) //nolint:gosec // 48 bits
}
