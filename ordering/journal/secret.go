package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	secretBytes = 32
	// trustedFor is how long settings and secrets read from Redis are cached.
	trustedFor = 5 * time.Second
)

// secret is the key for fingerprints.
type secret struct {
	name   string // its key in Redis
	client redis.UniversalClient

	mu     sync.Mutex
	value  []byte // nil: not read yet
	readAt time.Time
}

// Secret returns the key for the hashes of keys and bodies.
func (j *Journal) Secret(ctx context.Context) ([]byte, error) {
	secret, err := j.store.secret.get(ctx)
	return secret, failed("secret", "", err)
}

// get returns the key for fingerprints and hashes of keys: 32 random bytes, created by the first
// call and stored without expiry. It is read again every five seconds, and restored if Redis has
// lost it. Instances with different secrets would place the same order twice.
func (s *secret) get(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	known, readAt := s.value, s.readAt
	s.mu.Unlock()
	if known != nil && time.Since(readAt) < trustedFor {
		return known, nil
	}
	at := time.Now()
	key, err := s.client.Get(ctx, s.name).Bytes() // GET first: a read-only Redis can answer it
	if errors.Is(err, redis.Nil) {
		candidate := known
		if candidate == nil {
			candidate = make([]byte, secretBytes)
			_, _ = rand.Read(candidate) // never fails (crypto/rand)
		}
		if err := s.client.SetNX(ctx, s.name, candidate, 0).Err(); err != nil {
			return nil, err
		}
		key, err = s.client.Get(ctx, s.name).Bytes()
	}
	if err != nil {
		return nil, err
	}
	if len(key) != secretBytes {
		return nil, fmt.Errorf("the key %s in Redis has %d bytes, not %d: restore it from a backup", s.name, len(key), secretBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value, s.readAt = key, at
	return key, nil
}
