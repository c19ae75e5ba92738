package httpapi

import (
	"context"
	"testing"
	"time"

	"larder/cache"
	"larder/internal/redistest"
)

// A read of the key is for all who ask, so the client that caused it and left
// does not fail it for them.
func TestAClientThatLeavesDoesNotFailTheReadOfTheKey(t *testing.T) {
	t.Parallel()
	opened, err := cache.Open(t.Context(), cache.RedisConfig{URL: cache.Embedded}, silent())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	keys := &signingKeys{clock: time.Now, redis: opened.Client(), name: opened.Keys().SigningKey()}
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := keys.current(left); err != nil {
		t.Errorf("the client that left: %v", err)
	}
	if _, err := keys.current(t.Context()); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// A larder seeks the key from its start, so that it tells the tokens of all
// others when Redis goes away, whether it has seen one or not.
func TestTheKeyIsReadWhenRedisAnswers(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opened, err := cache.Open(t.Context(), cache.RedisConfig{URL: server.URL()}, silent())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	newKeys := func() *signingKeys {
		return &signingKeys{clock: time.Now, redis: opened.Client(), name: opened.Keys().SigningKey()}
	}
	key, err := newKeys().current(t.Context()) // another larder's
	if err != nil {
		t.Fatal(err)
	}
	// A Redis that takes no commands yet, as one that starts.
	if err := server.Client().ClientPause(t.Context(), time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	keys := newKeys()
	keys.seek(t.Context())
	server.Stop()
	if got, err := keys.byID(t.Context(), key.id); err != nil || got == nil || string(got.secret) != string(key.secret) {
		t.Errorf("without Redis: key %v, %v; want the other larder's", got, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	never := newKeys()
	go func() {
		defer close(done)
		never.seek(ctx)
	}()
	cancel()
	<-done
	if _, err := never.current(t.Context()); err == nil {
		t.Error("a key came from a Redis that is gone")
	}
}
