package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	secretBytes = 32
	// trustedFor is how long settings and secrets read from Redis are cached.
	trustedFor = 5 * time.Second
)

// readSecret is a secret as it was read.
type readSecret struct {
	value []byte // nil: not read yet
	at    time.Time
}

// Secret returns the key for fingerprints and hashes of keys: 32 random bytes without expiry. A connection's secret is
// beside its records: in a cluster, both are lost together, and the loss is noticed (policy O14a). Instances with different
// secrets would place the same order twice. So it is read again every five seconds, and restored if Redis has lost it. A
// connection without one gets that of all connections, which earlier versions use, unless its records have another format
// (policy O20).
func (j *Journal) Secret(ctx context.Context, connection string) ([]byte, error) {
	s := j.store
	kept, _ := s.secrets.Load(connection)
	known, _ := kept.(readSecret)
	if known.value != nil && time.Since(known.at) < trustedFor {
		return known.value, nil
	}
	at := time.Now()
	value, err := s.readSecret(ctx, s.keys.OrderSecret(connection), func() ([]byte, error) {
		if err := s.checkFormat(ctx, connection); err != nil || known.value != nil {
			return known.value, err
		}
		return s.readSecret(ctx, s.keys.JournalSecret(), func() ([]byte, error) {
			random := make([]byte, secretBytes)
			_, _ = rand.Read(random) // never fails (crypto/rand)
			return random, nil
		})
	})
	if err == nil {
		s.secrets.Store(connection, readSecret{value, at})
	}
	return value, failed("secret", connection, err)
}

// readSecret returns the secret in Redis, and creates it if it does not exist.
func (s *store) readSecret(ctx context.Context, name string, create func() ([]byte, error)) ([]byte, error) {
	value, err := s.write.Get(ctx, name).Bytes() // GET first: a read-only Redis can answer it
	if errors.Is(err, redis.Nil) {
		value, err = create()
		if err == nil {
			err = s.write.SetNX(ctx, name, value, 0).Err()
		}
		if err == nil {
			value, err = s.write.Get(ctx, name).Bytes()
		}
	}
	if err != nil {
		return nil, err
	}
	if len(value) != secretBytes {
		return nil, fmt.Errorf("the key %s in Redis has %d bytes, not %d: restore it from a backup", name, len(value), secretBytes)
	}
	return value, nil
}
