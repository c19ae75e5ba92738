package cache_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// A publisher gets the current version, whether its content is stored, and the
// floor if Redis has lost the served version (policy S2a).
func TestState(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s, keys := cache.NewStore(r, cache.StoreConfig{}), cache.NewKeys(r.Prefix())
		want := func(when string, held cache.Version, version int64, stored bool, floor int64) {
			t.Helper()
			asked := 0
			got, err := s.State(t.Context(), bistro, held, func(pipe redis.Pipeliner) {
				asked++
				pipe.Exists(t.Context(), keys.Lease(bistro))
			})
			if err != nil || got.Version.Version != version || got.Stored != stored || got.Floor != floor || asked != 1 {
				t.Errorf("%s: %+v, %v, commands added %d times; want version %d, stored %t, floor %d", when, got, err, asked, version, stored, floor)
			}
		}
		want("before the first publish", cache.Version{}, 0, false, 0)
		p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, 1))
		one, err := s.Publish(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want("nothing in memory", cache.Version{}, 1, true, 0)
		want("the version in memory", one, 1, true, 0)
		two := cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 2))
		want("the previous version in memory", one, 2, true, 0)
		if err := r.Client().Del(t.Context(), keys.ContentBody(two.Content)).Err(); err != nil {
			t.Fatal(err)
		}
		want("the content is lost, the version in memory", two, 2, false, 0)
		want("the content is lost, nothing in memory", cache.Version{}, 2, false, 0)
		if _, err := s.Content(t.Context(), two.Content, nil); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("the lost content: %v, want ErrNoCatalogue", err)
		}
		topology.DeleteAllKeys(t, r)
		want("everything is lost", two, 0, false, 2)
	})
}

// Statuses come in the order of the request, and show whether Redis has lost the
// served version.
func TestStatuses(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		v := cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 2))
		if err := r.Client().Set(t.Context(), cache.NewKeys(r.Prefix()).Current("diner"), "not a record", 0).Err(); err != nil {
			t.Fatal(err)
		}
		var ids []menu.RestaurantID
		got := map[menu.RestaurantID]cache.Version{}
		asked := []menu.RestaurantID{"grill", bistro, "diner"}
		if err := s.Statuses(t.Context(), asked, func(there cache.Version) {
			ids, got[there.Restaurant] = append(ids, there.Restaurant), there
		}); err != nil {
			t.Fatal(err)
		}
		if len(ids) != 3 || ids[0] != asked[0] || ids[1] != asked[1] || ids[2] != asked[2] {
			t.Errorf("statuses of %v, want %v", ids, asked)
		}
		for _, id := range []menu.RestaurantID{"grill", "diner"} { // without a catalogue, with a foreign key
			if diff := cmp.Diff(cache.Version{Restaurant: id}, got[id]); diff != "" {
				t.Errorf("of %s: -want +got:\n%s", id, diff)
			}
		}
		there := got[bistro]
		if there.Version != 2 || there.Content != v.Content || there.Published != v.Published || !v.With(there).PublishedAt.Equal(v.PublishedAt) {
			t.Errorf("got %+v, want the status of %+v", there, v)
		}
		same, later, twin := v, v, v
		later.Version = 3
		twin.SyncedAt = twin.SyncedAt.Add(time.Millisecond)
		for name, c := range map[string]struct {
			served cache.Version
			lost   bool
		}{
			"the version that is current":      {same, false},
			"one that Redis never had":         {later, true},
			"another version with this number": {twin, true},
		} {
			if c.served.Lost(there) != c.lost {
				t.Errorf("%s: lost %t, want %t", name, !c.lost, c.lost)
			}
		}
		there.Floor = 3
		if later.Lost(there) {
			t.Error("a version below the floor counts as lost again")
		}
	})
}
