package cache_test

import (
	"strings"
	"testing"

	"larder/cache"
	"larder/internal/redisdb"
	"larder/internal/testkit/cachetest"
	"larder/internal/testkit/topology"
)

// What a version's stop lists said lives as long as its record (policy S7).
func TestStopValuesLiveAsTheirVersion(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{History: 2})
		cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(""))
		cachetest.Publish(t, s, bistro, 1, cachetest.ChainMenu(`,"disabled":true`)) // takes the place of 1
		cachetest.Publish(t, s, bistro, 2, cachetest.MenuJSON(3, 1))
		cachetest.Publish(t, s, bistro, 3, cachetest.MenuJSON(3, 2)) // pushes 2 out
		cachetest.UpdateStops(t, s, noon, []byte(strings.ReplaceAll(string(cachetest.MenuJSON(3, 2)), `StopList":[]`, `StopList":["grill"]`)))
		for version, want := range map[int64]bool{1: false, 2: false, 3: true, 4: true} {
			record, stops := cache.NewKeys(r.Prefix()).Record(bistro, version), cache.NewKeys(r.Prefix()).StopValues(bistro, version)
			for _, key := range []string{record, stops} {
				if life := r.Client().TTL(t.Context(), key).Val(); (life == -1) != want || life == -2 {
					t.Errorf("%s lives %s, want for ever %t", key, life, want)
				}
			}
		}
	})
}
