package replica

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

// next waits for the next change after last.
func next(t *testing.T, w *Watch, last *Change) *Change {
	t.Helper()
	select {
	case <-last.Next():
		return w.Newest()
	case <-time.After(20 * time.Second):
		t.Fatal("no new version within 20 s")
		return nil
	}
}

// A watch starts with the version in memory and reports each version of another
// process; a late reader gets only the newest one.
func TestWatch(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		replica := New(s, Config{Restaurants: func() []menu.RestaurantID { return []menu.RestaurantID{bistro} }})
		run(t, replica)
		early, other := replica.Watch(bistro), replica.Watch("grill")
		defer early.Close()
		defer other.Close()
		none := early.Newest()
		if none.After.Version != 0 {
			t.Fatalf("the watch starts with version %d, want none", none.After.Version)
		}

		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(5, 7))
		first := next(t, early, none)
		if first.Before.Version != 0 || first.After.Version != 1 || first.StopsOnly() {
			t.Errorf("first version: got %d after %d, stops only %t", first.After.Version, first.Before.Version, first.StopsOnly())
		}
		late := replica.Watch(bistro)
		began := late.Newest()
		if began.After.Version != 1 || began.Before.Version != 0 {
			t.Errorf("a later watch starts with %d after %d, want 1 after none", began.After.Version, began.Before.Version)
		}

		cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(5, 7, "d1"))
		stopped := next(t, early, first)
		if stopped.Before.Version != 1 || stopped.After.Version != 2 || !stopped.StopsOnly() {
			t.Errorf("stop list: got %d after %d, stops only %t", stopped.After.Version, stopped.Before.Version, stopped.StopsOnly())
		}
		products, _ := stopped.Before.Stops.ChangedIDs(stopped.After.Stops)
		if diff := cmp.Diff([]menu.Availability{{ID: "d1", Available: false}}, products); diff != "" {
			t.Errorf("moved (-want +got):\n%s", diff)
		}

		cachetest.Publish(t, s, bistro, 2, cachetest.MenuJSON(5, 8, "d1"))
		priced := next(t, early, stopped)
		if priced.After.Version != 3 || priced.StopsOnly() {
			t.Errorf("price: got %d, stops only %t", priced.After.Version, priced.StopsOnly())
		}
		if got := next(t, late, began); got.After.Version != 3 {
			t.Errorf("a late reader gets %d, want the newest, 3", got.After.Version)
		}

		late.Close()
		cachetest.Publish(t, s, bistro, 3, cachetest.MenuJSON(5, 9))
		next(t, early, priced)
		if got := late.Newest().After.Version; got != 3 {
			t.Errorf("a closed watch reported %d", got)
		}
		if got := other.Newest().After.Version; got != 0 {
			t.Errorf("another restaurant's watch got %d", got)
		}
	})
}

// A version has the same event id after a notice, a poll or a publish by this process.
// Two versions have different ids.
func TestEventIDsAreTheSameOnEveryReplica(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	s := cache.NewStore(topology.Open(t, url), cache.StoreConfig{})
	p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(5, 7, "d1"))
	version, err := s.Publish(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	publisher := New(s, Config{})
	publisher.Install(&cache.Snapshot{Version: version, Catalogue: p.Catalogue})
	reader := New(cache.NewStore(topology.Open(t, url), cache.StoreConfig{}), Config{})
	id := read(t, reader, bistro).EventID()
	if got := read(t, publisher, bistro).EventID(); got != id {
		t.Errorf("event ids %q and %q of one version", got, id)
	}
	if !regexp.MustCompile(`^1-[0-9a-f]{8}$`).MatchString(id) {
		t.Errorf("event id %q, want <version>-<8 hex>", id)
	}
	if again := cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(5, 7)); again.EventID() == id {
		t.Errorf("two versions share the event id %q", id)
	}
	twin := read(t, reader, bistro).Version
	twin.SyncedAt = twin.SyncedAt.Add(time.Millisecond)
	if twin.EventID() == id {
		t.Errorf("two versions with the same number share the event id %q", id)
	}
}
