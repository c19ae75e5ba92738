package cache_test

import (
	"errors"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// storeOf returns a Store for sources, the first of which is its own.
func storeOf(r *redisdb.DB, sources ...string) *cache.Store {
	return cache.NewStore(r, cache.StoreConfig{Sources: func(menu.RestaurantID) []string { return sources }})
}

// wantCurrent fails unless the current version of a store has this number and source.
func wantCurrent(t *testing.T, s *cache.Store, version int64, source string) {
	t.Helper()
	got, err := s.Current(t.Context(), bistro)
	if err != nil || got.Version != version || got.Source != source {
		t.Errorf("Current = version %d of %q, %v; want version %d of %q", got.Version, got.Source, err, version, source)
	}
}

// Policy O16: a menu without a source belongs to the first configuration that reads it, with its history. Other sources
// see it as the menu of that source.
func TestMenusOfOlderVersionsAreTakenOver(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		cachetest.Publish(t, cache.NewStore(r, cache.StoreConfig{}), bistro, 0, cachetest.MenuJSON(3, 7))
		a, b := storeOf(r, "a c"), storeOf(r, "b c")
		wantCurrent(t, a, 1, "a c")
		wantCurrent(t, b, 1, "a c")
		wantCurrent(t, a, 1, "a c")
		if versions, err := a.Versions(t.Context(), bistro); err != nil || len(versions) != 1 {
			t.Errorf("history: %d versions, %v", len(versions), err)
		}
		if _, err := b.Versions(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("the history of the other source: %v", err)
		}
		cachetest.Publish(t, b, bistro, 0, cachetest.MenuJSON(3, 8)) // as its first version
		wantCurrent(t, b, 2, "b c")
		wantCurrent(t, a, 1, "a c")
		cachetest.Publish(t, a, bistro, 1, cachetest.MenuJSON(3, 9))
		wantCurrent(t, a, 3, "a c")
		if got := r.Client().HGet(t.Context(), cache.NewKeys(r.Prefix()).Published(bistro), "source").Val(); got != "a c" {
			t.Errorf("current names the source %q", got)
		}
		if _, err := a.Version(t.Context(), bistro, 2); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("a version of the other source: %v", err)
		}
	})
}

// former_urls: a source without a menu takes a copy of the former one, which keeps its own.
func TestMenusOfFormerSourcesAreCopied(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		old := storeOf(r, "old c")
		cachetest.Publish(t, old, bistro, 0, cachetest.MenuJSON(3, 7))
		wantCurrent(t, storeOf(r, "other c"), 1, "old c")
		moved := storeOf(r, "new c", "old c")
		wantCurrent(t, moved, 1, "new c")
		cachetest.Publish(t, moved, bistro, 1, cachetest.MenuJSON(3, 8))
		wantCurrent(t, moved, 2, "new c")
		wantCurrent(t, old, 1, "old c")
		wantCurrent(t, storeOf(r, "new c"), 2, "new c") // the former source is not needed any more
	})
}

// The documented key follows every change of the source that published last, and only of it.
func TestCurrentIsACopyOfTheLastSource(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		a, b := storeOf(r, "a c"), storeOf(r, "b c")
		field := func(name string) string {
			return r.Client().HGet(t.Context(), cache.NewKeys(r.Prefix()).Published(bistro), name).Val()
		}
		hold := cache.Hold{Until: cache.HoldReleased, Of: "x"}
		for price, s := range []*cache.Store{a, b} {
			p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, int64(price)+7))
			p.Hold = &hold
			if _, err := s.Publish(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.Release(t.Context(), bistro); err != nil || field("held") != "1" {
			t.Errorf("after a release of the other source, held is %q, %v", field("held"), err)
		}
		if _, err := b.Release(t.Context(), bistro); err != nil || field("held") == "1" {
			t.Errorf("after the release, held is %q, %v", field("held"), err)
		}
	})
}

// A sweep keeps the contents that the history of any source contains.
func TestSweepKeepsContentsOfEverySource(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		now := noon
		clock := func() time.Time { return now }
		a := cache.NewStore(r, cache.StoreConfig{Clock: clock, Sources: func(menu.RestaurantID) []string { return []string{"a c"} }})
		b := cache.NewStore(r, cache.StoreConfig{Clock: clock, Sources: func(menu.RestaurantID) []string { return []string{"b c"} }})
		cachetest.Publish(t, a, bistro, 0, cachetest.MenuJSON(3, 7))
		cachetest.Publish(t, b, bistro, 0, cachetest.MenuJSON(3, 8))
		now = now.Add(48 * time.Hour)
		if removed, err := b.Sweep(t.Context()); err != nil || removed != 0 {
			t.Errorf("the sweep removed %d contents, %v", removed, err)
		}
	})
}

// Rejection reasons belong to a source too; those without one to the first that reads them.
func TestReasonsKnowTheirSource(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		want := func(s *cache.Store, reasons string) {
			t.Helper()
			got, _, err := s.Reasons(t.Context(), "main")
			if string(got) != reasons || (reasons == "") != errors.Is(err, cache.ErrNoReasons) {
				t.Errorf("reasons %s, %v; want %s", got, err, reasons)
			}
		}
		save := func(s *cache.Store, reasons string) {
			t.Helper()
			if err := s.SaveReasons(t.Context(), "main", []byte(reasons)); err != nil {
				t.Fatal(err)
			}
		}
		save(cache.NewStore(r, cache.StoreConfig{}), "[0]")
		old, other := storeOf(r, "old c"), storeOf(r, "other c")
		want(old, "[0]")
		want(other, "")
		save(old, "[1]")
		want(other, "")
		want(storeOf(r, "new c", "old c"), "[1]")
		save(other, "[2]")
		want(old, "[1]")
	})
}
