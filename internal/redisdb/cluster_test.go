package redisdb_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
)

// lossy lets a command run on any node and loses its response.
type lossy struct{ runs *int }

func (l lossy) DialHook(next redis.DialHook) redis.DialHook { return next }

func (l lossy) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.Name() != "incr" || err != nil {
			return err
		}
		*l.runs++
		return &net.OpError{Op: "read", Net: "tcp", Err: io.EOF}
	}
}

func (l lossy) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// The client without retries follows the redirects of a cluster, and does not repeat a
// command without a response. The other client repeats it.
func TestClusterSendsOnce(t *testing.T) {
	t.Parallel()
	r := open(t, shared.Cluster(t).URL())
	for name, test := range map[string]struct {
		client redis.UniversalClient
		want   func(runs int) bool
	}{
		"strict":   {r.NoRetry(), func(runs int) bool { return runs == 1 }},
		"ordinary": {r.Client(), func(runs int) bool { return runs > 1 }},
	} {
		cluster, ok := test.client.(*redis.ClusterClient)
		if !ok {
			t.Fatalf("%s is a %T", name, test.client)
		}
		key := name + rand.Text() // all tests share the cluster
		node, err := cluster.MasterForKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		node.AddHook(lossy{&runs}) // below the hook of the cluster's client
		if err := cluster.Incr(t.Context(), key).Err(); err == nil || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: INCR = %v, want an error for the lost response", name, err)
		}
		if got, err := cluster.Get(t.Context(), key).Int(); err != nil || got != runs || !test.want(runs) {
			t.Errorf("%s: the command ran %d times, the key is %d, %v", name, runs, got, err)
		}
	}
}

// ServerInfo returns the kind of each topology.
func TestServerInfo(t *testing.T) {
	t.Parallel()
	for form, url := range map[redisdb.Topology]string{
		redisdb.Embedded: redisdb.Embedded, redisdb.Single: redistest.Start(t).URL(),
		redisdb.Sentinel: shared.Sentinel(t).URL(), redisdb.Cluster: shared.Cluster(t).URL(),
	} {
		about, err := open(t, url).ServerInfo(t.Context())
		server := `(redis|valkey) [0-9]+\.[0-9.]+`
		if form == redisdb.Embedded {
			server = "miniredis"
		}
		if err != nil || !regexp.MustCompile("^"+string(form)+", "+server+"$").MatchString(about) {
			t.Errorf("%s: %q, %v", form, about, err)
		}
	}
	_, err := open(t, "redis+cluster://127.0.0.1:1").ServerInfo(t.Context())
	if !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("a server that is not running: %v, want ErrUnavailable", err)
	}
}

// TestSecuredGroups uses TLS with a private CA, the data password from the URL, and the
// Sentinels' password from the settings.
func TestSecuredGroups(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(t *testing.T) redisdb.Config{
		"single": func(t *testing.T) redisdb.Config {
			t.Helper()
			server := redistest.Start(t, redistest.TLS(), redistest.Password("hunter2"))
			return redisdb.Config{URL: server.URL(), CAFile: server.CAFile()}
		},
		"sentinel": func(t *testing.T) redisdb.Config {
			t.Helper()
			group := redistest.StartSentinel(t, redistest.TLS(), redistest.Password("hunter2"), redistest.Patient())
			return redisdb.Config{URL: group.URL(), CAFile: group.CAFile(), SentinelPassword: group.OwnPassword()}
		},
		"cluster": func(t *testing.T) redisdb.Config {
			t.Helper()
			cluster := redistest.StartCluster(t, 0, redistest.TLS(), redistest.Password("hunter2"), redistest.Patient())
			return redisdb.Config{URL: cluster.URL(), CAFile: cluster.CAFile()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			for wrong, change := range map[string]func(*redisdb.Config){
				"the system's authorities":      func(c *redisdb.Config) { c.CAFile = "" },
				"another password":              func(c *redisdb.Config) { c.URL = strings.Replace(c.URL, "hunter2", "hunter3", 1) },
				"no password for the Sentinels": func(c *redisdb.Config) { c.SentinelPassword = "" },
			} {
				other := cfg
				if change(&other); other == cfg {
					continue // it has no Sentinels
				}
				if err := openWith(t, other).Ping(t.Context()); !errors.Is(err, redisdb.ErrUnavailable) || strings.Contains(err.Error(), "hunter") {
					t.Errorf("with %s: %v, want ErrUnavailable without the password", wrong, err)
				}
			}
			r := openWith(t, cfg)
			for name, client := range map[string]redis.UniversalClient{"retries": r.Client(), "never retries": r.NoRetry()} {
				key := r.Prefix() + ":" + name
				if err := errors.Join(client.Set(t.Context(), key, "soup", 0).Err(), client.Get(t.Context(), key).Err()); err != nil {
					t.Errorf("the client that %s: %v", name, err)
				}
			}
		})
	}
}

// Without one of its masters, a cluster is down for both clients.
func TestClusterWithoutAMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 0, redistest.AppendOnly())
	r := open(t, cluster.URL())
	if err := r.Ping(t.Context()); err != nil {
		t.Fatalf("ping: %v", err)
	}
	gone := cluster.Nodes()[1]
	gone.Stop()
	for range 20 {
		if err := r.Ping(t.Context()); !errors.Is(err, redisdb.ErrUnavailable) {
			t.Errorf("ping: %v, want ErrUnavailable", err)
		}
	}
	gone.Restart()
	eventually(t, "the cluster responds again", func() bool { return r.Ping(t.Context()) == nil && r.Client().Ping(t.Context()).Err() == nil })
}
