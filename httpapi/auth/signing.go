package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/sleep"
)

const (
	signingKeyBytes = 32
	maxReplaced     = 16              // replaced keys that are kept
	rereadEvery     = time.Second     // between two reads; an instance takes about as long to start
	retryKeyAfter   = time.Second     // how long a failed read is not repeated for a request
	maxRereadPause  = 5 * time.Second // between two reads that fail
	keyTimeout      = 2 * time.Second // of one read
)

// signingKey is the HS256 key of the tokens. Its id is derived from it, so that all instances use the same id.
type signingKey struct {
	id     string
	secret []byte
}

func newSigningKey(secret []byte) *signingKey {
	sum := sha256.Sum256(append([]byte("larder signing key id\n"), secret...))
	return &signingKey{id: hex.EncodeToString(sum[:4]), secret: secret}
}

// signingKeys holds the key that signs tokens. It is the configured key, or else one that the first instance
// creates in Redis and all share (policy H2). Run reads it from the start until it ends; without Run, the
// first token request reads it. Then the key is in memory, and tokens are accepted while Redis is down.
//
// If Redis loses its data, the key is stored again. If another instance has created a new key by then, the
// new key signs. The old key is stored beside it until the last token that it signed has expired.
//
// A key that an operator has revoked (policy H14) is never accepted or stored again.
type signingKeys struct {
	storedKeys
	lifetime time.Duration // the longest validity of a token or session
	clock    func() time.Time
	changed  func(signing string) // called after another key signs or keys were revoked

	signing  atomic.Pointer[signingKey]
	replaced atomic.Pointer[[]replacedKey] // at most maxReplaced, the newest first
	failing  atomic.Pointer[error]         // of the last read; nil before the first

	mu      sync.Mutex // held while Redis is read
	readAt  time.Time
	revoked map[string]time.Time // by id
}

// storedKeys are the keys of Redis that have the signing keys.
type storedKeys struct {
	redis                           redis.UniversalClient // nil if the key is configured
	name, replacedName, revokedName string
}

func storedKeysOf(db *redisdb.DB) storedKeys {
	names := cache.NewKeys(db.Prefix())
	return storedKeys{db.Client(), names.SigningKey(), names.ReplacedSigningKeys(), names.RevokedSigningKeys()}
}

// replacedKey no longer signs. Its tokens are valid until the given time.
type replacedKey struct {
	*signingKey
	until time.Time
}

// signingKeysOf returns the configured key, or the keys in Redis.
func signingKeysOf(cfg Config, db *redisdb.DB, clock func() time.Time) *signingKeys {
	keys := &signingKeys{clock: clock, changed: func(string) {}}
	keys.replaced.Store(&[]replacedKey{})
	if cfg.SigningKey != "" {
		keys.signing.Store(newSigningKey([]byte(cfg.SigningKey)))
		return keys
	}
	keys.storedKeys, keys.lifetime = storedKeysOf(db), cfg.longest()
	return keys
}

// current returns the key that signs.
func (k *signingKeys) current(ctx context.Context) (*signingKey, error) {
	if key := k.signing.Load(); key != nil {
		return key, nil
	}
	return k.read(ctx, retryKeyAfter)
}

// run reads the keys until ctx ends. It restores keys that Redis lost, so that all instances agree.
func (k *signingKeys) run(ctx context.Context) {
	if k.redis == nil {
		return
	}
	pause := rereadEvery
	for {
		if _, err := k.read(ctx, 0); err == nil {
			pause = rereadEvery
		} else {
			pause = min(2*pause, maxRereadPause)
		}
		// A random part, so that not all instances read at the same time when Redis is up again.
		if sleep.For(ctx, pause+rand.N(pause/2)) != nil {
			return
		}
	}
}

// byID returns the key with that id, or nil if it does not exist: then the token is not larder's.
// Another instance may have stored an unknown key, so byID reads Redis again, at limited intervals.
func (k *signingKeys) byID(ctx context.Context, id string) (*signingKey, error) {
	if key := k.known(id); key != nil || k.redis == nil {
		return key, nil
	}
	if _, err := k.read(ctx, retryKeyAfter); err != nil && k.signing.Load() == nil {
		return nil, err
	}
	return k.known(id), nil
}

// known returns the key in memory with that id, or nil.
func (k *signingKeys) known(id string) *signingKey {
	if key := k.signing.Load(); key != nil && key.id == id {
		return key
	}
	for _, old := range *k.replaced.Load() {
		if old.id == id && k.clock().Before(old.until) {
			return old.signingKey
		}
	}
	return nil
}

// read reads the keys from Redis and restores those that Redis lost. It does nothing if the
// last read is more recent than the given time.
func (k *signingKeys) read(ctx context.Context, recent time.Duration) (*signingKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := k.signing.Load()
	if age := k.clock().Sub(k.readAt); age >= 0 && age < recent {
		return key, *k.failing.Load()
	}
	// Independent of the request, because its result is for all requests.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyTimeout)
	defer cancel()
	revokedBefore := len(k.revoked)
	stored, replaced, err := k.exchange(ctx, key, *k.replaced.Load())
	k.readAt = k.clock()
	k.failing.Store(&err)
	if err != nil {
		return nil, err
	}
	k.replaced.Store(&replaced) // before the new key signs, so that the old one is known all the time
	// Otherwise cached tokens stay valid.
	if key == nil || key.id != stored.id || len(k.revoked) != revokedBefore {
		k.signing.Store(stored)
		if key != nil { // not at the start
			k.changed(stored.id)
		}
		return stored, nil
	}
	return key, nil
}

// exchange reads the keys in Redis and stores the keys of memory that are missing there. If
// Redis has no key, it stores key. Otherwise it stores key and replaced as replaced keys.
func (k *signingKeys) exchange(ctx context.Context, key *signingKey, replaced []replacedKey) (*signingKey, []replacedKey, error) {
	stored, err := k.exchangeCurrent(ctx, key)
	if err == nil {
		// Read after the key: if the key is revoked meanwhile, its successor is in Redis only after the list.
		err = k.exchangeRevoked(ctx)
	}
	if err == nil && k.isRevoked(stored) {
		// A rotation was interrupted, or a backup from before it was restored.
		offer := newSecret()
		if key != nil && !k.isRevoked(key) {
			offer = key.secret
		}
		stored, err = k.replace(ctx, stored, offer)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("auth: signing key: %w: %w", redisdb.ErrUnavailable, err)
	}
	if key != nil && key.id != stored.id {
		replaced = append([]replacedKey{{key, k.clock().Add(k.lifetime)}}, replaced...)
	}
	replaced, err = k.exchangeReplaced(ctx, stored, replaced)
	if err != nil {
		return nil, nil, fmt.Errorf("auth: replaced signing keys: %w: %w", redisdb.ErrUnavailable, err)
	}
	return stored, replaced, nil
}

func (k *signingKeys) exchangeCurrent(ctx context.Context, key *signingKey) (*signingKey, error) {
	secret, err := k.redis.Get(ctx, k.name).Bytes()
	if damaged := err == nil && len(secret) < minSigningKey; damaged || errors.Is(err, redis.Nil) {
		offer := newSecret()
		if key != nil {
			offer = key.secret
		}
		if damaged { // with a short key, anybody could sign tokens
			err = k.redis.Set(ctx, k.name, offer, 0).Err()
		} else {
			err = k.redis.SetNX(ctx, k.name, offer, 0).Err()
		}
		if err == nil {
			secret, err = k.redis.Get(ctx, k.name).Bytes()
		}
	}
	if err != nil {
		return nil, err
	}
	return newSigningKey(secret), nil
}

// exchangeReplaced returns the replaced keys of memory and Redis that are still needed. It
// stores those that Redis does not have.
func (k *signingKeys) exchangeReplaced(ctx context.Context, current *signingKey, known []replacedKey) ([]replacedKey, error) {
	now := k.clock()
	stored, err := k.redis.ZRevRangeWithScores(ctx, k.replacedName, 0, maxReplaced-1).Result()
	if err != nil {
		return nil, err
	}
	var all []replacedKey
	add := func(key replacedKey) bool {
		if !key.until.After(now) || key.id == current.id || k.isRevoked(key.signingKey) ||
			slices.ContainsFunc(all, func(other replacedKey) bool { return other.id == key.id }) {
			return false
		}
		all = append(all, key)
		return true
	}
	for _, member := range stored {
		secret, _ := member.Member.(string)
		if len(secret) < minSigningKey {
			continue
		}
		add(replacedKey{newSigningKey([]byte(secret)), time.UnixMilli(int64(member.Score))})
	}
	var missing []redis.Z
	for _, key := range known {
		if add(key) {
			missing = append(missing, redis.Z{Score: float64(key.until.UnixMilli()), Member: key.secret})
		}
	}
	slices.SortStableFunc(all, func(a, b replacedKey) int { return b.until.Compare(a.until) })
	all = all[:min(len(all), maxReplaced)]
	return all, k.add(ctx, k.replacedName, maxReplaced, k.lifetime, missing...)
}

// add adds members to a sorted set, which keeps the newest and expires after the lifetime; 0 means never.
func (s storedKeys) add(ctx context.Context, set string, most int64, lifetime time.Duration, members ...redis.Z) error {
	if len(members) == 0 {
		return nil
	}
	_, err := s.redis.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZAdd(ctx, set, members...)
		pipe.ZRemRangeByRank(ctx, set, 0, -most-1)
		if lifetime > 0 {
			pipe.PExpire(ctx, set, lifetime)
		}
		return nil
	})
	return err
}
