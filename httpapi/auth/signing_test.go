package auth

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/redistest"
)

// keysIn returns the keys that one instance has read from Redis.
func keysIn(opened *redisdb.DB) *signingKeys {
	return signingKeysOf(Config{TokenLifetime: time.Hour}, opened, time.Now)
}

func openOn(t *testing.T, url string) *redisdb.DB {
	t.Helper()
	opened, err := redisdb.Open(redisdb.Config{URL: url}, silentlog.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// Several requests share one read of the key. If the client that caused the read disconnects, the
// others still get the key.
func TestAClientThatLeavesDoesNotFailTheReadOfTheKey(t *testing.T) {
	t.Parallel()
	opened := openOn(t, redisdb.Embedded)
	keys := keysIn(opened)
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := keys.current(left); err != nil {
		t.Errorf("the client that left: %v", err)
	}
	if _, err := keys.current(t.Context()); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// An instance reads the key at its start, so that it accepts the tokens of other instances if Redis
// becomes unreachable, even before the first token.
func TestTheKeyIsReadWhenRedisAnswers(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opened := openOn(t, server.URL())
	newKeys := func() *signingKeys { return keysIn(opened) }
	key, err := newKeys().current(t.Context()) // of another instance
	if err != nil {
		t.Fatal(err)
	}
	// Redis accepts connections but no commands yet, as while it loads its data.
	if err := server.Client().ClientPause(t.Context(), time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	keys := newKeys()
	reading, stop := context.WithCancel(t.Context())
	defer stop()
	go keys.run(reading)
	for keys.signing.Load() == nil && t.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond) //testwaits:allow between two looks: run does not report that it has read the key
	}
	server.Stop()
	if got, err := keys.byID(t.Context(), key.id); err != nil || got == nil || string(got.secret) != string(key.secret) {
		t.Errorf("without Redis: key %v, %v; want the other larder's", got, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	never := newKeys()
	go func() {
		defer close(done)
		never.run(ctx)
	}()
	cancel()
	<-done
	if _, err := never.current(t.Context()); err == nil {
		t.Error("a key came from a Redis that is gone")
	}
}

// After FLUSHALL, every instance accepts every token that any instance has issued, and all
// instances sign with one key. This also holds if an instance that started afterwards was the first
// to read. After a second FLUSHALL it holds until the tokens of the replaced key have expired.
func TestSigningKeys_AfterFlushAll(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opened := openOn(t, server.URL())
	ctx := t.Context()
	var now atomic.Int64 // seconds
	now.Store(1_800_000_000)
	instance := func() *signingKeys {
		k := keysIn(opened)
		k.clock = func() time.Time { return time.Unix(now.Load(), 0) }
		return k
	}
	refresh := func(all ...*signingKeys) { // the same as run does; the second read finds the keys that others have stored
		t.Helper()
		for range 2 {
			for _, k := range all {
				if _, err := k.read(ctx, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	flush := func() {
		t.Helper()
		if err := server.Client().FlushAll(ctx).Err(); err != nil {
			t.Fatal(err)
		}
	}
	agree := func(when string, all []*signingKeys, accepted ...string) {
		t.Helper()
		for i, k := range all {
			if k.signing.Load().id != all[0].signing.Load().id {
				t.Errorf("%s: instance %d signs with %s, the first with %s", when, i, k.signing.Load().id, all[0].signing.Load().id)
			}
			for _, id := range accepted {
				if key, err := k.byID(ctx, id); err != nil || key == nil || key.id != id {
					t.Errorf("%s: instance %d: key %s is %v, %v; want it accepted", when, i, id, key, err)
				}
			}
		}
	}

	first, second := instance(), instance()
	refresh(first, second)
	old := first.signing.Load().id
	flush()
	refresh(first, second)
	agree("nobody started meanwhile", []*signingKeys{first, second}, old)
	if server.Client().Exists(ctx, cache.NewKeys(opened.Prefix()).SigningKey()).Val() != 1 {
		t.Error("Redis did not get its key back")
	}

	flush()
	started := instance()
	refresh(started) // stores a key before the others read
	if started.signing.Load().id == old {
		t.Fatal("the instance that started knows a key that Redis lost")
	}
	refresh(first, second, started)
	all := []*signingKeys{first, second, started}
	agree("one started first", all, old, started.signing.Load().id)

	flush()
	refresh(started, first, second)
	late := instance()
	refresh(late)
	agree("a second loss", append(all, late), old, started.signing.Load().id)

	now.Add(int64(2 * time.Hour / time.Second))
	refresh(append(all, late)...)
	for i, k := range append(all, late) {
		if key, err := k.byID(ctx, old); err != nil || key != nil {
			t.Errorf("instance %d accepts a key whose tokens have expired: %v, %v", i, key, err)
		}
	}
}

// A key in Redis that is empty or too short is replaced, and never accepted: anybody could sign tokens with it (policy H14).
func TestAShortKeyIsReplaced_H14(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opened := openOn(t, server.URL())
	names := cache.NewKeys(opened.Prefix())
	for _, short := range []string{"", "a-short-key"} {
		running := keysIn(opened)
		before, err := running.current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Client().Set(t.Context(), names.SigningKey(), short, 0).Err(); err != nil {
			t.Fatal(err)
		}
		member := redis.Z{Score: float64(time.Now().Add(time.Hour).UnixMilli()), Member: short}
		if err := server.Client().ZAdd(t.Context(), running.replacedName, member).Err(); err != nil {
			t.Fatal(err)
		}
		for name, keys := range map[string]*signingKeys{"running": running, "started": keysIn(opened)} {
			current, replaced, err := keys.exchange(t.Context(), keys.signing.Load(), nil)
			if err != nil || len(current.secret) < minSigningKey {
				t.Errorf("%s, with the key %q: %q, %v; want another key", name, short, current.secret, err)
			}
			for _, key := range replaced {
				if string(key.secret) == short {
					t.Errorf("%s: the key %q counts as a replaced one", name, short)
				}
			}
		}
		if got, err := running.byID(t.Context(), newSigningKey([]byte(short)).id); err == nil && got != nil {
			t.Errorf("tokens of the key %q are accepted", short)
		}
		if got, err := running.byID(t.Context(), before.id); err != nil || got == nil {
			t.Errorf("tokens of the key before are not accepted: %v", err)
		}
	}
}
