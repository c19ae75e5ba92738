package httpapi_test

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/testkit/redistest"
)

const changesPath = "/v1/restaurants/" + bistro + "/changes"

// differs is the body of GET …/changes.
type differs struct {
	From, To int64
	menu.Changes
}

func (w *fixture) changesSince(version int64) differs {
	w.t.Helper()
	var got differs
	w.get(changesPath+"?since="+strconv.FormatInt(version, 10)).is(w.t, http.StatusOK).into(w.t, &got)
	return got
}

func TestChangesSinceAVersion(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.redis.URL = redistest.Start(t).URL() })
	w.publishes(kitchenMenu("200", "[]"))                                                   // version 2
	w.publishes(kitchenMenu("200", "true"))                                                 // version 3: only stop lists
	w.publishes(strings.Replace(kitchenMenu("200", "true"), `"id": "p4"`, `"id": "p6"`, 1)) // version 4
	none := menu.Changes{
		Added:        []string{},
		Removed:      []string{},
		Changed:      []menu.Change{},
		Availability: []menu.Availability{},
	}
	three, two, one := none, none, none
	three.Added, three.Removed = []string{"p6"}, []string{"p4"}
	two.Added, two.Removed, two.Availability = three.Added, three.Removed, []menu.Availability{{ID: "p3", Available: false}}
	one.Added, one.Removed, one.Availability = three.Added, three.Removed, two.Availability
	one.Changed = []menu.Change{{ID: "p1", Fields: []string{"price"}}}
	for since, want := range map[int64]menu.Changes{4: none, 3: three, 2: two, 1: one} { // version 2 was replaced a moment ago
		for range 2 { // built and cached
			if diff := cmp.Diff(differs{since, 4, want}, w.changesSince(since)); diff != "" {
				t.Errorf("since %d (-want +got):\n%s", since, diff)
			}
		}
	}

	path := changesPath + "?since=1"
	plain, packed := w.get(path), w.get(path, "Accept-Encoding", "gzip")
	etag := plain.header.Get("Etag")
	if !strings.HasPrefix(etag, `W/"4-`) || packed.header.Get("Etag") != etag || !bytes.Equal(unpack(t, packed), plain.body) ||
		plain.header.Get("Larder-Menu-Version") != "4" || plain.header.Get("Last-Modified") == "" || plain.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("header %v, %v", plain.header, packed.header)
	}
	w.get(path, "If-None-Match", etag).is(t, http.StatusNotModified)
	if head := w.do(http.MethodHead, path, ""); head.status != http.StatusOK || len(head.body) != 0 {
		t.Errorf("HEAD: %d, %d bytes", head.status, len(head.body))
	}
}

func TestChangesThatCannotBeTold(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.publishes(kitchenMenu("200", "[]"))
	w.publishes(kitchenMenu("200", "true"))
	if err := w.redis.Client().Del(t.Context(), cache.NewKeys(w.redis.Prefix()).Record(bistro, 2)).Err(); err != nil { // as if ten minutes had passed
		t.Fatal(err)
	}
	for _, since := range []string{"2", "4", "9223372036854775807"} {
		w.get(changesPath+"?since="+since).refused(t, http.StatusGone, "version_gone")
	}
	for _, query := range []string{"", "?since=", "?since=0", "?since=-1", "?since=x", "?since=1.0"} {
		w.get(changesPath+query).refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	w.get("/v1/restaurants/nowhere/changes?since=1").refused(t, http.StatusNotFound, "restaurant_not_found")
	w.get("/v1/restaurants/"+empty+"/changes?since=1").refused(t, http.StatusServiceUnavailable, "no_catalogue")
	w.get(changesPath+"?since=1", "Accept-Encoding", "identity;q=0").refused(t, http.StatusNotAcceptable, "not_acceptable")
}

// Without Redis, a storefront with the current version still gets a response, and so does a request
// whose body is cached.
func TestChangesWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	w := newFixture(t, func(p *plan) { p.redis.URL = server.URL() })
	w.publishes(kitchenMenu("200", "[]"))
	w.publishes(kitchenMenu("300", "[]"))
	w.changesSince(2)
	server.Stop()
	if got := w.changesSince(2); len(got.Changed) != 1 {
		t.Errorf("got %+v", got)
	}
	if got := w.changesSince(3); !got.Empty() {
		t.Errorf("got %+v", got)
	}
	w.get(changesPath+"?since=1").refused(t, http.StatusServiceUnavailable, "storage_unavailable")
}
