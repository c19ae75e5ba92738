package journal_test

import (
	"crypto/rand"
	"testing"

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

// TestSentinel and TestOverCluster hold the suite over the other forms of Redis.
func TestSentinel(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T, lives journaltest.Lives) journaltest.Fixture {
		t.Helper()
		return fixture(t, servers.Sentinel(t).URL(), lives)
	})
}

func TestOverCluster(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T, lives journaltest.Lives) journaltest.Fixture {
		t.Helper()
		return fixture(t, servers.Cluster(t).URL(), lives)
	})
}

func fixture(t *testing.T, url string, lives journaltest.Lives) journaltest.Fixture {
	t.Helper()
	cfg := config(lives)
	r := open(t, url, rand.Text())
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
