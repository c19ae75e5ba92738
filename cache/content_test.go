package cache_test

import (
	"errors"
	"testing"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

func TestUnreadableContent(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		one := cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		two := cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 2))
		ctx, key := t.Context(), cache.NewKeys(r.Prefix()).ContentBody(one.Content)
		other := r.Client().HGet(ctx, cache.NewKeys(r.Prefix()).ContentBody(two.Content), "view").Val()
		for name, change := range map[string][]any{
			"another content":  {"view", other},
			"no zstd":          {"view", "menu"},
			"unknown settings": {"settings", "{"},
			"changed settings": {"settings", `{"MaxZeroNone":true}`},
			"no settings":      {"settings", ""},
		} {
			before := r.Client().HGetAll(ctx, key).Val()
			if err := r.Client().HSet(ctx, key, change...).Err(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Content(ctx, one.Content, nil); !errors.Is(err, cache.ErrCorrupt) {
				t.Errorf("%s: got %v, want ErrCorrupt", name, err)
			}
			if err := r.Client().HSet(ctx, key, before).Err(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestRestore(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, 1))
		v, err := s.Publish(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Client().Del(t.Context(), cache.NewKeys(r.Prefix()).ContentBody(v.Content)).Err(); err != nil {
			t.Fatal(err)
		}
		other := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, 2))
		if err := s.Restore(t.Context(), v, p.Catalogue, other.Published); !errors.Is(err, cache.ErrStale) {
			t.Errorf("another content: %v, want ErrStale", err)
		}
		for range 2 { // the second time the content exists
			if err := s.Restore(t.Context(), v, p.Catalogue, p.Published); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Content(t.Context(), v.Content, nil); err != nil {
				t.Errorf("the restored content: %v", err)
			}
		}
	})
}
