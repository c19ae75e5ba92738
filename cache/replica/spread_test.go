package replica

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

const replicas = 3

// spread publishes stop lists of one restaurant after another. It returns, sorted,
// the duration of each publish, and the time until each of the watching replicas
// served the version: 0 if it was there before the publish returned.
func spread(tb testing.TB, s *cache.Store, watching []*Replica, changed []*cache.Publication) (publishes, delays []time.Duration) {
	tb.Helper()
	var mu sync.Mutex
	for _, p := range changed {
		var arrivals errgroup.Group
		var version int64
		published := make(chan time.Time)
		for _, replica := range watching {
			watch := replica.Watch(p.Restaurant)
			arrivals.Go(func() error {
				defer watch.Close()
				change := watch.Newest()
				ctx, cancel := context.WithTimeout(tb.Context(), 20*time.Second)
				defer cancel()
				for change.After.Version <= p.Base {
					select {
					case <-change.Next():
						change = watch.Newest()
					case <-ctx.Done():
						return fmt.Errorf("%s: version %d did not arrive: %w", p.Restaurant, p.Base+1, ctx.Err())
					}
				}
				arrived := time.Now()
				delay := max(arrived.Sub(<-published), 0)
				mu.Lock()
				defer mu.Unlock()
				delays = append(delays, delay)
				return nil
			})
		}
		began := time.Now()
		v, err := s.Publish(tb.Context(), *p)
		if err != nil {
			tb.Fatal(err)
		}
		version = v.Version
		took := time.Since(began)
		for range watching {
			published <- began.Add(took)
		}
		if err := arrivals.Wait(); err != nil {
			tb.Fatal(err)
		}
		publishes = append(publishes, took)
		p.Base = version
	}
	slices.Sort(publishes)
	slices.Sort(delays)
	return publishes, delays
}

// at returns the duration at the given quantile.
func at(sorted []time.Duration, share float64) time.Duration {
	return sorted[min(int(float64(len(sorted))*share), len(sorted)-1)]
}

// watching starts replicas with their own connections that hold the restaurants.
func watching(tb testing.TB, url string, poll time.Duration, restaurants []menu.RestaurantID) []*Replica {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	var group errgroup.Group
	all := make([]*Replica, replicas)
	for i := range all {
		all[i] = New(cache.NewStore(topology.Open(tb, url), cache.StoreConfig{}), Config{
			Restaurants: func() []menu.RestaurantID { return restaurants }, Poll: poll,
		})
		group.Go(func() error { return all[i].Run(ctx) })
	}
	tb.Cleanup(func() {
		stop()
		if err := group.Wait(); err != nil {
			tb.Error(err)
		}
	})
	for _, replica := range all {
		for _, id := range restaurants {
			if _, err := replica.Catalogue(tb.Context(), id); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return all
}

// subscribed waits until the given number of listeners are subscribed to notices.
func subscribed(t *testing.T, r *redisdb.DB, listeners int64) {
	t.Helper()
	channel := cache.NewKeys(r.Prefix()).Notices()
	cachetest.Eventually(t, "the replicas are subscribed to notices", func() bool {
		return r.Client().PubSubNumSub(t.Context(), channel).Val()[channel] == listeners
	})
}

// Notices reach every replica quickly while it polls a thousand restaurants
// repeatedly, and while syncs confirm them.
func TestNoticesDoNotWaitForPolls(t *testing.T) {
	t.Parallel()
	const restaurants = 1000
	changes := menutest.Rounds(30, 100)
	server := redistest.Start(t)
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	var ids []menu.RestaurantID
	var changed []*cache.Publication
	base := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(20, 1))
	for i := range restaurants {
		p := base
		p.Restaurant = menu.RestaurantID(fmt.Sprintf("r%d", i))
		v, err := s.Publish(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p.Restaurant)
		if len(changed) < changes {
			p.Base, p.Catalogue = v.Version, base.Catalogue.Content.WithStops(menu.Stops{Products: []string{"d1"}})
			changed = append(changed, &p)
		}
	}
	all := watching(t, server.URL(), 20*time.Millisecond, ids)
	subscribed(t, r, replicas)
	ctx, stop := context.WithCancel(t.Context())
	var syncs sync.WaitGroup
	syncs.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := cachetest.Checked(ctx, r, ids[i%restaurants], noon.Add(time.Duration(i)*time.Second), "unchanged"); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	publishes, delays := spread(t, s, all, changed)
	stop()
	syncs.Wait()
	t.Logf("publish: median %s, 99th percentile %s; delay until %d replicas served it: median %s, 99th percentile %s",
		at(publishes, .5), at(publishes, .99), replicas, at(delays, .5), at(delays, .99))
	// The goal is 50 ms at the 99th percentile. The test has a higher limit, because
	// the machine may be busy. If one loop handled notices and polls, each version
	// would wait for a poll.
	if got := at(delays, .5); got > 250*time.Millisecond {
		t.Errorf("half of the replicas served a version later than after %s", got)
	}
}

// BenchmarkSpread measures the cost of a change of one menu of 400 dishes for its
// publisher, and the time until three replicas with the given number of restaurants
// serve it.
func BenchmarkSpread(b *testing.B) {
	for _, restaurants := range []int{1_000, 10_000} {
		for _, kind := range []string{"stops", "content"} {
			b.Run(fmt.Sprintf("restaurants=%d/%s", restaurants, kind), func(b *testing.B) {
				server := redistest.Start(b)
				s := cache.NewStore(topology.Open(b, server.URL()), cache.StoreConfig{})
				t := fillChains(b, s, restaurants)
				all := watching(b, server.URL(), 5*time.Second, t.restaurants)
				var publishes, delays []time.Duration
				for b.Loop() {
					p, d := spread(b, s, all, t.changed(b, kind))
					publishes, delays = append(publishes, p...), append(delays, d...)
				}
				slices.Sort(publishes)
				slices.Sort(delays)
				for name, sorted := range map[string][]time.Duration{"publish": publishes, "learned": delays} {
					b.ReportMetric(at(sorted, .5).Seconds()*1e3, name+"-p50-ms")
					b.ReportMetric(at(sorted, .99).Seconds()*1e3, name+"-p99-ms")
				}
			})
		}
	}
}
