package httpapi

import (
	"context"
	"testing"
	"time"

	"larder/cache"
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
