package cache_test

import (
	"testing"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// A hold is set with a version, kept by the next one and ended by Release (policy
// S7a).
func TestHold(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		want := func(when string, hold cache.Hold) {
			t.Helper()
			if v, err := s.Current(t.Context(), bistro); err != nil || v.Hold != hold || v.Held != (hold != cache.Hold{}) {
				t.Errorf("%s: hold %+v, held %t, %v; want %+v", when, v.Hold, v.Held, err, hold)
			}
		}
		p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, 1))
		p.Hold = &cache.Hold{Until: cache.HoldNextChange, Of: "another content"}
		if _, err := s.Publish(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		want("in its version", *p.Hold)
		cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 1, "d1"))
		want("in the next version", *p.Hold)
		if got, err := s.Release(t.Context(), bistro); err != nil || got.Until != p.Hold.Until {
			t.Errorf("released %+v, %v; want %+v", got, err, *p.Hold)
		}
		want("after its release", cache.Hold{})
		if got, err := s.Release(t.Context(), bistro); err != nil || got != (cache.Hold{}) {
			t.Errorf("released %+v, %v; want none", got, err)
		}
	})
}
