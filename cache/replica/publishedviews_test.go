package replica

import (
	"bytes"
	"errors"
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

// The published view is read for the first time while Redis is down, in every
// encoding and with the last published stop lists.
func TestPublished_FirstReadWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r := topology.Open(t, server.URL())
	s := cache.NewStore(r, cache.StoreConfig{})
	replica := New(s, Config{Restaurants: func() []menu.RestaurantID {
		return []menu.RestaurantID{bistro, "chain-1", "chain-2", "offered"}
	}})
	poll := func() {
		t.Helper()
		if err := replica.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cachetest.Publish(t, s, bistro, 0, cachetest.MenuJSON(3, 1))
	cachetest.Publish(t, s, "chain-1", 0, cachetest.MenuJSON(5, 2)) // two with one content
	cachetest.Publish(t, s, "chain-2", 0, cachetest.MenuJSON(5, 2))
	poll()
	cachetest.Publish(t, s, bistro, 1, cachetest.MenuJSON(3, 4)) // a later version
	own := cachetest.Publication(t, "offered", 0, cachetest.MenuJSON(4, 1))
	version, err := s.Publish(t.Context(), own) // a version that this process has published
	if err != nil {
		t.Fatal(err)
	}
	replica.Install(&cache.Snapshot{Version: version, Catalogue: own.Catalogue})
	poll()
	// Other stop lists without a new version.
	raw := cachetest.MenuJSON(5, 2)
	stopped := bytes.Replace(raw, []byte(`"isContainInStopList":[]`), []byte(`"isContainInStopList":["elsewhere"]`), 1)
	if bytes.Equal(raw, stopped) {
		t.Fatalf("no stop list in %s", raw)
	}
	_, published, err := menu.DecodePublished(stopped)
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, replica, "chain-1").Published
	first := read(t, replica, "chain-1").Version
	if _, err := s.UpdateStopLists(t.Context(), first, 1, "", published.Stops, noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	poll()
	if read(t, replica, "chain-1").Published == before {
		t.Fatal("the stop lists did not change")
	}

	want := map[menu.RestaurantID][]byte{}
	fromRedis := New(s, Config{})
	for _, id := range []menu.RestaurantID{bistro, "chain-1", "chain-2", "offered"} {
		body, err := fromRedis.Published(t.Context(), read(t, fromRedis, id), encoded.Identity)
		if err != nil {
			t.Fatal(err)
		}
		want[id] = body.Body
	}
	server.Stop()
	for id, body := range want {
		got, err := replica.Published(t.Context(), read(t, replica, id), encoded.Identity)
		if err != nil || !bytes.Equal(got.Body, body) {
			t.Errorf("%s without Redis: %v, %d bytes; want the bytes from Redis", id, err, len(got.Body))
		}
		if _, err := replica.Published(t.Context(), read(t, replica, id), encoded.Brotli); err != nil {
			t.Errorf("%s in br: %v", id, err)
		}
	}
	if _, err := New(s, Config{}).Catalogue(t.Context(), bistro); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("Redis still responds: %v", err)
	}
	replica.Drop(bistro)
}

// Rejection reasons are read for the first time while Redis is down, or has lost
// them.
func TestReasons_FirstReadWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := cache.NewStore(topology.Open(t, server.URL()), cache.StoreConfig{})
	replica := New(s, Config{Connections: []string{"main", "none"}})
	if err := s.SaveReasons(t.Context(), "main", []byte(`[{"ID":"1"}]`)); err != nil {
		t.Fatal(err)
	}
	if err := replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, lose := range map[string]func(){
		"lost": func() { server.Client().FlushAll(t.Context()) }, "away": server.Stop,
	} {
		lose()
		if raw, err := replica.Reasons(t.Context(), "main"); err != nil || string(raw) != `[{"ID":"1"}]` {
			t.Errorf("%s: %s, %v; want them from memory", name, raw, err)
		}
		if _, err := replica.Reasons(t.Context(), "none"); err == nil {
			t.Errorf("%s: reasons of an unknown connection", name)
		}
	}
}
