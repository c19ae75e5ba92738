package cache

import (
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
)

var (
	// ErrNoCatalogue means that the restaurant has no catalogue yet, or that the
	// requested version or content is not stored.
	ErrNoCatalogue = errors.New("no catalogue")
	// ErrVersionGone means that a version is not in the history, or is not published yet.
	ErrVersionGone = errors.New("the version is not in the history")
	// ErrFenced means that a later lease of the restaurant has a higher fence (policy S2). The publisher must give up.
	ErrFenced = errors.New("fenced off by a newer lease")
	// ErrStale means that the version that the publisher started from is no longer current (policy S2).
	// The publisher reads the current version and starts again.
	ErrStale = errors.New("another version was published in the meantime")
	// ErrNoReasons means that no rejection reasons are stored for the connection.
	ErrNoReasons = errors.New("no rejection reasons")
	// ErrCorrupt means that Redis holds a value that larder did not write.
	ErrCorrupt = errors.New("unreadable data in redis")
)

// unavailable wraps an error of Redis; nil stays nil. The caller handles redis.Nil before.
func unavailable(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cache: %s: %w: %w", doing, redisdb.ErrUnavailable, err)
}

// orMiss returns miss for redis.Nil, and unavailable for every other error.
func orMiss(doing string, miss, err error) error {
	if errors.Is(err, redis.Nil) {
		return fmt.Errorf("cache: %s: %w", doing, miss)
	}
	return unavailable(doing, err)
}
