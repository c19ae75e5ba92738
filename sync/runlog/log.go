package runlog

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
)

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

// NoticeChannel returns the channel that is notified of the runs under an id;
// empty where they are unlisted.
func (l *Log) NoticeChannel(id menu.RestaurantID) string {
	if l.cfg.Unlisted(id) {
		return ""
	}
	return l.keys.RunNotices()
}

// AddToIndex puts a run into the index over all restaurants.
func (l *Log) AddToIndex(ctx context.Context, pipe redis.Pipeliner, run *Run) {
	pipe.ZAdd(ctx, l.keys.RunIndex(), redis.Z{Member: run.ID + " " + string(run.Restaurant)})
	pipe.ZRemRangeByRank(ctx, l.keys.RunIndex(), 0, int64(-l.cfg.Index-1))
}
