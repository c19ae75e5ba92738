package cache_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

// keep keeps a menu with this description. It returns its answer.
func keep(t *testing.T, s *cache.Store, restaurant menu.RestaurantID, text string, kept bool) []byte {
	t.Helper()
	_, published, err := menu.DecodePublished(fmt.Appendf(nil, `{"result":{"products":[{"id":"a","description":%q,"disabled":true}]}}`, text))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cache.KeepQuarantined(t.Context(), s, restaurant, published); err != nil || got != kept {
		t.Fatalf("KeepQuarantined = %v, %v; want %v", got, err, kept)
	}
	answer, err := published.AppendAnswer(nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// wantQuarantined fails unless this menu of a restaurant is kept; nil means none.
func wantQuarantined(t *testing.T, s *cache.Store, restaurant menu.RestaurantID, want []byte) {
	t.Helper()
	got, err := cache.Quarantined(t.Context(), s, restaurant)
	if want == nil && !errors.Is(err, cache.ErrNotQuarantined) || want != nil && (err != nil || !bytes.Equal(got, want)) {
		t.Errorf("Quarantined(%s) = %.80q, %v; want %.80q", restaurant, got, err, want)
	}
}

// Policy S4a: a quarantined menu is kept once for each content, for each source, until it is dropped.
func TestQuarantinedMenusAreKept_S4a(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		a, b := storeOf(r, "a c"), storeOf(r, "b c")
		views := cache.NewKeys(r.Prefix()).Quarantined("views")
		count := func(want int64) {
			t.Helper()
			if got := r.Client().HLen(t.Context(), views).Val(); got != want {
				t.Errorf("%d menus are stored, want %d", got, want)
			}
		}
		wantQuarantined(t, a, bistro, nil)
		first := keep(t, a, bistro, "first", true)
		wantQuarantined(t, a, bistro, first)
		wantQuarantined(t, b, bistro, nil) // of another source
		keep(t, a, bistro, "first", true)
		keep(t, a, "second", "first", true)
		count(1)
		other := keep(t, b, bistro, "other", true)
		later := keep(t, a, bistro, "later", true)
		wantQuarantined(t, a, bistro, later)
		wantQuarantined(t, a, "second", first)
		wantQuarantined(t, b, bistro, other)
		count(3)
		for range 2 {
			if err := cache.DropQuarantined(t.Context(), a, "second"); err != nil {
				t.Fatal(err)
			}
		}
		count(2)
		if err := cache.DropQuarantined(t.Context(), a, bistro); err != nil {
			t.Fatal(err)
		}
		wantQuarantined(t, a, bistro, nil)
		wantQuarantined(t, b, bistro, other)
		count(1)
	})
}

// hexText returns a text that zstd cannot compress to less than half.
func hexText(size int) string {
	raw := make([]byte, size/2)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}

// Policy S4a: at most 4 MiB each. A larger menu is not kept, and replaces the one before.
func TestLargeQuarantinedMenusAreNotKept_S4a(t *testing.T) {
	t.Parallel()
	s := storeOf(topology.Open(t, redisdb.Embedded), "a c")
	keep(t, s, bistro, "small", true)
	keep(t, s, bistro, hexText(9<<20), false)
	wantQuarantined(t, s, bistro, nil)
	kept := keep(t, s, bistro, strings.Repeat("x", 9<<20), true) // large, but small when it is compressed
	wantQuarantined(t, s, bistro, kept)
}

// Policy S4a: 128 MiB for all; the oldest go first.
func TestQuarantinedMenusShareTheirSpace_S4a(t *testing.T) {
	t.Parallel()
	r := topology.Open(t, redistest.Start(t).URL())
	s := storeOf(r, "a c")
	raw := make([]byte, 3<<20-1<<18)
	_, _ = rand.Read(raw)
	text := base64.StdEncoding.EncodeToString(raw) // 2.7 to 3.7 MiB
	answers := map[menu.RestaurantID][]byte{}
	id := func(i int) menu.RestaurantID { return menu.RestaurantID(fmt.Sprintf("r%d", i)) }
	for i := range 50 {
		answers[id(i)] = keep(t, s, id(i), fmt.Sprint(i, text), true)
	}
	kept := 0
	for i := range 50 {
		if _, err := cache.Quarantined(t.Context(), s, id(i)); err == nil {
			kept++
		} else if kept > 0 || !errors.Is(err, cache.ErrNotQuarantined) {
			t.Errorf("menu %d is not kept: %v, but older ones are", i, err)
		}
	}
	const most = 128 << 20
	counts := cache.NewKeys(r.Prefix()).Quarantined("counts")
	if all, err := r.Client().HGet(t.Context(), counts, "").Int(); err != nil || all > most || all < most-4<<20 || kept == 50 {
		t.Errorf("%d menus with %d bytes are kept, want as many as fit 128 MiB", kept, all)
	}
	// The next ticks have the same menus. One that was removed does not take the space of another.
	for i := range 50 {
		keep(t, s, id(i), fmt.Sprint(i, text), i >= 50-kept)
	}
	wantQuarantined(t, s, id(50-kept), answers[id(50-kept)])
	wantQuarantined(t, s, id(49), answers[id(49)])
	keep(t, s, id(0), "a new menu", true)
	for i := range 50 {
		if err := cache.DropQuarantined(t.Context(), s, id(i)); err != nil {
			t.Fatal(err)
		}
	}
	if size := r.Client().HGet(t.Context(), counts, "").Val(); size != "0" {
		t.Errorf("%s bytes are counted without a menu", size)
	}
}
