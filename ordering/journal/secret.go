package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	secretBytes = 32
	// trustedFor is for how long what Redis said of itself is believed.
	trustedFor = 5 * time.Second
)

// Secret returns the key of fingerprints and of the hashes of keys, 32 random
// bytes: made on the first call and kept without expiry. It is read again
// every five seconds, and put back when Redis has lost it: were two replicas
// to hash by different keys, each would let the same order through.
func (j *Journal) Secret(ctx context.Context) ([]byte, error) {
	j.mu.Lock()
	known, readAt := j.secret, j.secretReadAt
	j.mu.Unlock()
	if known != nil && time.Since(readAt) < trustedFor {
		return bytes.Clone(known), nil
	}
	at, name := time.Now(), j.keys.JournalSecret()
	key, err := j.write.Get(ctx, name).Bytes() // alone, where it is there: a Redis that takes no writes still tells
	if errors.Is(err, redis.Nil) {
		candidate := known
		if candidate == nil {
			candidate = make([]byte, secretBytes)
			_, _ = rand.Read(candidate) // never fails (crypto/rand)
		}
		if err := j.write.SetNX(ctx, name, candidate, 0).Err(); err != nil {
			return nil, failed("secret", err)
		}
		key, err = j.write.Get(ctx, name).Bytes()
	}
	if err != nil {
		return nil, failed("secret", err)
	}
	if len(key) != secretBytes {
		return nil, failed("secret", fmt.Errorf("%w: %s has %d bytes, not %d", ErrCorrupt, name, len(key), secretBytes))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.secret, j.secretReadAt = key, at
	return bytes.Clone(key), nil
}
