package httpapi

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/cache"
)

const (
	signingKeyBytes = 32
	rereadEvery     = 10 * time.Second // how often a foreign kid may make larder ask Redis
	retryKeyAfter   = time.Second      // how long a failed read is answered without asking again
	seekKeyAtMost   = 5 * time.Second  // the longest pause of seek
	keyTimeout      = 2 * time.Second  // of one read
)

// signingKey is the HS256 key of the tokens. Its id is derived from it, so that
// every larder that holds the key gives it the same one.
type signingKey struct {
	id     string
	secret []byte
}

func newSigningKey(secret []byte) *signingKey {
	sum := sha256.Sum256(append([]byte("larder signing key id\n"), secret...))
	return &signingKey{id: hex.EncodeToString(sum[:4]), secret: secret}
}

// signingKeys gives the key that signs tokens: the configured one, else one
// made once and kept in Redis for every larder that shares it (policy H2).
// Redis is asked from the start of a Server's Run until it answers, and not
// waited for, so that larder starts without; in a Server that does not run, when
// the first token is asked for. From then on the key is in memory: the tokens of
// every larder are good while Redis is away.
type signingKeys struct {
	redis redis.UniversalClient // nil where the key is configured
	name  string
	clock func() time.Time

	signing atomic.Pointer[signingKey] // key, for whoever cannot wait for Redis

	mu     sync.Mutex
	key    *signingKey
	readAt time.Time
	failed error // of the last read
}

// current is the key to sign with.
func (k *signingKeys) current(ctx context.Context) (*signingKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key != nil {
		return k.key, nil
	}
	return k.read(ctx)
}

// seek reads the key until it is known or ctx ends.
func (k *signingKeys) seek(ctx context.Context) {
	for pause := retryKeyAfter; ; pause = min(2*pause, seekKeyAtMost) {
		if _, err := k.current(ctx); err == nil {
			return
		}
		// A part of the pause is left to chance: the larders of a Redis that
		// comes back do not all ask at once.
		timer := time.NewTimer(pause + rand.N(pause/2)) //nolint:gosec // no secret
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// byID is the key with that id, or nil when there is none: the token is then
// not ours. An id that is not the known key's may be that of a key which
// another larder has put into Redis since, so Redis is asked again, not often.
func (k *signingKeys) byID(ctx context.Context, id string) (*signingKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key == nil || (k.key.id != id && k.redis != nil && k.clock().Sub(k.readAt) >= rereadEvery) {
		if _, err := k.read(ctx); err != nil && k.key == nil {
			return nil, err
		}
	}
	if k.key != nil && k.key.id == id {
		return k.key, nil
	}
	return nil, nil //nolint:nilnil // no such key is an answer here, not a fault
}

// set puts a key in force. The caller holds the lock, or nobody else knows k.
func (k *signingKeys) set(key *signingKey) {
	k.key = key
	k.signing.Store(key)
}

// read takes the key from Redis and, where Redis has none, gives it ours or a
// new one. The caller holds the lock.
func (k *signingKeys) read(ctx context.Context) (*signingKey, error) {
	if k.failed != nil && k.clock().Sub(k.readAt) < retryKeyAfter {
		return nil, k.failed
	}
	// Of nobody's request: the answer, or the failure, is for all who ask.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyTimeout)
	defer cancel()
	key, err := k.exchange(ctx)
	k.readAt, k.failed = k.clock(), err
	if err != nil {
		return nil, err
	}
	if k.key == nil || !bytes.Equal(k.key.secret, key.secret) {
		k.set(key)
	}
	return k.key, nil
}

// exchange is one conversation with Redis.
func (k *signingKeys) exchange(ctx context.Context) (*signingKey, error) {
	offer := make([]byte, signingKeyBytes)
	if k.key != nil {
		offer = k.key.secret // Redis has lost it: tokens that are out stay good
	} else if _, err := cryptorand.Read(offer); err != nil {
		return nil, fmt.Errorf("httpapi: make a signing key: %w", err)
	}
	secret, err := k.redis.Get(ctx, k.name).Bytes()
	if errors.Is(err, redis.Nil) {
		if err = k.redis.SetNX(ctx, k.name, offer, 0).Err(); err == nil {
			secret, err = k.redis.Get(ctx, k.name).Bytes()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("httpapi: signing key: %w: %w", cache.ErrUnavailable, err)
	}
	return newSigningKey(secret), nil
}
