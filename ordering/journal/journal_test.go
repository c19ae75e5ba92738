package journal_test

import (
	"context"
	"crypto/rand"
	"io"
	"testing"

	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/journaltest"
	"larder/internal/redistest"
	"larder/ordering"
	"larder/ordering/journal"
)

// TestEmbedded holds the suite over the embedded Redis.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T, lives journaltest.Lives) journaltest.Fixture {
		return fixture(t, cache.Embedded, lives)
	})
}

// TestRedis holds the suite over a redis-server that writes to disk. The
// fixtures share one server, each with a prefix of its own.
func TestRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	journaltest.Run(t, func(t *testing.T, lives journaltest.Lives) journaltest.Fixture {
		return fixture(t, server.URL(), lives)
	})
}

func fixture(t *testing.T, url string, lives journaltest.Lives) journaltest.Fixture {
	t.Helper()
	cfg := config(lives)
	r := open(t, url, "t-"+rand.Text())
	return journaltest.Fixture{
		Journal: journal.New(r, cfg, quiet()),
		Again:   func(*testing.T) ordering.Journal { return journal.New(r, cfg, quiet()) },
	}
}

func config(lives journaltest.Lives) ordering.Config {
	cfg := ordering.DefaultConfig()
	cfg.KeyTTL, cfg.GuestTTL, cfg.RecordTTL = lives.Key, lives.Guest, lives.Record
	cfg.AllowVolatile = true
	return cfg
}

// open opens a Redis until the test ends; an embedded one's keys expire.
func open(t *testing.T, url, prefix string) *cache.Redis {
	t.Helper()
	r, err := cache.Open(t.Context(), cache.RedisConfig{URL: url, Prefix: prefix}, quiet())
	if err != nil {
		t.Fatalf("open redis: %v", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("redis: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("close redis: %v", err)
		}
	})
	return r
}

func quiet() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}
