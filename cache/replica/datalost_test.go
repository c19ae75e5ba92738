package replica

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// Redis has lost the version that one instance serves. An instance that does not know
// this version publishes. Every instance reports the menu as stale until a version
// above all served ones is published (policy S2a).
func TestFloor_S2a(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx := t.Context()
		s := cache.NewStore(r, cache.StoreConfig{})
		var behind int
		replica := func() *Replica {
			return New(s, Config{DataLost: func(ids []menu.RestaurantID) { behind += len(ids) }})
		}
		old := replica()
		for base := range int64(4) {
			cachetest.Publish(t, s, bistro, base, cachetest.MenuJSON(3, base))
		}
		if v := read(t, old, bistro).Version; v.Version != 4 || v.Behind() {
			t.Fatalf("serves %+v", v)
		}
		topology.DeleteAllKeys(t, r)
		if v := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 7)); v.Version != 1 {
			t.Fatalf("published %d, want 1: no instance has raised the floor yet", v.Version)
		}
		young := replica()
		read(t, young, bistro)
		for range 2 { // the second poll raises nothing again
			for _, p := range []*Replica{old, young} {
				if err := p.Poll(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		before, after := read(t, old, bistro), read(t, young, bistro)
		if before.Version.Version != 4 || !before.Behind() || after.Version.Version != 1 || !after.Behind() || behind != 1 {
			t.Errorf("they serve %d (behind: %v) and %d (behind: %v), data lost of %d; want 4 and 1, both behind, data lost of 1",
				before.Version.Version, before.Behind(), after.Version.Version, after.Behind(), behind)
		}
		for since := int64(1); since <= 4; since++ {
			if _, err := old.Changes(ctx, before, since, encoded.Identity); !errors.Is(err, cache.ErrVersionGone) {
				t.Errorf("changes since %d: %v, want ErrVersionGone", since, err)
			}
		}
		standing, err := s.State(ctx, bistro, after.Version, nothing)
		if err != nil || standing.Version.Version != 1 || standing.Floor != 4 {
			t.Errorf("the state for a publisher is %+v, %v; want version 1 and the floor 4", standing, err)
		}

		v := cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 7))
		if v.Version != 5 || v.Behind() {
			t.Errorf("published %+v, want 5: versions up to 4 were served", v)
		}
		for _, p := range []*Replica{old, young} {
			if err := p.Poll(ctx); err != nil {
				t.Fatal(err)
			}
			now := read(t, p, bistro)
			if now.Version.Version != 5 || now.Behind() {
				t.Errorf("serves %+v, want version 5", now.Version)
			}
			if _, err := p.Changes(ctx, now, 4, encoded.Identity); !errors.Is(err, cache.ErrVersionGone) {
				t.Errorf("changes since 4: %v, want ErrVersionGone", err)
			}
			if _, err := p.Changes(ctx, now, 5, encoded.Identity); err != nil {
				t.Errorf("changes since 5: %v", err)
			}
		}
		// For an instance that still has the previous version, that version is
		// replaced, not lost.
		late := before.Version
		if floors, raised, err := s.RaiseFloor(ctx, late); err != nil || floors[0] != 4 || raised[0] {
			t.Errorf("the floor of a replaced version: %v, %v, %v; want 4, unchanged", floors, raised, err)
		}
	})
}

// Redis loses its data, or only the floor, again before the next sync. The menu
// stays stale. An instance that has read the floor keeps it, although it never served
// that version itself (policy S2a).
func TestFloor_LostAgain_S2a(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx := t.Context()
		s := cache.NewStore(r, cache.StoreConfig{})
		old, young := New(s, Config{}), New(s, Config{})
		poll := func(p *Replica) {
			t.Helper()
			if err := p.Poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			if v := read(t, p, bistro).Version; !v.Behind() {
				t.Errorf("an old menu is served as fresh: version %d, floor %d", v.Version, v.Floor)
			}
		}
		for base := range int64(4) {
			cachetest.Publish(t, s, bistro, base, cachetest.MenuJSON(3, base))
		}
		read(t, old, bistro)
		for range 2 {
			topology.DeleteAllKeys(t, r)
			poll(old)
		}
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 7)) // 5
		topology.DeleteAllKeys(t, r)
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 7)) // 1: no instance has raised the floor yet
		read(t, young, bistro)
		poll(old)
		poll(young)

		// The instance that served version 4 has exited.
		if err := r.Client().HDel(ctx, cache.NewKeys(r.Prefix()).Fence(bistro), "floor").Err(); err != nil {
			t.Fatal(err)
		}
		poll(young)
		v := read(t, young, bistro).Version
		topology.DeleteAllKeys(t, r)
		if standing, err := s.State(ctx, bistro, v, nothing); err != nil || standing.Floor != 4 {
			t.Errorf("the state for a publisher is %+v, %v; want the floor 4", standing, err)
		}
		topology.DeleteAllKeys(t, r)
		poll(young)
		if v := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 8)); v.Version != 5 {
			t.Errorf("published %d, want 5: versions up to 4 were served", v.Version)
		}
	})
}

// nothing adds no command to a round trip.
func nothing(redis.Pipeliner) {}
