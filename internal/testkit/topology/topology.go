// Package topology runs tests on a Redis of every topology that larder supports:
// embedded, a single server, TLS, Sentinel and a cluster.
//
// Each test gets an open connection with its own prefix, so that tests share
// servers and run at the same time. The tests of cache and cache/replica use it. It
// never imports cache, whose internal tests use it too.
package topology

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/leaktest"
	"larder.local/internal/testkit/redistest"
)

// servers are those of the topologies that take seconds to start.
var servers redistest.Shared //nolint:gochecknoglobals // one for all tests of a process

// Main runs the tests of a package and exits. TestMain calls it. It fails if a test
// leaves a goroutine behind.
func Main(m *testing.M) {
	redis.SetLogger(silent{}) // it logs each refused connection of tests that stop a server
	leaktest.Main(servers.Main(m))
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Each runs a test on a Redis of every topology.
func Each(t *testing.T, behaviour func(t *testing.T, r *redisdb.DB)) {
	t.Helper()
	EmbeddedAndSingle(t, behaviour)
	for name, config := range map[string]func(t *testing.T) redisdb.Config{
		"tls": func(t *testing.T) redisdb.Config {
			t.Helper()
			server := redistest.Start(t, redistest.TLS())
			return redisdb.Config{URL: server.URL(), CAFile: server.CAFile()}
		},
		"sentinel": func(t *testing.T) redisdb.Config {
			t.Helper()
			return redisdb.Config{URL: servers.Sentinel(t).URL()}
		},
		"cluster": func(t *testing.T) redisdb.Config {
			t.Helper()
			return redisdb.Config{URL: servers.Cluster(t).URL()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behaviour(t, openApart(t, config(t)))
		})
	}
}

// EmbeddedAndSingle runs a test on the embedded Redis and on a single real one: for
// slow tests that do not depend on topologies or keys.
func EmbeddedAndSingle(t *testing.T, behaviour func(t *testing.T, r *redisdb.DB)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		behaviour(t, openApart(t, redisdb.Config{URL: redisdb.Embedded}))
	})
	t.Run("single", func(t *testing.T) {
		t.Parallel()
		behaviour(t, openApart(t, redisdb.Config{URL: redistest.Start(t).URL()}))
	})
}

// Open opens a Redis with the default prefix and closes it when the test ends.
func Open(tb testing.TB, url string) *redisdb.DB {
	tb.Helper()
	return open(tb, redisdb.Config{URL: url})
}

// openApart opens a Redis with a unique prefix.
func openApart(tb testing.TB, cfg redisdb.Config) *redisdb.DB {
	tb.Helper()
	cfg.Prefix = rand.Text()
	return open(tb, cfg)
}

func open(tb testing.TB, cfg redisdb.Config) *redisdb.DB {
	tb.Helper()
	r, err := redisdb.Open(cfg, silentlog.New())
	if err != nil {
		tb.Fatalf("open %s: %v", cfg.URL, err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return r
}

// DeleteAllKeys deletes every key of the Redis's prefix, like a Redis that loses
// its data.
func DeleteAllKeys(t *testing.T, r *redisdb.DB) {
	t.Helper()
	remove := func(ctx context.Context, client *redis.Client) error {
		keys := client.Scan(ctx, 0, r.Prefix()+":*", 1000).Iterator()
		for keys.Next(ctx) {
			if err := client.Del(ctx, keys.Val()).Err(); err != nil {
				return err
			}
		}
		return keys.Err()
	}
	var err error
	switch client := r.Client().(type) {
	case *redis.Client:
		err = remove(t.Context(), client)
	case *redis.ClusterClient:
		err = client.ForEachMaster(t.Context(), remove)
	}
	if err != nil {
		t.Fatal(err)
	}
}
