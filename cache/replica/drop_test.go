package replica

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

func TestReplica_Drop(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(5, 7))
		cachetest.Publish(t, s, "grill", 0, cachetest.MenuJSON(5, 7))
		var removed atomic.Bool
		replica := New(s, Config{
			Restaurants: func() []menu.RestaurantID { return []menu.RestaurantID{"grill"} },
			Allowed:     func(id menu.RestaurantID) bool { return id != bistro || !removed.Load() },
		})
		snap := read(t, replica, bistro)
		read(t, replica, "grill")
		if _, err := replica.Menu(snap, encoded.Gzip); err != nil {
			t.Fatal(err)
		}

		removed.Store(true)
		replica.Drop(bistro, "nobody")
		gone := func(when string) {
			t.Helper()
			if _, held := replica.Cached(bistro); held {
				t.Errorf("%s: the removed restaurant is in memory", when)
			}
			if _, held := replica.Cached("grill"); !held {
				t.Errorf("%s: another restaurant was dropped too", when)
			}
		}
		gone("after Drop")
		if _, err := replica.Catalogue(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("a read of it: %v, want ErrNoCatalogue", err)
		}
		gone("after a read")
		replica.Install(snap) // by a run in progress
		gone("after Install")
		if body, err := replica.Menu(snap, encoded.Gzip); err != nil || len(body.Body) == 0 {
			t.Errorf("a reader that started before Drop: %v", err)
		}

		removed.Store(false)
		if again := read(t, replica, bistro); again.Version.Version != 1 {
			t.Errorf("installed again: version %d, want 1", again.Version.Version)
		}
	})
}

// afterPipeline calls do between the response of Redis and its reader.
type afterPipeline struct{ do func() }

func (afterPipeline) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (afterPipeline) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (h afterPipeline) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		defer h.do()
		return next(ctx, commands)
	}
}

func TestReplica_DropDuringPoll(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(5, 7))
		var removed atomic.Bool
		replica := New(s, Config{
			Allowed: func(menu.RestaurantID) bool { return !removed.Load() },
		})
		read(t, replica, bistro)
		r.Client().AddHook(afterPipeline{func() {
			removed.Store(true)
			replica.Drop(bistro)
		}})

		if err := replica.Poll(t.Context()); err != nil {
			t.Errorf("a poll during which a restaurant was removed: %v", err)
		}
		if _, held := replica.Cached(bistro); held || !removed.Load() {
			t.Errorf("removed %t, still in memory %t", removed.Load(), held)
		}
	})
}
