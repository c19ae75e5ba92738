package replica

import (
	"context"
	"errors"

	"larder.local/cache"
	"larder.local/internal/redisdb"
)

// Reasons returns a connection's rejection reasons from Redis. If Redis does not respond or has lost
// them, it returns those in memory. Every poll loads the reasons of Config.Connections into memory.
// Errors: cache.ErrNoReasons, redisdb.ErrUnavailable, cache.ErrCorrupt.
func (r *Replica) Reasons(ctx context.Context, connection string) ([]byte, error) {
	raw, _, err := r.store.Reasons(ctx, connection)
	if err == nil {
		r.reasons.Store(connection, raw)
		return raw, nil
	}
	if errors.Is(err, redisdb.ErrUnavailable) || errors.Is(err, cache.ErrNoReasons) {
		if found, ok := r.reasons.Load(connection); ok {
			raw, _ = found.([]byte)
			return raw, nil
		}
	}
	return nil, err
}

// pollReasons loads the reasons of all connections into memory. Unreadable ones do
// not change. The error is redisdb.ErrUnavailable.
func (r *Replica) pollReasons(ctx context.Context) error {
	for _, connection := range r.cfg.Connections {
		switch raw, _, err := r.store.Reasons(ctx, connection); {
		case err == nil:
			r.reasons.Store(connection, raw)
		case errors.Is(err, redisdb.ErrUnavailable) && !cache.IsForeign(err):
			return err
		}
	}
	return nil
}
