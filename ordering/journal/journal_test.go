package journal_test

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/testkit/redistest"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// TestEmbedded runs the suite with the embedded Redis.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T, retention journaltest.Retention) journaltest.Fixture {
		return fixture(t, redisdb.Embedded, retention)
	})
}

// TestRedis runs the suite with a redis-server that writes to disk. The fixtures share one
// server and have different prefixes.
func TestRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	journaltest.Run(t, func(t *testing.T, retention journaltest.Retention) journaltest.Fixture {
		return fixture(t, server.URL(), retention)
	})
}

// TestSentinel and TestOverCluster run the suite with the other topologies of Redis.
func TestSentinel(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T, retention journaltest.Retention) journaltest.Fixture {
		t.Helper()
		return fixture(t, servers.Sentinel(t).URL(), retention)
	})
}

func TestOverCluster(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T, retention journaltest.Retention) journaltest.Fixture {
		t.Helper()
		return fixture(t, servers.Cluster(t).URL(), retention)
	})
}

func fixture(t *testing.T, url string, retention journaltest.Retention) journaltest.Fixture {
	t.Helper()
	cfg := config(retention)
	prefix := rand.Text()
	r := open(t, url, prefix)
	first := journal.New(r, cfg, quiet())
	t.Cleanup(func() {
		if !t.Failed() {
			wantLists(t, r, first, "main")
			wantLists(t, r, first, "other")
		}
	})
	return journaltest.Fixture{
		Lose:    func(t *testing.T, connection string) { loseData(t, r, prefix+":{o:"+connection+"}:*") },
		Journal: first,
		Again:   func(*testing.T) ordering.Journal { return journal.New(r, cfg, quiet()) },
	}
}

func config(retention journaltest.Retention) ordering.Config {
	cfg := ordering.DefaultConfig()
	cfg.KeyTTL, cfg.CustomerDataTTL, cfg.RecordTTL = retention.Key, retention.Guest, retention.Record
	cfg.AllowNonDurable, cfg.AcceptRestore = true, new(false)
	return cfg
}

// loseData deletes all keys that have the form.
func loseData(t *testing.T, r *redisdb.DB, form string) {
	t.Helper()
	deleteKeys := func(ctx context.Context, client redis.Cmdable) error {
		keys := client.Scan(ctx, 0, form, 1000).Iterator()
		for keys.Next(ctx) {
			if err := client.Del(ctx, keys.Val()).Err(); err != nil {
				return err
			}
		}
		return keys.Err()
	}
	var err error
	if cluster, ok := r.Client().(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), func(ctx context.Context, master *redis.Client) error { return deleteKeys(ctx, master) })
	} else {
		err = deleteKeys(t.Context(), r.Client())
	}
	if err != nil {
		t.Fatalf("delete %s: %v", form, err)
	}
}
