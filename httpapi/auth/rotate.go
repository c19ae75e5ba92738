package auth

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder.local/internal/redisdb"
)

// maxRevoked limits the revoked keys that are kept. The oldest are dropped.
const maxRevoked = 1000

// Rotation is the result of [RotateKey].
type Rotation struct {
	Key     string `json:"key"`     // id of the key that signs now: the kid of new tokens
	Former  string `json:"former"`  // id of the key that signed before
	Revoked int    `json:"revoked"` // keys whose tokens are not accepted any more
}

// Errors of [RotateKey].
var (
	ErrKeyConfigured = errors.New("the signing key is in the configuration (auth.signing_key): " +
		"change it there or in its file, and restart every instance")
	ErrKeyEmbedded = errors.New("the embedded Redis is in the memory of larder: restart larder, and it has a new signing key")
	ErrNoKey       = errors.New("no signing key in Redis: an instance stores one when it starts, and again within " +
		"two seconds if Redis lost it; check redis.url and redis.prefix")
)

// replaceKey stores a new signing key if Redis still has the former one.
var replaceKey = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("SET", KEYS[1], ARGV[2]) end
return redis.call("GET", KEYS[1])`)

func newSecret() []byte {
	secret := make([]byte, signingKeyBytes)
	_, _ = cryptorand.Read(secret) // never fails (crypto/rand)
	return secret
}

// RotateKey makes a new signing key in Redis (policy H14). All earlier keys in Redis are revoked, so every
// instance rejects their tokens and sessions and ends their streams as soon as it reads Redis, about once per
// second. With keepTokens, nothing is revoked: the tokens of the former key are valid until they expire. Of
// two rotations at the same time, one stores its key, and both return it.
func RotateKey(ctx context.Context, cfg Config, db *redisdb.DB, keepTokens bool) (Rotation, error) {
	switch {
	case cfg.SigningKey != "":
		return Rotation{}, ErrKeyConfigured
	case db.Embedded():
		return Rotation{}, ErrKeyEmbedded
	}
	keys := storedKeysOf(db)
	secret, err := keys.redis.Get(ctx, keys.name).Bytes()
	if errors.Is(err, redis.Nil) {
		return Rotation{}, ErrNoKey
	}
	former, done := newSigningKey(secret), Rotation{}
	if err == nil && keepTokens {
		until := time.Now().Add(cfg.longest())
		err = keys.add(ctx, keys.replacedName, maxReplaced, cfg.longest(), redis.Z{Score: float64(until.UnixMilli()), Member: secret})
	} else if err == nil {
		done.Revoked, err = keys.revokeAll(ctx, former)
	}
	current := former
	if err == nil {
		current, err = keys.replace(ctx, former, newSecret())
	}
	if err != nil {
		return Rotation{}, fmt.Errorf("auth: rotate the signing key: %w: %w", redisdb.ErrUnavailable, err)
	}
	done.Key, done.Former = current.id, former.id
	return done, nil
}

// longest returns the longest validity of a token or session.
func (c Config) longest() time.Duration { return max(c.TokenLifetime, c.SessionLifetime) }

// revokeAll revokes the key and all replaced keys. It does so before a new key is stored: if it is
// interrupted then, the instances store one.
func (s storedKeys) revokeAll(ctx context.Context, key *signingKey) (revoked int, err error) {
	replaced, err := s.redis.ZRange(ctx, s.replacedName, 0, -1).Result()
	if err != nil {
		return 0, err
	}
	now := float64(time.Now().UnixMilli())
	ids := []redis.Z{{Score: now, Member: key.id}}
	for _, secret := range replaced {
		ids = append(ids, redis.Z{Score: now, Member: newSigningKey([]byte(secret)).id})
	}
	return len(ids), s.add(ctx, s.revokedName, maxRevoked, 0, ids...)
}

// replace stores a key in place of the former one, unless Redis has another one by now. It returns the key in Redis.
func (s storedKeys) replace(ctx context.Context, former *signingKey, offer []byte) (*signingKey, error) {
	secret, err := replaceKey.Run(ctx, s.redis, []string{s.name}, former.secret, offer).Text()
	if err != nil {
		return nil, err
	}
	return newSigningKey([]byte(secret)), nil
}

func (k *signingKeys) isRevoked(key *signingKey) bool { return !k.revoked[key.id].IsZero() }

// exchangeRevoked reads the revoked keys, and stores those that Redis lost.
func (k *signingKeys) exchangeRevoked(ctx context.Context) error {
	stored, err := k.redis.ZRevRangeWithScores(ctx, k.revokedName, 0, maxRevoked-1).Result()
	if err != nil {
		return err
	}
	all := make(map[string]time.Time, len(stored))
	for _, member := range stored {
		id, _ := member.Member.(string)
		all[id] = time.UnixMilli(int64(member.Score))
	}
	var lost []redis.Z
	for id, at := range k.revoked {
		if _, known := all[id]; !known && len(all) < maxRevoked {
			all[id] = at
			lost = append(lost, redis.Z{Score: float64(at.UnixMilli()), Member: id})
		}
	}
	k.revoked = all
	return k.add(ctx, k.revokedName, maxRevoked, 0, lost...)
}

// accepts reports whether tokens of the key are accepted, as far as this instance knows.
func (k *signingKeys) accepts(key *signingKey) bool { return key == nil || k.known(key.id) != nil }

// keysChanged ends the streams whose key is not accepted any more.
func (a *Auth) keysChanged(signing string) {
	ended := 0
	a.watching.Lock()
	for w := range a.watches {
		if !a.keys.accepts(w.key) {
			w.end()
			ended++
		}
	}
	a.watching.Unlock()
	a.deps.Log.WithFields(logrus.Fields{"event": "auth.signing_key", "key": signing, "streams": ended}).
		Info("this key signs tokens; streams of revoked keys have ended")
}
