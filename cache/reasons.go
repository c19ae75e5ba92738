package cache

import (
	"context"
	"fmt"
	"time"
)

// SaveReasons keeps a connection's rejection reasons as the caller encoded
// them, with the time. The error is redisdb.ErrUnavailable.
func (s *Store) SaveReasons(ctx context.Context, connection string, raw []byte) error {
	err := s.redis.Client().HSet(ctx, s.keys.Reasons(connection), "reasons", raw, "at", formatTime(s.clock())).Err()
	if err != nil {
		return unavailable("save rejection reasons of "+connection, err)
	}
	return nil
}

// Reasons gives a connection's rejection reasons and when they were saved.
//
// Errors: ErrNoReasons, redisdb.ErrUnavailable.
func (s *Store) Reasons(ctx context.Context, connection string) ([]byte, time.Time, error) {
	values, err := s.redis.Client().HMGet(ctx, s.keys.Reasons(connection), "reasons", "at").Result()
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
