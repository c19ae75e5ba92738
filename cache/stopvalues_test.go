package cache_test

import (
	"errors"
	"strings"
	"testing"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// A version's stop values are kept as long as its record (policy S7).
func TestStopValuesExpireWithTheirVersion_S7(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{History: 2})
		cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(""))
		cachetest.Publish(t, s, bistro, 1, cachetest.ChainMenu(`,"disabled":true`)) // replaces 1 in the history
		cachetest.Publish(t, s, bistro, 2, cachetest.MenuJSON(3, 1))
		cachetest.Publish(t, s, bistro, 3, cachetest.MenuJSON(3, 2)) // removes 2 from the history
		cachetest.UpdateStops(t, s, noon, []byte(strings.ReplaceAll(string(cachetest.MenuJSON(3, 2)), `StopList":[]`, `StopList":["grill"]`)))
		for version, want := range map[int64]bool{1: false, 2: false, 3: true, 4: true} {
			record, stops := cache.NewKeys(r.Prefix()).Record(bistro, version), cache.NewKeys(r.Prefix()).StopValues(bistro, version)
			for _, key := range []string{record, stops} {
				if life := r.Client().TTL(t.Context(), key).Val(); (life == -1) != want || life == -2 {
					t.Errorf("the TTL of %s is %s, want none: %t", key, life, want)
				}
			}
		}
	})
}

// Stored views are read without decoding. A content is read once, and not if the
// caller has it. A lost or foreign content is absent.
func TestPackedViews(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s, keys := cache.NewStore(r, cache.StoreConfig{}), cache.NewKeys(r.Prefix())
		raw := cachetest.ChainMenu(`,"disabled":true`)
		published := cachetest.Publication(t, bistro, 0, raw).Published
		one, two := cachetest.Publish(t, s, bistro, 0, raw), cachetest.Publish(t, s, "grill", 0, raw)
		other := cachetest.Publish(t, s, "diner", 0, cachetest.MenuJSON(3, 1))
		if err := r.Client().Del(t.Context(), keys.StopValues("grill", 1)).Err(); err != nil {
			t.Fatal(err)
		}
		stops, contents, err := s.PackedViews(t.Context(), []cache.Version{one, two, other},
			func(content string) bool { return content == other.Content })
		if err != nil {
			t.Fatal(err)
		}
		if len(contents) != 1 || len(stops) != 3 || len(stops[1]) != 0 || len(stops[2]) == 0 {
			t.Errorf("%d contents, stop values of %d, %d and %d bytes; want one content, no stop values of grill",
				len(contents), len(stops[0]), len(stops[1]), len(stops[2]))
		}
		content, err := s.Unpack(contents[one.Content])
		if err != nil || string(content) != string(published.Content) {
			t.Errorf("content %s, %v; want %s", content, err, published.Content)
		}
		values, err := s.Unpack(stops[0])
		if err != nil || string(values) != string(published.Stops) || cache.PublishedSum(one.Content, values) != one.Published {
			t.Errorf("stop values %s, %v; want %s", values, err, published.Stops)
		}
		if _, err := s.Unpack([]byte("zstd?")); !errors.Is(err, cache.ErrCorrupt) {
			t.Errorf("decompressed a value that is not compressed: %v, want ErrCorrupt", err)
		}
		for _, err := range []error{
			r.Client().Del(t.Context(), keys.ContentBody(one.Content)).Err(),
			r.Client().Set(t.Context(), keys.ContentBody(one.Content), "not a content", 0).Err(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, contents, err := s.PackedViews(t.Context(), []cache.Version{one}, func(string) bool { return false }); err != nil ||
			len(contents) != 0 {
			t.Errorf("a foreign key: %d contents, %v; want none", len(contents), err)
		}
	})
}
