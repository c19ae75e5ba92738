package cache

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus/hooks/test"

	"larder/internal/redisdb"
	"larder/internal/testkit/redistest"
)

// SharedServers are the servers of the topologies that take seconds to start.
var SharedServers redistest.Shared

// OnEveryTopology runs a test on a Redis of every topology: the store behaves the
// same on all of them.
func OnEveryTopology(t *testing.T, behaviour func(t *testing.T, r *redisdb.DB)) {
	t.Helper()
	OnEmbeddedAndSingle(t, behaviour)
	for name, config := range map[string]func(t *testing.T) redisdb.Config{
		"tls": func(t *testing.T) redisdb.Config {
			t.Helper()
			server := redistest.Start(t, redistest.TLS())
			return redisdb.Config{URL: server.URL(), CAFile: server.CAFile()}
		},
		"sentinel": func(t *testing.T) redisdb.Config {
			t.Helper()
			return redisdb.Config{URL: SharedServers.Sentinel(t).URL()}
		},
		"cluster": func(t *testing.T) redisdb.Config {
			t.Helper()
			return redisdb.Config{URL: SharedServers.Cluster(t).URL()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behaviour(t, openConfig(t, config(t)))
		})
	}
}

// OnEmbeddedAndSingle runs a test on the embedded Redis and on a single real one:
// for slow tests that concern neither topologies nor keys.
func OnEmbeddedAndSingle(t *testing.T, behaviour func(t *testing.T, r *redisdb.DB)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		behaviour(t, openConfig(t, redisdb.Config{URL: redisdb.Embedded}))
	})
	t.Run("single", func(t *testing.T) {
		t.Parallel()
		behaviour(t, openConfig(t, redisdb.Config{URL: redistest.Start(t).URL()}))
	})
}

// openConfig opens a Redis under a prefix that no other test has.
func openConfig(tb testing.TB, cfg redisdb.Config) *redisdb.DB {
	tb.Helper()
	log, _ := test.NewNullLogger()
	cfg.Prefix = rand.Text()
	r, err := redisdb.Open(cfg, log)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return r
}

// DeleteAllKeys deletes every key of the Redis's prefix, as a Redis that loses its
// data would.
func DeleteAllKeys(t *testing.T, r *redisdb.DB) {
	t.Helper()
	forget := func(ctx context.Context, client *redis.Client) error {
		keys := client.Scan(ctx, 0, NewKeys(r.Prefix()).prefix+":*", 1000).Iterator()
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
		err = forget(t.Context(), client)
	case *redis.ClusterClient:
		err = client.ForEachMaster(t.Context(), forget)
	}
	if err != nil {
		t.Fatal(err)
	}
}
