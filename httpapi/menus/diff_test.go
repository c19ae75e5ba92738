package menus_test

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
)

const changesPath = "/v1/restaurants/" + apitest.Bistro + "/changes"

// differs is the body of GET …/changes.
type differs struct {
	From, To int64
	menu.Changes
}

func changesSince(w *apitest.Fixture, version int64) differs {
	w.T.Helper()
	var got differs
	w.Get(changesPath+"?since="+strconv.FormatInt(version, 10)).Is(w.T, http.StatusOK).Into(w.T, &got)
	return got
}

func TestChangesSinceAVersion(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.Redis.URL = redistest.Start(t).URL() })
	w.PublishAgain(apitest.KitchenMenu("200", "[]"))                                                   // version 2
	w.PublishAgain(apitest.KitchenMenu("200", "true"))                                                 // version 3: only stop lists
	w.PublishAgain(strings.Replace(apitest.KitchenMenu("200", "true"), `"id": "p4"`, `"id": "p6"`, 1)) // version 4
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
			if diff := cmp.Diff(differs{since, 4, want}, changesSince(w, since)); diff != "" {
				t.Errorf("since %d (-want +got):\n%s", since, diff)
			}
		}
	}

	path := changesPath + "?since=1"
	plain, packed := w.Get(path), w.Get(path, "Accept-Encoding", "gzip")
	etag := plain.Header.Get("Etag")
	if !strings.HasPrefix(etag, `W/"4-`) || packed.Header.Get("Etag") != etag || !bytes.Equal(unpack(t, packed), plain.Body) ||
		plain.Header.Get("Larder-Menu-Version") != "4" || plain.Header.Get("Last-Modified") == "" || plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("header %v, %v", plain.Header, packed.Header)
	}
	w.Get(path, "If-None-Match", etag).Is(t, http.StatusNotModified)
	if head := w.Do(http.MethodHead, path, ""); head.Status != http.StatusOK || len(head.Body) != 0 {
		t.Errorf("HEAD: %d, %d bytes", head.Status, len(head.Body))
	}
}

func TestChangesThatCannotBeTold(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.PublishAgain(apitest.KitchenMenu("200", "[]"))
	w.PublishAgain(apitest.KitchenMenu("200", "true"))
	if err := w.Redis.Client().Del(t.Context(), cache.NewKeys(w.Redis.Prefix()).Record(apitest.Bistro, 2)).Err(); err != nil { // as if ten minutes had passed
		t.Fatal(err)
	}
	for _, since := range []string{"2", "4", "9223372036854775807"} {
		w.Get(changesPath+"?since="+since).Refused(t, http.StatusGone, "version_gone")
	}
	for _, query := range []string{"", "?since=", "?since=0", "?since=-1", "?since=x", "?since=1.0"} {
		w.Get(changesPath+query).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	w.Get("/v1/restaurants/nowhere/changes?since=1").Refused(t, http.StatusNotFound, "restaurant_not_found")
	w.Get("/v1/restaurants/"+apitest.Empty+"/changes?since=1").Refused(t, http.StatusServiceUnavailable, "no_catalogue")
	w.Get(changesPath+"?since=1", "Accept-Encoding", "identity;q=0").Refused(t, http.StatusNotAcceptable, "not_acceptable")
}

// Without Redis, a storefront with the current version still gets a response, and so does a request
// whose body is cached.
func TestChangesWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	w := apitest.New(t, func(p *apitest.Plan) { p.Redis.URL = server.URL() })
	w.PublishAgain(apitest.KitchenMenu("200", "[]"))
	w.PublishAgain(apitest.KitchenMenu("300", "[]"))
	changesSince(w, 2)
	server.Stop()
	if got := changesSince(w, 2); len(got.Changed) != 1 {
		t.Errorf("got %+v", got)
	}
	if got := changesSince(w, 3); !got.Empty() {
		t.Errorf("got %+v", got)
	}
	w.Get(changesPath+"?since=1").Refused(t, http.StatusServiceUnavailable, "storage_unavailable")
}
