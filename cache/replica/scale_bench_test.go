package replica

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

const (
	// chainSize is the number of restaurants with one content, each with its own
	// stop lists.
	chainSize = 50
	// scaleDishes is the middle size of the menus on the performance page.
	scaleDishes = 400
)

// chains are many restaurants in chains, as Redis stores them.
type chains struct {
	restaurants []menu.RestaurantID
	raw         int64 // bytes of the distinct menus' JSON
	generate    sandbox.Generate
	versions    []int64 // of the first of each chain
	rounds      int64
}

// changed returns a change of the first restaurant of up to 50 chains: of its stop
// lists, or of its menu's name and stop lists.
func (t *chains) changed(tb testing.TB, kind string) []*cache.Publication {
	tb.Helper()
	t.rounds++
	var all []*cache.Publication
	for chain := range min(len(t.versions), 50) {
		view, published, err := menu.DecodePublished(t.generate.Menu(chain * chainSize))
		if err != nil {
			tb.Fatal(err)
		}
		if kind == "content" {
			view.Name = fmt.Sprintf("Menu %d", t.rounds)
			published.Content = bytes.Replace(published.Content, []byte(`"name":"`), fmt.Appendf(nil, `"name":"%d `, t.rounds), 1)
		}
		content := menu.CompileContent(view, menu.DefaultSettings())
		all = append(all, &cache.Publication{
			Restaurant: t.restaurants[chain*chainSize],
			Name:       "Restaurant",
			Base:       t.versions[chain],
			SyncedAt:   noon.Add(time.Duration(t.rounds) * time.Second),
			Catalogue:  content.WithStops(stopsOf(content, int(t.rounds))),
			Published:  published,
		})
		t.versions[chain]++
	}
	return all
}

// fillChains writes the current version of each restaurant of all chains to Redis.
func fillChains(tb testing.TB, s *cache.Store, restaurants int) *chains {
	tb.Helper()
	generate := sandbox.Generate{
		Restaurants: restaurants,
		Products:    scaleDishes,
		Seed:        1,
		ChainSize:   chainSize,
	}
	t := &chains{generate: generate}
	group, ctx := errgroup.WithContext(tb.Context())
	group.SetLimit(4)
	for first := 0; first < restaurants; first += chainSize {
		raw := generate.Menu(first)
		t.raw += int64(len(raw))
		view, published, err := menu.DecodePublished(raw)
		if err != nil {
			tb.Fatal(err)
		}
		content := menu.CompileContent(view, menu.DefaultSettings())
		t.versions = append(t.versions, 1)
		for i := first; i < min(first+chainSize, restaurants); i++ {
			id := menu.RestaurantID(generate.RestaurantID(i))
			t.restaurants = append(t.restaurants, id)
			group.Go(func() error {
				_, err := s.Publish(ctx, cache.Publication{
					Restaurant: id,
					Name:       "Restaurant " + strconv.Itoa(i),
					SyncedAt:   noon,
					Catalogue:  content.WithStops(stopsOf(content, i)),
					Published:  published,
				})
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		tb.Fatal(err)
	}
	return t
}

// stopsOf stops every thirtieth dish, different ones in each restaurant.
func stopsOf(content *menu.Content, i int) menu.Stops {
	var stops menu.Stops
	for p := i % 30; p < content.Products().Len(); p += 30 {
		stops.Products = append(stops.Products, content.Products().At(menu.Index(p)).ID())
	}
	return stops
}

// BenchmarkColdStart measures the start of a replica with a full Redis, and its
// memory before any read. Times are the worst of all rounds.
func BenchmarkColdStart(b *testing.B) {
	for _, restaurants := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("restaurants=%d", restaurants), func(b *testing.B) {
			r := topology.Open(b, redistest.Start(b).URL())
			s := cache.NewStore(r, cache.StoreConfig{})
			t := fillChains(b, s, restaurants)
			info := r.Client().Info(b.Context(), "memory").Val()
			_, info, _ = strings.Cut(info, "used_memory:")
			used, _ := strconv.Atoi(strings.TrimSpace(strings.SplitN(info, "\n", 2)[0]))
			var worst start
			for b.Loop() {
				got := coldStart(b, s, t)
				worst = start{
					max(worst.known, got.known), max(worst.loaded, got.loaded), max(worst.slowest, got.slowest), max(worst.poll, got.poll), got.held,
				}
			}
			for name, took := range map[string]time.Duration{
				"known-ms": worst.known, "first-read-ms": worst.slowest, "loaded-ms": worst.loaded, "poll-ms": worst.poll,
			} {
				b.ReportMetric(took.Seconds()*1e3, name)
			}
			b.ReportMetric(float64(t.raw)/(1<<20), "raw-MiB")
			b.ReportMetric(float64(worst.held)/(1<<20), "heap-MiB")
			b.ReportMetric((float64(worst.held)-4096*float64(restaurants))/float64(t.raw), "of-raw")
			b.ReportMetric(float64(used)/(1<<20), "redis-MiB")
		})
	}
}

// start is the result of one cold start.
type start struct {
	known, loaded time.Duration // until every version was known, every content in memory
	slowest       time.Duration // first read of a menu, gzip body included, of 40 read meanwhile
	poll          time.Duration // a poll that finds nothing new
	held          int64         // bytes of heap at the end
}

func coldStart(b *testing.B, s *cache.Store, t *chains) start {
	b.Helper()
	var got start
	before := heapInUse()
	ctx, stop := context.WithCancel(b.Context())
	replica := New(s, Config{Restaurants: func() []menu.RestaurantID { return t.restaurants }, Poll: time.Hour, Memory: 1})
	done := make(chan error, 1)
	began := time.Now()
	go func() { done <- replica.Run(ctx) }()
	all := func(holds func(menu.RestaurantID) bool) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for _, id := range t.restaurants {
			for !holds(id) {
				<-tick.C
			}
		}
	}
	all(func(id menu.RestaurantID) bool { _, ok := replica.Version(id); return ok })
	got.known = time.Since(began)
	for i := len(t.restaurants) - 1; i >= 0; i -= max(len(t.restaurants)/40, 1) {
		asked := time.Now()
		snap, err := replica.Catalogue(ctx, t.restaurants[i])
		if err != nil {
			b.Fatal(err)
		}
		if _, err := replica.Menu(snap, encoded.Gzip); err != nil {
			b.Fatal(err)
		}
		got.slowest = max(got.slowest, time.Since(asked))
	}
	all(func(id menu.RestaurantID) bool { _, ok := replica.Cached(id); return ok })
	got.loaded = time.Since(began)
	polled := time.Now()
	if err := replica.Poll(ctx); err != nil {
		b.Fatal(err)
	}
	got.poll = time.Since(polled)
	got.held = heapInUse() - before
	stop()
	if err := <-done; err != nil {
		b.Error(err)
	}
	runtime.KeepAlive(replica)
	return got
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // frees what pools and weak pointers released in the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
