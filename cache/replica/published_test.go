package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
	"larder.local/internal/testkit/viewtest"
)

// asPublished reads the published view in both encodings, which must be equal, and
// returns its body.
func asPublished(t *testing.T, r *Replica, restaurant menu.RestaurantID) (string, *cache.Snapshot) {
	t.Helper()
	snap := read(t, r, restaurant)
	plain, err := r.Published(t.Context(), snap, encoded.Identity)
	if err != nil {
		t.Fatalf("%s as published: %v", restaurant, err)
	}
	packed, err := r.Published(t.Context(), snap, encoded.Gzip)
	if err != nil {
		t.Fatalf("%s as published, gzip: %v", restaurant, err)
	}
	body := string(plain.Body)
	if got := gunzip(t, packed.Body); got != body || plain.Encoding != encoded.Identity || packed.Encoding != encoded.Gzip {
		t.Fatalf("%s: gzip has %s (%s), identity %s (%s)", restaurant, got, packed.Encoding, body, plain.Encoding)
	}
	want := fmt.Sprintf(`W/"%d-%x"`, snap.Version.Version, sha256.Sum256(plain.Body))
	if want = want[:len(want)-57] + `"`; plain.ETag != want || packed.ETag != want {
		t.Fatalf("%s: ETags %s and %s, want %s", restaurant, plain.ETag, packed.ETag, want)
	}
	return body, snap
}

const chainBody = `{"result":{"name":"Chain","products":[{"externalId":"x","ID":"a","price":"1.50"},{"id":"b","price":2.00%s}],"spicy":null}}`

func TestReplicaServesThePublishedView(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(`,"isContainInStopList":["grill"]`))
		cachetest.Publish(t, s, "grill", 0, cachetest.ChainMenu(`, "disabled": true`))
		cachetest.Publish(t, s, cache.DefaultMenu("main"), 0, cachetest.ChainMenu(""))
		replica := New(s, Config{})
		contents := map[string]bool{}
		for restaurant, stop := range map[menu.RestaurantID]string{
			bistro: `,"isContainInStopList":["grill"]`, "grill": `,"disabled":true`, cache.DefaultMenu("main"): "",
		} {
			got, snap := asPublished(t, replica, restaurant)
			if want := fmt.Sprintf(chainBody, stop); got != want {
				t.Errorf("%s:\n got %s\nwant %s", restaurant, got, want)
			}
			if !snap.PublishedAt.Equal(noon) {
				t.Errorf("%s: published at %s, want %s", restaurant, snap.PublishedAt, noon)
			}
			contents[snap.Content] = true
		}
		if len(contents) != 1 {
			t.Errorf("a chain that differs only in stop lists has %d contents", len(contents))
		}
	})
}

func TestPublishedViewWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	now := noon
	s := cache.NewStore(topology.Open(t, server.URL()), cache.StoreConfig{})
	cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(""))
	cachetest.Publish(t, s, "grill", 0, cachetest.ChainMenu(""))
	replica := New(s, Config{Clock: func() time.Time { return now }})
	grill := read(t, replica, "grill")
	asPublished(t, replica, bistro)
	server.Stop()
	if got, _ := asPublished(t, replica, bistro); got != fmt.Sprintf(chainBody, "") {
		t.Errorf("from memory: %s", got)
	}
	for range 2 {
		if _, err := replica.Published(t.Context(), grill, encoded.Identity); !errors.Is(err, redisdb.ErrUnavailable) {
			t.Errorf("a view that is not in memory: %v, want ErrUnavailable", err)
		}
	}
	server.Restart() // without its data
	now = now.Add(time.Minute)
	if _, err := replica.Published(t.Context(), grill, encoded.Identity); !errors.Is(err, cache.ErrNoCatalogue) {
		t.Errorf("after Redis lost its data: %v, want ErrNoCatalogue", err)
	}
}

func TestOtherStopListsAreServedWithoutANewVersion(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		first := cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(`,"isContainInStopList":[]`))
		replica, other := New(s, Config{}), New(s, Config{})
		before, old := asPublished(t, replica, bistro)
		asPublished(t, other, bistro)
		storefront, err := replica.Menu(old, encoded.Identity)
		if err != nil {
			t.Fatal(err)
		}

		later := noon.Add(time.Hour + time.Microsecond)
		version := cachetest.UpdateStops(t, s, later, cachetest.ChainMenu(`,"isContainInStopList":["grill"]`))
		if current, err := s.Current(t.Context(), bistro); err != nil || !current.PublishedAt.Equal(noon.Add(time.Hour)) ||
			current.Published != version.Published || current.Version != 1 || !current.SyncedAt.Equal(first.SyncedAt) {
			t.Errorf("current %+v (%v), want version 1, updated at %s", current, err, noon.Add(time.Hour))
		}
		if list, err := s.Versions(t.Context(), bistro); err != nil || len(list) != 1 {
			t.Errorf("history %v, %v; want one version", list, err)
		}
		if n := r.Client().SCard(t.Context(), cache.NewKeys(r.Prefix()).Contents()).Val(); n != 1 {
			t.Errorf("%d contents are stored, want 1", n)
		}

		replica.Install(&cache.Snapshot{Version: version, Catalogue: old.Catalogue}) // as the publisher does
		if err := other.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(chainBody, `,"isContainInStopList":["grill"]`)
		for name, r := range map[string]*Replica{
			"the publisher": replica, "another": other, "a new replica": New(s, Config{}),
		} {
			if got, snap := asPublished(t, r, bistro); got != want || snap.Version.Version != 1 {
				t.Errorf("%s:\n got %s at version %d\nwant %s", name, got, snap.Version.Version, want)
			}
		}
		if again, err := replica.Menu(read(t, replica, bistro), encoded.Identity); err != nil || again != storefront {
			t.Errorf("the storefront's menu was encoded again: %v", err)
		}
		// A holder of the old snapshot gets the current published view.
		if now, err := replica.Published(t.Context(), old, encoded.Identity); err != nil || string(now.Body) != want || want == before {
			t.Errorf("the view of an old snapshot: %v", err)
		}
		if same := cachetest.UpdateStops(t, s, later.Add(time.Hour), cachetest.ChainMenu(`,"isContainInStopList": ["grill"]`)); !same.PublishedAt.Equal(version.PublishedAt) {
			t.Errorf("the same stop lists were written again: %+v", same)
		}
	})
}

// dropView removes the restaurant's published view from memory, as if it had not
// been loaded yet.
func dropView(r *Replica, restaurant menu.RestaurantID) {
	if s := r.slots.find(restaurant); s != nil {
		if view := s.published.Swap(nil); view != nil {
			view.bodies.Clear(r.bodies)
		}
	}
}

// A snapshot is older than Redis, and its view is not in memory. The view is served
// from Redis, and the read requests a poll of the replica.
func TestAReadThatFindsOtherStopListsStartsAPoll(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(""))
		replica := New(s, Config{Poll: time.Second})
		run(t, replica)
		old := read(t, replica, bistro)
		cachetest.Eventually(t, "the replica receives notices", func() bool {
			return r.Client().PubSubNumSub(t.Context(), cache.NewKeys(r.Prefix()).Notices()).Val()[cache.NewKeys(r.Prefix()).Notices()] == 1
		})
		version := cachetest.UpdateStops(t, s, noon.Add(time.Hour), cachetest.ChainMenu(`,"disabled":false`))
		// A poll that started before may load the old view again, whose body is
		// then kept until the next poll. The poller repeats a failed poll.
		cachetest.Eventually(t, "a read starts a poll", func() bool {
			dropView(replica, bistro)
			body, err := replica.Published(t.Context(), old, encoded.Identity)
			return err == nil && string(body.Body) == fmt.Sprintf(chainBody, `,"disabled":false`) &&
				read(t, replica, bistro).Published == version.Published
		})
	})
}

func TestUpdateStopLists_Refuses(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		one := cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(""))
		two := cachetest.Publish(t, s, bistro, 1, cachetest.ChainMenu(`,"isContainInStopList":["bistro"]`))
		if err := r.Client().HSet(t.Context(), cache.NewKeys(r.Prefix()).Fence(bistro), "fence", 5).Err(); err != nil {
			t.Fatal(err)
		}
		stops := cachetest.Publication(t, bistro, 0, cachetest.ChainMenu(`,"isContainInStopList":["bistro","grill"]`)).Published.Stops
		for name, c := range map[string]struct {
			version cache.Version
			fence   int64
			want    error
		}{
			"a version that is no longer current": {one, 5, cache.ErrStale},
			"a fence below the stored one":        {two, 4, cache.ErrFenced},
		} {
			_, err := s.UpdateStopLists(t.Context(), c.version, c.fence, "", stops, noon)
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		if got, _ := asPublished(t, New(s, Config{}), bistro); got != fmt.Sprintf(chainBody, `,"isContainInStopList":["bistro"]`) {
			t.Errorf("after the rejections: %s", got)
		}
	})
}

func TestCatalogueInAnotherFormatIsPublishedAgain(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, client, keys := t.Context(), r.Client(), cache.NewKeys(r.Prefix())
		before := keys.Version(bistro, 7)
		for _, err := range []error{
			client.HSet(ctx, keys.Current(bistro), "version", 7, "content", "ab", "syncedAt", "2026-03-01T12:00:00.000Z", "index", before,
				"record", `{"version":7,"content":"ab","syncedAt":"2026-03-01T12:00:00.000Z"}`).Err(),
			client.HSet(ctx, keys.Products(before), "d0", "{}").Err(),
			client.HSet(ctx, keys.Fence(bistro), "fence", 3).Err(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		s := cache.NewStore(r, cache.StoreConfig{})
		replica := New(s, Config{})
		if _, err := s.Current(ctx, bistro); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("the store finds %v, want ErrNoCatalogue", err)
		}
		if err := replica.Poll(ctx); err != nil {
			t.Errorf("poll: %v", err)
		}
		p := cachetest.Publication(t, bistro, 0, cachetest.ChainMenu(""))
		if _, err := s.Publish(ctx, p); !errors.Is(err, cache.ErrFenced) {
			t.Errorf("with a fence below the stored one: %v, want ErrFenced", err)
		}
		p.Fence = 3
		if v, err := s.Publish(ctx, p); err != nil || v.Version != 8 {
			t.Fatalf("published version %d, %v; want 8: numbers never decrease", v.Version, err)
		}
		if got, _ := asPublished(t, replica, bistro); got != fmt.Sprintf(chainBody, "") {
			t.Errorf("served %s", got)
		}
		if life := client.TTL(ctx, keys.Products(before)).Val(); life < 9*time.Minute || life > 10*time.Minute {
			t.Errorf("the TTL of %s in the previous format is %s, want ten minutes", keys.Products(before), life)
		}
	})
}

func TestIncompletePublishedView(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		ctx, client := t.Context(), r.Client()
		s := cache.NewStore(r, cache.StoreConfig{})
		one := cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(""))
		other := cachetest.Publish(t, s, "grill", 0, cachetest.MenuJSON(3, 1))
		grill := client.HGet(ctx, cache.NewKeys(r.Prefix()).ContentBody(other.Content), "view").Val()
		own := client.HGet(ctx, cache.NewKeys(r.Prefix()).ContentBody(one.Content), "view").Val()
		stops := client.Get(ctx, cache.NewKeys(r.Prefix()).StopValues(bistro, 1)).Val()
		foreign := client.Get(ctx, cache.NewKeys(r.Prefix()).StopValues("grill", 1)).Val()
		for name, c := range map[string]struct {
			view, stops string
			want        error
		}{
			"complete":                         {own, stops, nil},
			"another content":                  {grill, stops, cache.ErrCorrupt},
			"an invalid content":               {"zstd?", stops, cache.ErrCorrupt},
			"another restaurant's stop values": {own, foreign, cache.ErrCorrupt},
			"invalid stop values":              {own, "zstd?", cache.ErrCorrupt},
		} {
			replica := New(s, Config{})
			snap := read(t, replica, bistro)
			if err := errors.Join(client.HSet(ctx, cache.NewKeys(r.Prefix()).ContentBody(one.Content), "view", c.view).Err(),
				client.Set(ctx, cache.NewKeys(r.Prefix()).StopValues(bistro, 1), c.stops, 0).Err()); err != nil {
				t.Fatal(err)
			}
			if _, err := replica.Published(ctx, snap, encoded.Identity); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			if err := client.HSet(ctx, cache.NewKeys(r.Prefix()).ContentBody(one.Content), "view", own).Err(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestPublishedViewLoadIsSharedAndSurvivesItsCaller(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
	cachetest.Publish(t, s, bistro, 0, cachetest.ChainMenu(""))
	replica := New(s, Config{})
	snap := read(t, replica, bistro)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replica.Published(gone, snap, encoded.Gzip); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a caller whose context ended: %v, want its own error", err)
	}
	var wait sync.WaitGroup
	bodies := make([]*encoded.Representation, 16)
	for i := range bodies {
		wait.Go(func() {
			if body, err := replica.Published(t.Context(), snap, encoded.Gzip); err == nil {
				bodies[i] = body
			}
		})
	}
	wait.Wait()
	for i, body := range bodies {
		if body == nil || body != bodies[0] {
			t.Fatalf("reader %d got another body", i)
		}
	}
}

// After a chain has published any views, every replica returns the view of each
// restaurant from Redis.
func TestEveryViewIsReadBackFromRedis(t *testing.T) {
	t.Parallel()
	topology.EmbeddedAndSingle(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		publisher, base := New(s, Config{}), map[menu.RestaurantID]int64{}
		rapid.Check(t, func(t *rapid.T) {
			view := viewtest.Views().Draw(t, "view")
			contents := map[string]bool{}
			for _, restaurant := range []menu.RestaurantID{bistro, "grill", cache.DefaultMenu("main")} {
				own := viewtest.Restopped(view).Draw(t, string(restaurant))
				raw := viewtest.Node{Kind: viewtest.Object, Members: []viewtest.Member{{Name: "result", Value: own}}}.
					Print(rapid.Uint64().Draw(t, "seed"))
				decoded, published, err := menu.DecodePublished(raw)
				if err != nil {
					t.Skip("no menu view: ", err) // some of the generator's views are rejected
				}
				catalogue := menu.Compile(decoded, restaurant, menu.DefaultSettings())
				version, err := s.Publish(context.Background(), cache.Publication{
					Restaurant: restaurant,
					Base:       base[restaurant],
					Catalogue:  catalogue,
					Published:  published,
					SyncedAt:   noon,
				})
				if err != nil {
					t.Fatal(err)
				}
				base[restaurant], contents[version.Content] = version.Version, true
				publisher.Install(&cache.Snapshot{Version: version, Catalogue: catalogue})
				for _, replica := range []*Replica{publisher, New(s, Config{})} {
					snap, err := replica.Catalogue(context.Background(), restaurant)
					if err != nil {
						t.Fatal(err)
					}
					body, err := replica.Published(context.Background(), snap, encoded.Identity)
					if err != nil {
						t.Fatal(err)
					}
					want, errWant := viewtest.Parse(raw)
					got, errGot := viewtest.Parse(body.Body)
					if err := errors.Join(errWant, errGot); err != nil || want.Meaning() != got.Meaning() {
						t.Fatalf("%s (%v):\n got %s\nwant %s", restaurant, err, body.Body, raw)
					}
				}
			}
			if len(contents) != 1 {
				t.Fatalf("%d contents of views that differ only in stop lists", len(contents))
			}
		})
	})
}
