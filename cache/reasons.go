package cache

import (
	"context"
	"fmt"
	"time"

	"larder.local/internal/menu"
)

// SaveReasons saves a connection's rejection reasons, encoded by the caller, with
// the time. The error is redisdb.ErrUnavailable.
func (s *Store) SaveReasons(ctx context.Context, connection string, raw []byte) error {
	err := s.redis.Client().HSet(ctx, s.keys.Reasons(connection), "reasons", raw, "at", menu.FormatTime(s.clock())).Err()
	return unavailable("save rejection reasons of "+connection, err)
}

// Reasons returns a connection's rejection reasons and when they were saved.
// Errors: ErrNoReasons, redisdb.ErrUnavailable.
func (s *Store) Reasons(ctx context.Context, connection string) ([]byte, time.Time, error) {
	values, err := s.redis.Client().HMGet(ctx, s.keys.Reasons(connection), "reasons", "at").Result()
	if err == nil && values[0] == nil && takeOverReasons(ctx, s, connection) {
		values, err = s.redis.Client().HMGet(ctx, s.keys.Reasons(connection), "reasons", "at").Result()
	}
	if err != nil {
		return nil, time.Time{}, unavailable("rejection reasons of "+connection, err)
	}
	raw, stored := values[0].(string)
	if !stored {
		return nil, time.Time{}, fmt.Errorf("cache: connection %s: %w", connection, ErrNoReasons)
	}
	text, _ := values[1].(string)
	at, err := parseTime(text)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("cache: rejection reasons of %s: %w: %w", connection, ErrCorrupt, err)
	}
	return []byte(raw), at, nil
}

// ReasonsNotFound counts, for all instances, how often in a row the service answered 404 to the request for a
// connection's rejection reasons. found ends the row. The error is redisdb.ErrUnavailable.
func ReasonsNotFound(ctx context.Context, s *Store, connection string, found bool) (times int64, err error) {
	if found {
		err = s.redis.Client().HDel(ctx, s.keys.Reasons(connection), "notFound").Err()
	} else {
		times, err = s.redis.Client().HIncrBy(ctx, s.keys.Reasons(connection), "notFound", 1).Result()
	}
	return times, unavailable("count of missing rejection reasons of "+connection, err)
}

// takeOverReasons is takeOver for rejection reasons.
func takeOverReasons(ctx context.Context, s *Store, connection string) bool {
	names := s.sources(DefaultMenu(connection))
	if len(names) == 0 {
		return false
	}
	own := s.keys.Reasons(connection)
	if moved, _ := s.redis.Client().RenameNX(ctx, s.keys.withTag("").Reasons(connection), own).Result(); moved {
		return true
	}
	for _, former := range names[1:] {
		if copied, _ := s.redis.Client().Copy(ctx, s.keys.withTag(SourceTag(former)).Reasons(connection), own, 0, false).Result(); copied > 0 {
			return true
		}
	}
	return false
}
