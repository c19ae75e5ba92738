package replica

import (
	"testing"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// A foreign value under the key of rejection reasons does not stop the refresh of
// menus.
func TestPoll_ForeignReasons(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		replica := New(s, Config{Connections: []string{"main", "other"}})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 0))
		read(t, replica, bistro)
		cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 1))
		if err := r.Client().Set(t.Context(), cache.NewKeys(r.Prefix()).Reasons("main"), "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveReasons(t.Context(), "other", []byte(`[]`)); err != nil {
			t.Fatal(err)
		}
		_ = replica.Poll(t.Context())
		if v := read(t, replica, bistro).Version.Version; v != 2 {
			t.Errorf("version %d is served after a poll, want 2", v)
		}
		if err := r.Client().Del(t.Context(), cache.NewKeys(r.Prefix()).Reasons("other")).Err(); err != nil {
			t.Fatal(err)
		}
		if raw, err := replica.Reasons(t.Context(), "other"); err != nil || string(raw) != "[]" {
			t.Errorf("the other connection's reasons: %q, %v; want those in memory", raw, err)
		}
	})
}
