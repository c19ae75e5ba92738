package redisdb_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/leaktest"
	"larder.local/internal/testkit/redistest"
)

// shared are the servers that take seconds to start.
var shared redistest.Shared

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // it logs every refused connection in tests that stop a server
	leaktest.Main(shared.Main(m))
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func quiet() logrus.FieldLogger {
	log, _ := test.NewNullLogger()
	return log
}

// open opens a Redis and closes it when the test ends.
func open(tb testing.TB, url string) *redisdb.DB {
	tb.Helper()
	return openWith(tb, redisdb.Config{URL: url})
}

func openWith(tb testing.TB, cfg redisdb.Config) *redisdb.DB {
	tb.Helper()
	r, err := redisdb.Open(cfg, quiet())
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return r
}

// eventually waits until the condition is true.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("not within 20 s: %s", what)
		case <-ticker.C:
		}
	}
}

func TestOpenDoesNotWaitForTheServer(t *testing.T) {
	t.Parallel()
	r := open(t, "redis://127.0.0.1:1/0") // nothing listens there
	if err := r.Ping(t.Context()); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("ping: %v, want ErrUnavailable", err)
	}
	if r.Embedded() {
		t.Error("a separate server counts as embedded")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestEmbeddedRequiresItsPassword(t *testing.T) {
	t.Parallel()
	r := open(t, redisdb.Embedded)
	if !r.Embedded() || r.Ping(t.Context()) != nil {
		t.Fatalf("embedded %t, ping %v", r.Embedded(), r.Ping(t.Context()))
	}
	client, ok := r.Client().(*redis.Client)
	if !ok {
		t.Fatalf("client is a %T", r.Client())
	}
	stranger := redis.NewClient(&redis.Options{Addr: client.Options().Addr})
	err := stranger.Ping(t.Context()).Err()
	if closeErr := stranger.Close(); closeErr != nil {
		t.Error(closeErr)
	}
	if err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("without the password: %v, want NOAUTH", err)
	}
}

func TestEmbeddedKeysExpire(t *testing.T) {
	t.Parallel()
	r := open(t, redisdb.Embedded)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	if err := r.Client().Set(t.Context(), "k", "v", 100*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the key has expired", func() bool { return r.Client().Exists(t.Context(), "k").Val() == 0 })
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestNoRetryClientNeverRetries(t *testing.T) {
	t.Parallel()
	r := open(t, redisdb.Embedded)
	strict, ok := r.NoRetry().(*redis.Client)
	if !ok {
		t.Fatalf("strict is a %T", r.NoRetry())
	}
	// go-redis keeps "no retries" as 0 after NewClient.
	if got := strict.Options().MaxRetries; got > 0 {
		t.Errorf("MaxRetries %d, want none", got)
	}
	ordinary, ok := r.Client().(*redis.Client)
	if !ok || ordinary.Options().MaxRetries < 1 {
		t.Error("the ordinary client does not retry")
	}
}
