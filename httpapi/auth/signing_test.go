package auth

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"larder/cache"
	"larder/internal/redisdb"
	"larder/internal/silentlog"
	"larder/internal/testkit/redistest"
)

// keysIn is what one instance holds of the keys in Redis.
func keysIn(opened *redisdb.DB) *signingKeys {
	names := cache.NewKeys(opened.Prefix())
	return &signingKeys{
		clock: time.Now, redis: opened.Client(), name: names.SigningKey(), replacedName: names.ReplacedSigningKeys(), lifetime: time.Hour,
	}
}

// A read of the key is for all who ask, so the client that caused it and left
// does not fail it for them.
func TestAClientThatLeavesDoesNotFailTheReadOfTheKey(t *testing.T) {
	t.Parallel()
	opened, err := redisdb.Open(redisdb.Config{URL: redisdb.Embedded}, silentlog.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
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

// A larder seeks the key from its start, so that it recognises the tokens of all
// others when Redis goes away, whether it has seen one or not.
func TestTheKeyIsReadWhenRedisAnswers(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opened, err := redisdb.Open(redisdb.Config{URL: server.URL()}, silentlog.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	newKeys := func() *signingKeys { return keysIn(opened) }
	key, err := newKeys().current(t.Context()) // another larder's
	if err != nil {
		t.Fatal(err)
	}
	// A Redis that takes no commands yet, as one that starts.
	if err := server.Client().ClientPause(t.Context(), time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	keys := newKeys()
	reading, stop := context.WithCancel(t.Context())
	defer stop()
	go keys.run(reading)
	for keys.signing.Load() == nil && t.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
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

// After FLUSHALL every token that any instance has issued is accepted by every
// instance, and all sign with one key, also where an instance that started then
// was the first to ask. So it is after a second FLUSHALL, until the tokens of the
// replaced key have expired.
func TestSigningKeys_AfterFlushAll(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opened, err := redisdb.Open(redisdb.Config{URL: server.URL()}, silentlog.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	ctx := t.Context()
	var now atomic.Int64 // seconds
	now.Store(1_800_000_000)
	instance := func() *signingKeys {
		k := keysIn(opened)
		k.clock = func() time.Time { return time.Unix(now.Load(), 0) }
		return k
	}
	refresh := func(all ...*signingKeys) { // as run does; a second time for what others have stored
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
	refresh(started) // makes a key before the others look
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
