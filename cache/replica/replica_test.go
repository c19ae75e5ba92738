package replica

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/testkit/topology"
)

// run runs the replica until the test ends.
func run(t *testing.T, r *Replica) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func read(t *testing.T, r *Replica, restaurant menu.RestaurantID) *cache.Snapshot {
	t.Helper()
	snap, err := r.Catalogue(t.Context(), restaurant)
	if err != nil {
		t.Fatalf("catalogue of %s: %v", restaurant, err)
	}
	return snap
}

func gunzip(t *testing.T, body []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("gunzip: %v", err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatalf("gunzip: %v", err)
	}
	return string(plain)
}

func TestReplicaServesEncodedBodies(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		p := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(5, 7))
		if _, err := s.Publish(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		replica := New(s, Config{})
		snap := read(t, replica, bistro)
		want := string(p.Catalogue.AppendMenu(nil, menu.Head{
			Restaurant:     bistro,
			RestaurantName: "The Bistro",
			Version:        1,
			SyncedAt:       noon,
		}))
		dish := string(p.Catalogue.AppendProduct(nil, 0, 1))
		tag := func(body string) string {
			return fmt.Sprintf(`W/"1-%x"`, sha256.Sum256([]byte(body)))[:13] + `"`
		}
		for name, c := range map[string]struct {
			want string
			get  func(enc encoded.Encoding) (*encoded.Representation, error)
		}{
			"menu":    {want, func(enc encoded.Encoding) (*encoded.Representation, error) { return replica.Menu(snap, enc) }},
			"product": {dish, func(enc encoded.Encoding) (*encoded.Representation, error) { return replica.Product(snap, 0, enc) }},
		} {
			plain, err := c.get(encoded.Identity)
			if err != nil {
				t.Fatal(err)
			}
			packed, err := c.get(encoded.Gzip)
			if err != nil {
				t.Fatal(err)
			}
			if string(plain.Body) != c.want || gunzip(t, packed.Body) != c.want {
				t.Errorf("%s: identity %s\ngzip %s\nwant %s", name, plain.Body, gunzip(t, packed.Body), c.want)
			}
			if plain.ETag != tag(c.want) || packed.ETag != plain.ETag {
				t.Errorf("%s: ETags %s and %s, want %s", name, plain.ETag, packed.ETag, tag(c.want))
			}
			if plain.Encoding.String() != "identity" || packed.Encoding.String() != "gzip" {
				t.Errorf("%s: encodings %s and %s", name, plain.Encoding, packed.Encoding)
			}
			if again, err := c.get(encoded.Gzip); err != nil || again != packed {
				t.Errorf("%s: the second read encoded again: %v", name, err)
			}
		}
	})
}

func TestReplicaMiss(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		now := noon
		s := cache.NewStore(r, cache.StoreConfig{})
		replica := New(s, Config{Clock: func() time.Time { return now }})
		if _, err := replica.Catalogue(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Fatalf("without a catalogue: %v, want ErrNoCatalogue", err)
		}
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		if _, err := replica.Catalogue(t.Context(), bistro); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Errorf("within a second: %v, want the stored ErrNoCatalogue", err)
		}
		now = now.Add(time.Second)
		if got := read(t, replica, bistro); got.Version.Version != 1 {
			t.Errorf("a second later: version %d, want 1", got.Version.Version)
		}
	})
}

func TestMissLoadIsSharedAndSurvivesItsCaller(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
	cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(50, 1))
	replica := New(s, Config{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replica.Catalogue(gone, bistro); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a caller whose context ended: %v, want its own error", err)
	}
	var wait sync.WaitGroup
	catalogues := make([]*menu.Catalogue, 16)
	for i := range catalogues {
		wait.Go(func() {
			if snap, err := replica.Catalogue(t.Context(), bistro); err == nil {
				catalogues[i] = snap.Catalogue
			}
		})
	}
	wait.Wait()
	for i, catalogue := range catalogues {
		if catalogue == nil || catalogue != catalogues[0] {
			t.Fatalf("reader %d got another catalogue", i)
		}
	}
}

func TestNoticeLoadsTheNewVersion(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		replica := New(s, Config{
			Restaurants: func() []menu.RestaurantID { return []menu.RestaurantID{bistro, "grill"} }, Poll: time.Hour,
		})
		run(t, replica)
		cachetest.Eventually(t, "version 1 is loaded without a read", func() bool {
			_, held := replica.Cached(bistro)
			return held && r.Client().PubSubNumSub(t.Context(), cache.NewKeys(r.Prefix()).Notices()).Val()[cache.NewKeys(r.Prefix()).Notices()] == 1
		})
		if _, err := replica.Catalogue(t.Context(), "grill"); !errors.Is(err, cache.ErrNoCatalogue) {
			t.Fatalf("grill: %v, want ErrNoCatalogue", err)
		}
		// A foreign message is ignored.
		if err := r.Client().Publish(t.Context(), cache.NewKeys(r.Prefix()).Notices(), "hello").Err(); err != nil {
			t.Fatal(err)
		}
		before := read(t, replica, bistro)
		if _, err := replica.Menu(before, encoded.Gzip); err != nil {
			t.Fatal(err)
		}
		cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 2))
		cachetest.Publish(t, s, "grill", 0, cachetest.MenuJSON(3, 2))
		cachetest.Eventually(t, "version 2 and the first of grill", func() bool {
			snap, _ := replica.Cached(bistro)
			_, grill := replica.Cached("grill")
			return snap.Version.Version == 2 && grill
		})
		if after := read(t, replica, bistro); after.Catalogue.Content != read(t, replica, "grill").Catalogue.Content {
			t.Error("two restaurants have two copies of one content")
		}
	})
}

func TestPollRepairsALostNotice(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		replica := New(s, Config{}) // not running: receives no notices
		before := read(t, replica, bistro)
		for _, c := range []struct {
			change func() error
			want   func(v cache.Version) bool
		}{
			{func() error { return nil }, func(v cache.Version) bool { return v.Version == 1 }},
			{
				func() error { return cachetest.Checked(t.Context(), r, bistro, noon.Add(time.Hour), "unchanged") },
				func(v cache.Version) bool {
					return v.Version == 1 && v.CheckedAt.Equal(noon.Add(time.Hour)) && v.LastOutcome == "unchanged"
				},
			},
			{
				func() error { cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 1, "d1")); return nil },
				func(v cache.Version) bool { return v.Version == 2 },
			},
			{ // Redis lost its data: the version in memory stays
				func() error { return r.Client().Del(t.Context(), cache.NewKeys(r.Prefix()).Current(bistro)).Err() },
				func(v cache.Version) bool { return v.Version == 2 },
			},
			{ // a served number is not used again (policy S2a)
				func() error { cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 9)); return nil },
				func(v cache.Version) bool { return v.Version == 3 && !v.Behind() },
			},
			{ // unless no instance has raised the floor: another content with the number of the version in memory
				func() error {
					topology.DeleteAllKeys(t, r)
					for base := range int64(3) {
						cachetest.Publish(t, s, bistro, base, cachetest.MenuJSON(3, 8-base))
					}
					return nil
				},
				func(v cache.Version) bool { return v.Version == 3 && v.Content != before.Content && v.Behind() },
			},
		} {
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
			if err := replica.Poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := read(t, replica, bistro); !c.want(got.Version) {
				t.Errorf("after the poll: %+v", got.Version)
			}
		}
	})
}

// Redis lost its data. The number of the version in memory was used again, for the
// same content with other stop lists. The version of Redis replaces the one in memory
// (policy S2).
func TestAReusedVersionNumberIsDecidedByRedis(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		replica := New(s, Config{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		snap := read(t, replica, bistro)
		if _, err := replica.Menu(snap, encoded.Identity); err != nil {
			t.Fatal(err)
		}
		topology.DeleteAllKeys(t, r)
		again := cachetest.Publication(t, bistro, 0, cachetest.MenuJSON(3, 1, "d1"))
		again.SyncedAt = again.SyncedAt.Add(time.Minute)
		if v, err := s.Publish(t.Context(), again); err != nil || v.Version != snap.Version.Version || v.Content != snap.Content {
			t.Fatalf("published %+v, %v; want number and content of %+v", v, err, snap.Version)
		}
		if err := replica.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		after := read(t, replica, bistro)
		body, err := replica.Menu(after, encoded.Identity)
		if err != nil || len(after.Stops.Products) != 1 || bytes.Count(body.Body, []byte(`"available":false`)) != 1 {
			t.Errorf("memory keeps the stop lists %v (%v): %s", after.Stops, err, body.Body)
		}
	})
}

func TestPollOfAContentThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	topology.Each(t, func(t *testing.T, r *redisdb.DB) {
		s := cache.NewStore(r, cache.StoreConfig{})
		cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
		cachetest.Publish(t, s, "grill", 0, cachetest.MenuJSON(3, 5))
		replica := New(s, Config{})
		read(t, replica, bistro)
		read(t, replica, "grill")
		broken := cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 2))
		cachetest.Publish(t, s, "grill", 1, cachetest.MenuJSON(3, 6))
		if err := r.Client().Del(t.Context(), cache.NewKeys(r.Prefix()).ContentBody(broken.Content)).Err(); err != nil {
			t.Fatal(err)
		}
		if err := replica.Poll(t.Context()); !errors.Is(err, cache.ErrNoCatalogue) || !strings.Contains(err.Error(), "bistro") {
			t.Errorf("got %v, want an error that names bistro", err)
		}
		if got := read(t, replica, bistro).Version.Version; got != 1 {
			t.Errorf("bistro: version %d, want the last good 1", got)
		}
		if got := read(t, replica, "grill").Version.Version; got != 2 {
			t.Errorf("grill: version %d, want 2: an error of one restaurant does not stop the others", got)
		}
	})
}

func TestReplica_Install(t *testing.T) {
	t.Parallel()
	s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
	replica := New(s, Config{})
	offer := func(base int64, raw []byte) (cache.Version, *menu.Catalogue) {
		p := cachetest.Publication(t, bistro, base, raw)
		version, err := s.Publish(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		replica.Install(&cache.Snapshot{Version: version, Catalogue: p.Catalogue})
		return version, p.Catalogue
	}
	first, catalogue := offer(0, cachetest.MenuJSON(3, 1))
	one, held := replica.Cached(bistro)
	if !held || one.Catalogue != catalogue {
		t.Fatal("the installed snapshot is not served")
	}
	old, err := replica.Menu(one, encoded.Gzip)
	if err != nil {
		t.Fatal(err)
	}
	offer(1, cachetest.MenuJSON(3, 1, "d1"))
	two, _ := replica.Cached(bistro)
	if two.Version.Version != 2 || two.Catalogue.Content != one.Catalogue.Content || two.Catalogue.Available(1) {
		t.Errorf("an overlay: version %d, same content %t", two.Version.Version, two.Catalogue.Content == one.Catalogue.Content)
	}
	replica.Install(&cache.Snapshot{Version: first, Catalogue: catalogue})
	if now, _ := replica.Cached(bistro); now != two {
		t.Errorf("version %d replaced version 2", now.Version.Version)
	}
	// The body of the old version is removed with the version. A reader of the old
	// snapshot gets a new body.
	again, err := replica.Menu(one, encoded.Gzip)
	if err != nil || again == old || again.ETag != old.ETag {
		t.Errorf("the old version's body: kept %t, ETag %s, want %s, %v", again == old, again.ETag, old.ETag, err)
	}
	if third, err := replica.Menu(one, encoded.Gzip); err != nil || third == again {
		t.Errorf("a body of an old version was kept: %v", err)
	}
}

func TestReadsContinueWithoutRedis(t *testing.T) {
	t.Parallel()
	// With everysec, a write waits for a slow fsync of the previous one, and a kill
	// then loses acknowledged writes.
	server := redistest.Start(t, redistest.AppendOnly(), redistest.Config("appendfsync", "always"))
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
	replica := New(s, Config{
		Restaurants: func() []menu.RestaurantID { return []menu.RestaurantID{bistro} }, Poll: 50 * time.Millisecond,
	})
	run(t, replica)
	snap := read(t, replica, bistro)
	server.Stop()

	if err := replica.Poll(t.Context()); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("poll: %v, want ErrUnavailable", err)
	}
	if body, err := replica.Product(read(t, replica, bistro), 0, encoded.Gzip); err != nil || len(body.Body) == 0 {
		t.Errorf("a read from memory: %v", err)
	}
	if _, err := replica.Catalogue(t.Context(), "grill"); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("a restaurant that is not in memory: %v, want ErrUnavailable", err)
	}
	p := cachetest.Publication(t, bistro, 1, cachetest.MenuJSON(3, 2))
	_, publishErr := s.Publish(t.Context(), p)
	_, contentErr := s.Content(t.Context(), snap.Content, nil)
	_, _, reasonsErr := s.Reasons(t.Context(), "main")
	_, versionsErr := s.Versions(t.Context(), bistro)
	_, versionErr := s.Version(t.Context(), bistro, 1)
	_, findErr := s.Find(t.Context(), []menu.RestaurantID{bistro})
	_, currentErr := s.Current(t.Context(), bistro)
	_, sweepErr := s.Sweep(t.Context())
	for name, err := range map[string]error{
		"Publish": publishErr, "Content": contentErr, "Reasons": reasonsErr, "Versions": versionsErr, "Version": versionErr,
		"Find": findErr, "Current": currentErr, "Sweep": sweepErr, "Ping": r.Ping(t.Context()),
		"SaveReasons": s.SaveReasons(t.Context(), "main", nil), "Checked": cachetest.Checked(t.Context(), r, bistro, noon, "unchanged"),
	} {
		if !errors.Is(err, redisdb.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
	}

	server.Restart()
	cachetest.Eventually(t, "Redis responds again and accepts a version", func() bool {
		_, err := s.Publish(t.Context(), p)
		if err != nil && !errors.Is(err, redisdb.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
	cachetest.Eventually(t, "the replica has the new version", func() bool { return read(t, replica, bistro).Version.Version == 2 })
	cachetest.Eventually(t, "the replica receives notices again", func() bool {
		return r.Client().PubSubNumSub(t.Context(), cache.NewKeys(r.Prefix()).Notices()).Val()[cache.NewKeys(r.Prefix()).Notices()] == 1
	})
}
