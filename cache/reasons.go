package cache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"larder/internal/menu"
	"larder/internal/redisdb"
)

// SaveReasons keeps a connection's rejection reasons as the caller encoded
// them, with the time. The error is redisdb.ErrUnavailable.
func (s *Store) SaveReasons(ctx context.Context, connection string, raw []byte) error {
	err := s.redis.Client().HSet(ctx, s.keys.Reasons(connection), "reasons", raw, "at", menu.FormatTime(s.clock())).Err()
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

// Reasons returns a connection's rejection reasons: those in Redis and, where
// Redis does not answer or has lost them, those in memory. Every poll takes the
// reasons of ReplicaConfig.Connections into memory.
//
// Errors: ErrNoReasons, redisdb.ErrUnavailable, ErrCorrupt.
func (r *Replica) Reasons(ctx context.Context, connection string) ([]byte, error) {
	raw, _, err := r.store.Reasons(ctx, connection)
	if err == nil {
		r.reasons.Store(connection, raw)
		return raw, nil
	}
	if errors.Is(err, redisdb.ErrUnavailable) || errors.Is(err, ErrNoReasons) {
		if found, ok := r.reasons.Load(connection); ok {
			raw, _ = found.([]byte)
			return raw, nil
		}
	}
	return nil, err
}

// pollReasons takes the reasons of all connections into memory. Those that
// cannot be read are left as they are. The error is redisdb.ErrUnavailable.
func (r *Replica) pollReasons(ctx context.Context) error {
	for _, connection := range r.cfg.Connections {
		switch raw, _, err := r.store.Reasons(ctx, connection); {
		case err == nil:
			r.reasons.Store(connection, raw)
		case errors.Is(err, redisdb.ErrUnavailable) && !isForeign(err):
			return err
		}
	}
	return nil
}
