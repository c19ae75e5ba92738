package cache

import (
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"larder/internal/redisdb"
)

var (
	// ErrNoCatalogue says that the restaurant has no catalogue (yet), or that
	// the version or content asked for is not kept.
	ErrNoCatalogue = errors.New("no catalogue")
	// ErrVersionGone says that a version is not kept (any more), or has not been
	// published yet.
	ErrVersionGone = errors.New("the version is not kept")
	// ErrFenced says that another holder of the restaurant's lease has taken a
	// higher fencing number since (policy S2): the publisher must give up.
	ErrFenced = errors.New("fenced off by a newer lease")
	// ErrStale says that the version compiled against is no longer current
	// (policy S2): read the current version and start again.
	ErrStale = errors.New("another version was published meanwhile")
	// ErrNoReasons says that no rejection reasons are kept for the connection.
	ErrNoReasons = errors.New("no rejection reasons")
	// ErrCorrupt says that Redis holds something that larder did not write.
	ErrCorrupt = errors.New("unreadable data in redis")
)

// unavailable wraps a failure of Redis; a miss must be handled before.
func unavailable(doing string, err error) error {
	return fmt.Errorf("cache: %s: %w: %w", doing, redisdb.ErrUnavailable, err)
}

// orMiss makes redis.Nil the given miss and everything else unavailable.
func orMiss(doing string, miss, err error) error {
	if errors.Is(err, redis.Nil) {
		return fmt.Errorf("cache: %s: %w", doing, miss)
	}
	return unavailable(doing, err)
}
