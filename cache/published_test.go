package cache_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redistest"
)

// asPublished reads the view as published in both encodings, which must say
// the same, and gives its body.
func asPublished(t *testing.T, r *cache.Replica, restaurant menu.RestaurantID) (string, *cache.Snapshot) {
	t.Helper()
	snap := read(t, r, restaurant)
	plain, err := r.Published(t.Context(), snap, cache.Identity)
	if err != nil {
		t.Fatalf("%s as published: %v", restaurant, err)
	}
	packed, err := r.Published(t.Context(), snap, cache.Gzip)
	if err != nil {
		t.Fatalf("%s as published, gzip: %v", restaurant, err)
	}
	body := string(plain.Body)
	if got := gunzip(t, packed.Body); got != body || plain.Encoding != cache.Identity || packed.Encoding != cache.Gzip {
		t.Fatalf("%s: gzip says %s (%s), identity %s (%s)", restaurant, got, packed.Encoding, body, plain.Encoding)
	}
	want := fmt.Sprintf(`W/"%d-%x"`, snap.Version.Version, sha256.Sum256(plain.Body))
	if want = want[:len(want)-57] + `"`; plain.ETag != want || packed.ETag != want {
		t.Fatalf("%s: ETags %s and %s, want %s", restaurant, plain.ETag, packed.ETag, want)
	}
	return body, snap
}

// chainMenu is a menu whose dish b has the given fields that stop it.
func chainMenu(stop string) []byte {
	return []byte(`{"requestId":"7","result":{"name":"Chain","spicy":null,"products":[{"price":"1.50","ID":"a","externalId":"x"},` +
		`{"id":"b","price":2.00` + stop + `}]}}`)
}

const chainBody = `{"result":{"name":"Chain","products":[{"externalId":"x","ID":"a","price":"1.50"},{"id":"b","price":2.00%s}],"spicy":null}}`

func TestReplicaServesTheViewAsPublished(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, r *cache.Redis) {
		s := cache.NewStore(r, cache.StoreConfig{})
		publish(t, s, bistro, 0, chainMenu(`,"isContainInStopList":["grill"]`))
		publish(t, s, "grill", 0, chainMenu(`, "disabled": true`))
		publish(t, s, cache.DefaultMenu("main"), 0, chainMenu(""))
		replica := cache.NewReplica(s, cache.ReplicaConfig{})
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
			t.Errorf("a chain that differs in stop lists alone has %d contents", len(contents))
		}
	})
}

func TestViewAsPublishedWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	now := noon
	s := cache.NewStore(open(t, server.URL()), cache.StoreConfig{})
	publish(t, s, bistro, 0, chainMenu(""))
	publish(t, s, "grill", 0, chainMenu(""))
	replica := cache.NewReplica(s, cache.ReplicaConfig{Clock: func() time.Time { return now }})
	snap, grill := read(t, replica, bistro), read(t, replica, "grill")
	if _, err := replica.Published(t.Context(), snap, cache.Gzip); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	if got, _ := asPublished(t, replica, bistro); got != fmt.Sprintf(chainBody, "") {
		t.Errorf("from memory: %s", got)
	}
	for range 2 {
		if _, err := replica.Published(t.Context(), grill, cache.Identity); !errors.Is(err, cache.ErrUnavailable) {
			t.Errorf("what memory does not hold: %v, want ErrUnavailable", err)
		}
	}
	server.Restart() // without its data
	now = now.Add(time.Minute)
	if _, err := replica.Published(t.Context(), grill, cache.Identity); !errors.Is(err, cache.ErrNoCatalogue) {
		t.Errorf("of a redis that lost its data: %v, want ErrNoCatalogue", err)
	}
}
