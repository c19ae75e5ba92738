package cache_test

import (
	"errors"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/topology"
)

func TestReasons(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{Clock: func() time.Time { return noon }})
		if _, _, err := s.Reasons(t.Context(), "main"); !errors.Is(err, cache.ErrNoReasons) {
			t.Errorf("before: %v, want ErrNoReasons", err)
		}
		if err := s.SaveReasons(t.Context(), "main", []byte(`[{"ID":"1"}]`)); err != nil {
			t.Fatal(err)
		}
		raw, at, err := s.Reasons(t.Context(), "main")
		if err != nil || string(raw) != `[{"ID":"1"}]` || !at.Equal(noon) {
			t.Errorf("got %s, %s, %v", raw, at, err)
		}
		if err := r.Client().HSet(t.Context(), cache.NewKeys(r.Prefix()).Reasons("main"), "at", "yesterday").Err(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Reasons(t.Context(), "main"); !errors.Is(err, cache.ErrCorrupt) {
			t.Errorf("an unreadable time: %v, want ErrCorrupt", err)
		}
	})
}
