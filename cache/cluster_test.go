package cache_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/internal/redistest"
)

// lossy lets a command run and loses its answer, on whatever node.
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

// TestClusterSendsOnce: in a cluster the client for what must not run twice
// follows the cluster's redirects, and repeats nothing whose answer
// was lost. The ordinary one repeats.
func TestClusterSendsOnce(t *testing.T) {
	t.Parallel()
	r := open(t, cache.SharedServers.Cluster(t).URL())
	for name, test := range map[string]struct {
		client redis.UniversalClient
		want   func(runs int) bool
	}{
		"strict":   {r.Strict(), func(runs int) bool { return runs == 1 }},
		"ordinary": {r.Client(), func(runs int) bool { return runs > 1 }},
	} {
		cluster, ok := test.client.(*redis.ClusterClient)
		if !ok {
			t.Fatalf("%s is a %T", name, test.client)
		}
		key := r.Keys().Reasons(name + rand.Text()) // the cluster is that of all tests
		node, err := cluster.MasterForKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		node.AddHook(lossy{&runs}) // below the hook of the cluster's client
		if err := cluster.Incr(t.Context(), key).Err(); err == nil || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: INCR = %v, want the lost answer told of", name, err)
		}
		if got, err := cluster.Get(t.Context(), key).Int(); err != nil || got != runs || !test.want(runs) {
			t.Errorf("%s: the command ran %d times, the key is %d, %v", name, runs, got, err)
		}
	}
}

// TestClusterIsFollowed: after a fail-over both clients find the new master
// within some seconds, and what was written is there.
func TestClusterIsFollowed(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 1)
	r := open(t, cluster.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	publish(t, s, bistro, 0, menuJSON(3, 1))
	key := r.Keys().Current(bistro)
	old := cluster.MasterOf(key)
	if n, err := old.Client().Do(t.Context(), "WAIT", 1, 5000).Int(); n != 1 || err != nil {
		t.Fatalf("WAIT = %d, %v; want 1", n, err)
	}
	old.Stop()
	cluster.AwaitFailover(key, old)
	wantGoesOn(t, s)
}

// wantGoesOn waits until what was published is read and followed by the next.
func wantGoesOn(t *testing.T, s *cache.Store) {
	t.Helper()
	eventually(t, "the version is read and the next one published", func() bool {
		v, err := s.Current(t.Context(), bistro)
		if err != nil {
			return false
		}
		next, err := s.Publish(t.Context(), publication(t, bistro, v.Version, menuJSON(3, 1+v.Version)))
		return err == nil && next.Version > 1
	})
}

// TestSentinelIsFollowed is the same of Sentinel.
func TestSentinelIsFollowed(t *testing.T) {
	t.Parallel()
	group := redistest.StartSentinel(t, redistest.AppendOnly())
	r := open(t, group.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	publish(t, s, bistro, 0, menuJSON(3, 1))
	old := group.Master()
	if n, err := old.Client().Do(t.Context(), "WAIT", 2, 5000).Int(); n != 2 || err != nil {
		t.Fatalf("WAIT = %d, %v; want 2", n, err)
	}
	old.Stop()
	group.AwaitFailover(old)
	wantGoesOn(t, s)
}

// TestAbout says what a Redis of each form is.
func TestAbout(t *testing.T) {
	t.Parallel()
	for form, url := range map[cache.Form]string{
		cache.Embedded: cache.Embedded, cache.Single: redistest.Start(t).URL(),
		cache.Sentinel: cache.SharedServers.Sentinel(t).URL(), cache.Cluster: cache.SharedServers.Cluster(t).URL(),
	} {
		about, err := open(t, url).About(t.Context())
		if err != nil || about.Form != form || about.Server == "" || (form != cache.Embedded) != (about.Version != "") {
			t.Errorf("%s: %+v (%s), %v", form, about, about, err)
		}
	}
	_, err := open(t, "redis+cluster://127.0.0.1:1").About(t.Context())
	if !errors.Is(err, cache.ErrUnavailable) {
		t.Errorf("of nobody: %v, want ErrUnavailable", err)
	}
}

// TestSecuredGroups: TLS by a private authority, the data's password from the
// URL, and the Sentinels' own from the settings, each where it belongs.
func TestSecuredGroups(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(t *testing.T) cache.RedisConfig{
		"single": func(t *testing.T) cache.RedisConfig {
			t.Helper()
			server := redistest.Start(t, redistest.TLS(), redistest.Password("hunter2"))
			return cache.RedisConfig{URL: server.URL(), CAFile: server.CAFile()}
		},
		"sentinel": func(t *testing.T) cache.RedisConfig {
			t.Helper()
			group := redistest.StartSentinel(t, redistest.TLS(), redistest.Password("hunter2"), redistest.Patient())
			return cache.RedisConfig{URL: group.URL(), CAFile: group.CAFile(), SentinelPassword: group.OwnPassword()}
		},
		"cluster": func(t *testing.T) cache.RedisConfig {
			t.Helper()
			cluster := redistest.StartCluster(t, 0, redistest.TLS(), redistest.Password("hunter2"), redistest.Patient())
			return cache.RedisConfig{URL: cluster.URL(), CAFile: cluster.CAFile()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			for wrong, change := range map[string]func(*cache.RedisConfig){
				"the system's authorities": func(c *cache.RedisConfig) { c.CAFile = "" },
				"another password":         func(c *cache.RedisConfig) { c.URL = strings.Replace(c.URL, "hunter2", "hunter3", 1) },
				"none for the Sentinels":   func(c *cache.RedisConfig) { c.SentinelPassword = "" },
			} {
				other := cfg
				if change(&other); other == cfg {
					continue // it has no Sentinels
				}
				if err := openWith(t, other).Ping(t.Context()); !errors.Is(err, cache.ErrUnavailable) || strings.Contains(err.Error(), "hunter") {
					t.Errorf("with %s: %v, want ErrUnavailable without a password in it", wrong, err)
				}
			}
			r := openWith(t, cfg)
			publish(t, cache.NewStore(r, cache.StoreConfig{}), bistro, 0, menuJSON(3, 1))
			if _, err := cache.NewStore(r, cache.StoreConfig{}).Current(t.Context(), bistro); err != nil {
				t.Errorf("read back: %v", err)
			}
		})
	}
}

// TestClusterWithoutAMaster is a Redis that is gone, for both clients.
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
		if err := r.Ping(t.Context()); !errors.Is(err, cache.ErrUnavailable) {
			t.Errorf("ping: %v, want ErrUnavailable", err)
		}
	}
	gone.Restart()
	eventually(t, "the cluster answers again", func() bool { return r.Ping(t.Context()) == nil && r.Client().Ping(t.Context()).Err() == nil })
}

func openWith(t *testing.T, cfg cache.RedisConfig) *cache.Redis {
	t.Helper()
	r, err := cache.Open(t.Context(), cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}
