package cache_test

import (
	"testing"

	"larder.local/cache"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

// After a failover, both clients find the new master within seconds, and no
// published data is lost.
func TestClusterFailover(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 1)
	r := topology.Open(t, cluster.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
	key := cache.NewKeys(r.Prefix()).Current(bistro)
	old := cluster.MasterOf(key)
	if n, err := old.Client().Do(t.Context(), "WAIT", 1, 5000).Int(); n != 1 || err != nil {
		t.Fatalf("WAIT = %d, %v; want 1", n, err)
	}
	old.Stop()
	cluster.AwaitFailover(key, old)
	wantPublishes(t, s)
}

// wantPublishes waits until the published version can be read and replaced by the next
// one.
func wantPublishes(t *testing.T, s *cache.Store) {
	t.Helper()
	cachetest.Eventually(t, "the version is read and the next one published", func() bool {
		v, err := s.Current(t.Context(), bistro)
		if err != nil {
			return false
		}
		next, err := s.Publish(t.Context(), cachetest.Publication(t, bistro, v.Version, cachetest.MenuJSON(3, 1+v.Version)))
		return err == nil && next.Version > 1
	})
}

// The same test with Sentinel.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	group := redistest.StartSentinel(t, redistest.AppendOnly())
	r := topology.Open(t, group.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
	old := group.Master()
	if n, err := old.Client().Do(t.Context(), "WAIT", 2, 5000).Int(); n != 2 || err != nil {
		t.Fatalf("WAIT = %d, %v; want 2", n, err)
	}
	old.Stop()
	group.AwaitFailover(old)
	wantPublishes(t, s)
}
