package replica

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

// The limits of a cached menu of 400 dishes on the heap, in KiB (docs/performance.md,
// "Memory"): the menu in gzip and br; with the compiled catalogue; with the published
// view; with all bodies.
const (
	bodiesMost = 220
	menuMost   = 560
	viewMost   = 660
	allMost    = 1800
)

// footprint is the heap of one of many cached menus, in bytes, after each step.
type footprint struct {
	index int64 // only the compiled catalogue
	menu  int64 // and the menu in gzip and br
	view  int64 // and the published view, compressed
	all   int64 // and in zstd, the published view in the three, each dish
}

// footprintOf measures menus of 400 dishes, all different.
func footprintOf(tb testing.TB, menus int) footprint {
	tb.Helper()
	s := cache.NewStore(topology.Open(tb, redisdb.Embedded), cache.StoreConfig{})
	generate := sandbox.Generate{
		Restaurants: menus,
		Products:    400,
		Seed:        1,
		ChainSize:   1,
	}
	ids := make([]menu.RestaurantID, menus)
	for i := range ids {
		ids[i] = menu.RestaurantID(generate.RestaurantID(i))
		view, published, err := menu.DecodePublished(generate.Menu(i))
		if err == nil {
			_, err = s.Publish(tb.Context(), cache.Publication{
				Restaurant: ids[i],
				Name:       fmt.Sprint("Restaurant ", i),
				SyncedAt:   time.Now(),
				Published:  published,
				Catalogue:  menu.Compile(view, ids[i], menu.DefaultSettings()),
			})
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	little, err := s.Publish(tb.Context(), cachetest.Generated(tb, 0, 1, 1)) // the encoder keeps its last input
	if err != nil {
		tb.Fatal(err)
	}
	replica := New(s, Config{Memory: 1 << 40})
	heapAfterGC := func() int64 {
		// The decoder keeps its last input and output.
		if _, err := s.View(tb.Context(), little); err != nil {
			tb.Fatal(err)
		}
		runtime.GC() // twice: the second frees what the pools kept
		return heap()
	}
	// The pools and buffers of the first menu are shared by the process.
	warm, err := replica.Catalogue(tb.Context(), ids[0])
	if err != nil {
		tb.Fatal(err)
	}
	readAll(tb, replica, warm, true)
	replica.Drop(ids[0])
	before := heapAfterGC()
	each := func(do func(snap *cache.Snapshot)) int64 {
		for _, id := range ids {
			snap, err := replica.Catalogue(tb.Context(), id)
			if err != nil {
				tb.Fatal(err)
			}
			do(snap)
		}
		return (heapAfterGC() - before) / int64(menus)
	}
	var f footprint
	f.index = each(func(*cache.Snapshot) {})
	f.menu = each(func(snap *cache.Snapshot) { readAll(tb, replica, snap, false) })
	if err := replica.Poll(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	f.view = each(func(*cache.Snapshot) {})
	f.all = each(func(snap *cache.Snapshot) { readAll(tb, replica, snap, true) })
	runtime.KeepAlive(replica)
	return f
}

// readAll reads the menu in gzip and br, or everything.
func readAll(tb testing.TB, r *Replica, snap *cache.Snapshot, all bool) {
	tb.Helper()
	check := func(_ *encoded.Representation, err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	check(r.Menu(snap, encoded.Gzip))
	check(r.Menu(snap, encoded.Brotli))
	if !all {
		return
	}
	check(r.Menu(snap, encoded.Zstd))
	for _, enc := range []encoded.Encoding{encoded.Gzip, encoded.Brotli, encoded.Zstd} {
		check(r.Published(tb.Context(), snap, enc))
	}
	for p := range snap.Catalogue.Products().All() {
		check(r.Product(snap, p, encoded.Gzip))
	}
}

// measuringAlone marks the process that measures the footprint, so that the memory
// of other tests does not count.
const measuringAlone = "LARDER_FOOTPRINT_ALONE"

func TestMemoryOfACachedMenu(t *testing.T) {
	t.Parallel()
	if os.Getenv(measuringAlone) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMemoryOfACachedMenu$", "-test.count=1", "-test.v")
		child.Env = append(os.Environ(), measuringAlone+"=1")
		out, err := child.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS: TestMemoryOfACachedMenu")) {
			t.Fatalf("in a separate process: %v\n%s", err, out)
		}
		return
	}
	got := footprintOf(t, 6)
	for _, c := range []struct {
		what      string
		got, most int64
	}{
		{"its menu in gzip and br", got.menu - got.index, bodiesMost},
		{"the same and the catalogue", got.menu, menuMost},
		{"the same and the published view", got.view, viewMost},
		{"everything that can be read", got.all, allMost},
	} {
		if c.got>>10 > c.most {
			t.Errorf("menu of 400 dishes: %s: %d KiB of heap, want at most %d", c.what, c.got>>10, c.most)
		}
	}
	t.Logf("%+v", got)
	if got.index <= 0 || got.all <= got.index {
		t.Errorf("measured nothing: %+v", got)
	}
}

// BenchmarkFootprint measures the heap of one of 100 cached menus.
func BenchmarkFootprint(b *testing.B) {
	var f footprint
	for b.Loop() {
		f = footprintOf(b, 100)
	}
	for name, taken := range map[string]int64{"index-KiB": f.index, "menu-KiB": f.menu, "view-KiB": f.view, "all-KiB": f.all} {
		b.ReportMetric(float64(taken)/1024, name)
	}
}
