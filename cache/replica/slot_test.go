package replica

import (
	"context"
	"errors"
	"testing"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// After a start every version is known before its content is loaded. A read loads
// the requested menu at once, while another content delays the others.
func TestVersionsAreKnownBeforeTheirContents(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, s := t.Context(), cache.NewStore(r, cache.StoreConfig{})
		ids := []menu.RestaurantID{"bistro", "grill"}
		var slow string
		for i, id := range ids {
			p := cachetest.Generated(t, 0, 4, i)
			p.Restaurant = id
			v, err := s.Publish(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			if id == "bistro" {
				slow = v.Content
			}
		}
		replica := New(s, Config{Restaurants: func() []menu.RestaurantID { return ids }})
		begun, gate := make(chan struct{}), make(chan struct{})
		replica.contents = &contentCache{load: func(ctx context.Context, key contentKey) (*menu.Content, error) {
			if key.hash == slow {
				close(begun)
				<-gate
			}
			return s.Content(ctx, key.hash, nil)
		}}
		done := make(chan error, 1)
		go func() { done <- replica.Poll(ctx) }()
		<-begun
		for _, id := range ids {
			if v, known := replica.Version(id); !known || v.Version != 1 || v.Restaurant != id {
				t.Errorf("%s is not known: %+v, %t", id, v, known)
			}
		}
		if _, held := replica.Cached("bistro"); held {
			t.Error("bistro is in memory before its content is loaded")
		}
		if snap, err := replica.Catalogue(ctx, "grill"); err != nil || snap.Version.Version != 1 {
			t.Errorf("a reader of grill: %v, %v", snap, err)
		}
		close(gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if snap, held := replica.Cached("bistro"); !held || snap.Counts.Products != 4 {
			t.Errorf("bistro after all loads: %v, %t", snap, held)
		}
		if replica.slots.find("bistro").pending.Load() != nil {
			t.Error("a loaded version is still pending")
		}
	})
}

// A version without its content counts as missing. A start neither waits for it nor
// becomes ready because of it.
func TestAVersionWhoseContentIsLostIsNotKnown(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, s := t.Context(), cache.NewStore(r, cache.StoreConfig{})
		p := cachetest.Generated(t, 0, 4, 1)
		v, err := s.Publish(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Client().Del(ctx, cache.NewKeys(r.Prefix()).ContentBody(v.Content)).Err(); err != nil {
			t.Fatal(err)
		}
		lost := 0
		replica := New(s, Config{
			Restaurants: func() []menu.RestaurantID { return []menu.RestaurantID{"bistro"} },
			DataLost:    func([]menu.RestaurantID) { lost++ },
		})
		for range 2 {
			if err := replica.Poll(ctx); !errors.Is(err, cache.ErrNoCatalogue) || lost != 1 {
				t.Errorf("poll: %v, %d syncs were requested, want ErrNoCatalogue and one", err, lost)
			}
			if v, known := replica.Version("bistro"); known {
				t.Errorf("known: %+v", v)
			}
		}
		if err := s.Restore(ctx, v, p.Catalogue, cachetest.Generated(t, 0, 4, 2).Published); !errors.Is(err, cache.ErrStale) {
			t.Errorf("another content: %v, want ErrStale", err)
		}
		if err := s.Restore(ctx, v, p.Catalogue, p.Published); err != nil {
			t.Fatal(err)
		}
		if err := replica.Poll(ctx); err != nil {
			t.Fatal(err)
		}
		if v, known := replica.Version("bistro"); !known || v.Version != 1 {
			t.Errorf("after the content was restored: %+v, %t", v, known)
		}
	})
}
