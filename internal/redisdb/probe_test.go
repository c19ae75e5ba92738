package redisdb_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
)

// The channels that the tests probe.
const (
	notices    = "larder:f1:notices"
	runNotices = "larder:f1:run-notices"
)

func TestProbeKeysExpire(t *testing.T) {
	t.Parallel()
	tls := redistest.Start(t, redistest.TLS())
	for name, cfg := range map[string]redisdb.Config{
		"embedded": {}, "single": {URL: redistest.Start(t).URL()}, "tls": {URL: tls.URL(), CAFile: tls.CAFile()},
		"sentinel": {URL: shared.Sentinel(t).URL()}, "cluster": {URL: shared.Cluster(t).URL()},
	} {
		cfg.Prefix = rand.Text() // no other test has it
		r := openWith(t, cfg)
		for _, channels := range [][]string{nil, {cfg.Prefix + ":a", cfg.Prefix + ":b"}} {
			if err := r.Probe(t.Context(), channels...); err != nil {
				t.Fatalf("%s, a healthy Redis: %v", name, err)
			}
		}
		written := probes(t, r)
		want := 1
		if r.Topology() == redisdb.Cluster {
			want = 3 // of each master
		}
		if len(written) != want {
			t.Errorf("%s: the keys %q were written, want %d", name, written, want)
		}
		for _, key := range written {
			if left := r.Client().PTTL(t.Context(), key).Val(); left <= 0 || left > time.Minute {
				t.Errorf("%s: the TTL of %s is %s", name, key, left)
			}
		}
	}
}

// probes returns the keys of the Redis's prefix.
func probes(t *testing.T, r *redisdb.DB) []string {
	t.Helper()
	var mu sync.Mutex
	var found []string
	scan := func(ctx context.Context, client redis.UniversalClient) error {
		keys := client.Scan(ctx, 0, r.Prefix()+":*", 1000).Iterator()
		for keys.Next(ctx) {
			mu.Lock()
			found = append(found, keys.Val())
			mu.Unlock()
		}
		return keys.Err()
	}
	var err error
	if cluster, ok := r.Client().(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), func(ctx context.Context, master *redis.Client) error { return scan(ctx, master) })
	} else {
		err = scan(t.Context(), r.Client())
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A probe tests whether larder may publish, and publishes nothing.
func TestProbeSendsNoNotices(t *testing.T) {
	t.Parallel()
	channels := []string{notices, runNotices}
	for _, address := range []string{redisdb.Embedded, redistest.Start(t).URL()} {
		r := open(t, address)
		subscription := r.Client().Subscribe(t.Context(), channels...)
		t.Cleanup(func() { _ = subscription.Close() })
		next := func() *redis.Message {
			for {
				got, err := subscription.ReceiveTimeout(t.Context(), 10*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if message, ok := got.(*redis.Message); ok {
					return message
				}
			}
		}
		for range channels {
			if _, err := subscription.Receive(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(r.Probe(t.Context()), r.Probe(t.Context(), channels...), r.Client().Publish(t.Context(), channels[0], "payload").Err()); err != nil {
			t.Fatal(err)
		}
		if got := next(); got.Payload != "payload" {
			t.Errorf("received %q on %s", got.Payload, got.Channel)
		}
	}
}

// TestProbeIsRefused covers every way in which a Redis that responds to Ping
// refuses writes.
func TestProbeIsRefused(t *testing.T) {
	t.Parallel()
	set := func(name, value string) func(*testing.T, *redistest.Server) string {
		return func(t *testing.T, server *redistest.Server) string {
			t.Helper()
			if err := server.Client().ConfigSet(t.Context(), name, value).Err(); err != nil {
				t.Fatal(err)
			}
			return server.URL()
		}
	}
	user := func(rules ...any) func(*testing.T, *redistest.Server) string {
		return func(t *testing.T, server *redistest.Server) string {
			t.Helper()
			if err := server.Client().Do(t.Context(), append([]any{"ACL", "SETUSER", "larder", "on", ">secret"}, rules...)...).Err(); err != nil {
				t.Fatal(err)
			}
			return "redis://larder:secret@" + server.Addr() + "/0"
		}
	}
	const lacks = "its user lacks rights: run ACL SETUSER NAME "
	for name, test := range map[string]struct {
		options []redistest.Option
		spoil   func(*testing.T, *redistest.Server) string // returns the URL
		class   string
		reason  string
	}{
		"full":                {nil, set("maxmemory", "1mb"), "OOM", "maxmemory"},
		"without replicas":    {nil, set("min-replicas-to-write", "1"), "NOREPLICAS", "min-replicas-to-write"},
		"cannot save":         {[]redistest.Option{redistest.Config("save", "3600", "1000000")}, failSave, "MISCONF", "disk"},
		"a replica":           {nil, becomeReplica, "READONLY", "write the master's address in redis.url"},
		"other keys":          {nil, user("~other:*", "&*", "+@all"), "NOPERM", lacks + "'~larder:*' in"},
		"no scripts":          {nil, user("~*", "&*", "+@all", "-eval", "-evalsha"), "NOPERM", lacks + "+eval +evalsha in"},
		"no channels":         {nil, user("~*", "resetchannels", "+@all"), "NOPERM", lacks + "'&larder:*' in"},
		"one channel":         {nil, user("~*", "resetchannels", "&larder:f1:notices", "+@all"), "NOPERM", lacks + "'&larder:*' in"},
		"no right to publish": {nil, user("~*", "&*", "+@all", "-publish"), "NOPERM", lacks + "+publish in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, test.options...)
			r := open(t, test.spoil(t, server))
			if err := r.Ping(t.Context()); err != nil && test.class != "MISCONF" { // which refuses pings too
				t.Fatalf("Redis does not respond: %v", err)
			}
			err := r.Probe(t.Context(), notices, runNotices)
			var refused *redisdb.RefusedError
			if !errors.As(err, &refused) || !errors.Is(err, redisdb.ErrUnavailable) {
				t.Fatalf("got %v, want a *RefusedError that is ErrUnavailable", err)
			}
			if refused.Class != test.class || !strings.Contains(refused.Reason(), test.reason) {
				t.Errorf("got class %s, reason %q", refused.Class, refused.Reason())
			}
			if said := redisdb.SafeText(err); !strings.HasPrefix(said, "refuses ") || !strings.HasSuffix(said, ": "+refused.Reason()) || strings.Contains(said, "script") {
				t.Errorf("SafeText = %q", said)
			}
			if strings.Contains(name, "channel") && (r.Probe(t.Context()) != nil || !refused.OrdersUnaffected()) {
				t.Error("a probe without channels fails too, or OrdersUnaffected is false")
			}
		})
	}
}

// failSave makes snapshots fail: a folder has the name of the file.
func failSave(t *testing.T, server *redistest.Server) string {
	t.Helper()
	client := server.Client()
	dir := client.ConfigGet(t.Context(), "dir").Val()["dir"]
	file := client.ConfigGet(t.Context(), "dbfilename").Val()["dbfilename"]
	if err := os.MkdirAll(filepath.Join(dir, file, "occupied"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := client.BgSave(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the snapshot has failed", func() bool {
		return strings.Contains(client.Info(t.Context(), "persistence").Val(), "rdb_last_bgsave_status:err")
	})
	return server.URL()
}

// becomeReplica makes the server follow a server that does not exist.
func becomeReplica(t *testing.T, server *redistest.Server) string {
	t.Helper()
	if err := server.Client().ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	return server.URL()
}

// One full master of a cluster blocks the data on it, so the whole cluster counts
// as refusing.
func TestProbeOfEveryMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 0)
	r := open(t, cluster.URL())
	for i, node := range cluster.Nodes() {
		if err := r.Probe(t.Context(), notices, runNotices); err != nil {
			t.Fatalf("a healthy cluster: %v", err)
		}
		client := node.Client()
		if err := client.ConfigSet(t.Context(), "maxmemory", "1mb").Err(); err != nil {
			t.Fatal(err)
		}
		var refused *redisdb.RefusedError
		if err := r.Probe(t.Context()); !errors.As(err, &refused) || refused.Class != "OOM" {
			t.Errorf("master %d is full: got %v", i, err)
		}
		if err := client.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// An error text for clients never contains the address of Redis.
func TestSafeTextNamesNoAddress(t *testing.T) {
	t.Parallel()
	locked := redistest.Start(t, redistest.Password("a-password"))
	stopped := redistest.Start(t)
	stopped.Stop()
	simple := redistest.Start(t, redistest.Config("rename-command", "EVALSHA", ""))
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"not running":  {open(t, stopped.URL()).Ping(t.Context()), "does not answer: connection refused"},
		"unknown host": {open(t, "redis://redis.invalid:6379/0").Ping(t.Context()), "does not answer: its host name was not found"},
		"locked":       {open(t, "redis://"+locked.Addr()+"/0").Probe(t.Context(), notices, runNotices), "answers with an error: NOAUTH: it requires a password"},
		"no scripts":   {open(t, simple.URL()).Probe(t.Context()), "answers with an error: ERR: it does not have EVAL and EVALSHA, which larder needs"},
		"in time":      {open(t, stopped.URL()).Ping(late), "does not answer: timeout"},
		"anything":     {fmt.Errorf("dial 10.0.0.7:6379: %w", errors.New("odd")), "does not answer"},
	} {
		got := redisdb.SafeText(test.err)
		if got != test.want || test.err == nil {
			t.Errorf("%s: got %q of %v, want %q", name, got, test.err, test.want)
		}
		for _, address := range []string{locked.Addr(), stopped.Addr(), "redis.invalid", "10.0.0.7"} {
			if u := (&url.URL{Host: address}); strings.Contains(got, u.Hostname()) {
				t.Errorf("%s: %q names %s", name, got, address)
			}
		}
	}
}
