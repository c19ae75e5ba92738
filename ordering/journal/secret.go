package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
)

const (
	secretBytes = 32
	// trustedFor is how long settings and secrets read from Redis are cached.
	trustedFor = 5 * time.Second
)

// secrets are the keys for fingerprints and hashes of keys, one for each connection. A connection's secret is beside its
// records: in a cluster, both are lost together, and the loss is noticed (policy O14a). Instances with different secrets
// would place the same order twice.
type secrets struct {
	keys   cache.Keys
	client redis.UniversalClient

	mu    sync.Mutex
	known map[string]readSecret // by connection
}

// readSecret is a secret as it was read.
type readSecret struct {
	value []byte // nil: not read yet
	at    time.Time
}

// Secret returns the key for the hashes of keys and bodies of a connection.
func (j *Journal) Secret(ctx context.Context, connection string) ([]byte, error) {
	secret, err := j.store.secrets.of(ctx, connection, func() error { return j.store.checkFormat(ctx, connection) })
	return secret, failed("secret", connection, err)
}

// of returns the secret of a connection: 32 random bytes without expiry. It is read again every five seconds, and restored
// if Redis has lost it. A connection without one gets that of all connections, which earlier versions use, unless mayWrite
// returns an error: records of another format stay as they are (policy O20).
func (s *secrets) of(ctx context.Context, connection string, mayWrite func() error) ([]byte, error) {
	s.mu.Lock()
	known := s.known[connection]
	s.mu.Unlock()
	if known.value != nil && time.Since(known.at) < trustedFor {
		return known.value, nil
	}
	at := time.Now()
	value, err := s.read(ctx, s.keys.OrderSecret(connection), func() ([]byte, error) {
		if err := mayWrite(); err != nil {
			return nil, err
		}
		if known.value != nil {
			return known.value, nil
		}
		return s.read(ctx, s.keys.JournalSecret(), func() ([]byte, error) {
			random := make([]byte, secretBytes)
			_, _ = rand.Read(random) // never fails (crypto/rand)
			return random, nil
		})
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[connection] = readSecret{value, at}
	return value, nil
}

// read returns the secret in Redis, and creates it if it does not exist.
func (s *secrets) read(ctx context.Context, name string, create func() ([]byte, error)) ([]byte, error) {
	value, err := s.client.Get(ctx, name).Bytes() // GET first: a read-only Redis can answer it
	if errors.Is(err, redis.Nil) {
		value, err = create()
		if err == nil {
			err = s.client.SetNX(ctx, name, value, 0).Err()
		}
		if err == nil {
			value, err = s.client.Get(ctx, name).Bytes()
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
