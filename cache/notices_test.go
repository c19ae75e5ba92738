package cache_test

import (
	"context"
	"maps"
	"testing"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

func TestSubscribe(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		type notice struct {
			restaurant menu.RestaurantID
			version    int64
		}
		begun, received, done := make(chan struct{}, 100), make(chan notice, 100), make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			defer close(done)
			s.Subscribe(ctx, func() { begun <- struct{}{} },
				func(restaurant menu.RestaurantID, version int64) { received <- notice{restaurant, version} }, func(error) {})
		}()
		<-begun
		if err := r.Client().Publish(t.Context(), cache.NewKeys(r.Prefix()).Notices(), "hello").Err(); err != nil {
			t.Fatal(err)
		}
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		cachetest.Publish(t, s, "grill", 0, cachetest.MenuJSON(3, 1))
		// The masters of a cluster send in any order.
		got, want := map[notice]bool{<-received: true, <-received: true}, map[notice]bool{{bistro, 1}: true, {"grill", 1}: true}
		if !maps.Equal(got, want) {
			t.Errorf("received %+v, want %+v", got, want)
		}
		stop()
		<-done
	})
}
