package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const menuPath = "/v1/restaurants/" + bistro + "/menu"

func TestMenuRead(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	got := w.get(menuPath).is(t, http.StatusOK)
	if !json.Valid(got.body) {
		t.Fatalf("not JSON: %s", got.body)
	}
	var menu struct {
		Restaurant struct{ ID, Name string }
		Version    int
		Products   []struct{ ID string }
	}
	got.into(t, &menu)
	if menu.Restaurant.ID != bistro || menu.Restaurant.Name != "The bistro" || menu.Version != 1 || len(menu.Products) != 5 {
		t.Errorf("got %+v", menu)
	}
	if !bytes.Contains(got.body, []byte(`"price":199.9`)) {
		t.Errorf("the price is not exact: %s", got.body)
	}
	header := map[string]string{
		"Content-Type":        "application/json; charset=utf-8",
		"Content-Length":      strconv.Itoa(len(got.body)),
		"Cache-Control":       "public, max-age=0, stale-while-revalidate=30, stale-if-error=86400",
		"Vary":                "Accept-Encoding",
		"Larder-Menu-Version": "1",
		"Content-Encoding":    "",
	}
	for name, want := range header {
		if value := got.header.Get(name); value != want {
			t.Errorf("%s: got %q, want %q", name, value, want)
		}
	}
	if etag := got.header.Get("Etag"); !regexp.MustCompile(`^W/"1-[0-9a-f]{8}"$`).MatchString(etag) {
		t.Errorf("ETag %q", etag)
	}
	if _, err := http.ParseTime(got.header.Get("Last-Modified")); err != nil {
		t.Errorf("Last-Modified: %v", err)
	}
	if id := got.header.Get("X-Request-Id"); len(id) != 26 {
		t.Errorf("X-Request-Id %q", id)
	}
}

func TestReadsAreNegotiated(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	// Among encodings with equal weight, larder uses its own order.
	for path, preferred := range map[string]string{menuPath: "br", "/v1/restaurants/bistro/products/p1": "gzip"} {
		plain := w.get(path).is(t, http.StatusOK)
		for _, c := range [][2]string{
			{"gzip, deflate, br, zstd", preferred},
			{"gzip", "gzip"},
			{"br, gzip;q=0.5", "br"},
			{"zstd", "zstd"},
			{"gzip, br, zstd", preferred},
			{"*", preferred},
			{"identity", ""},
			{"deflate", ""},
			{"gzip;q=0", ""},
			{"", ""},
			{"gzip;q=0.5, identity", ""},
		} {
			accept, coding := c[0], c[1]
			got := w.get(path, "Accept-Encoding", accept).is(t, http.StatusOK)
			if got.header.Get("Content-Encoding") != coding {
				t.Errorf("%s with %q: Content-Encoding %q, want %q", path, accept, got.header.Get("Content-Encoding"), coding)
			}
			if body := unpack(t, got); !bytes.Equal(body, plain.body) {
				t.Errorf("%s with %q: another body than without", path, accept)
			}
			if got.header.Get("Etag") != plain.header.Get("Etag") || got.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s with %q: ETag %q, Vary %q", path, accept, got.header.Get("Etag"), got.header.Get("Vary"))
			}
		}
		w.get(path, "Accept-Encoding", "identity;q=0").refused(t, http.StatusNotAcceptable, "not_acceptable")
	}
	// Several header lines form one list (RFC 9110, section 5.3).
	got := w.get(menuPath, "Accept-Encoding", "gzip;q=0.5", "Accept-Encoding", "zstd").is(t, http.StatusOK)
	if coding := got.header.Get("Content-Encoding"); coding != "zstd" {
		t.Errorf("two lines: Content-Encoding %q, want zstd", coding)
	}
	for _, path := range []string{"/v1/restaurants", "/v1/restaurants/bistro/products"} {
		w.get(path, "Accept-Encoding", "gzip").is(t, http.StatusOK)
		w.get(path, "Accept-Encoding", "*;q=0").refused(t, http.StatusNotAcceptable, "not_acceptable")
	}
}

func unpack(t *testing.T, r reply) []byte {
	t.Helper()
	body, err := new(unpacker).unpack(r.body, r.header.Get("Content-Encoding"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestConditionalReads(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, path := range []string{menuPath, "/v1/restaurants/bistro/products/p1", "/v1/restaurants/bistro/products", "/v1/restaurants"} {
		first := w.get(path, "Accept-Encoding", "gzip").is(t, http.StatusOK)
		etag := first.header.Get("Etag")
		for name, condition := range map[string][]string{
			"the tag": {"If-None-Match", etag}, "a list": {"If-None-Match", `"x", ` + etag}, "any": {"If-None-Match", "*"},
			"strong": {"If-None-Match", strings.TrimPrefix(etag, "W/")},
		} {
			got := w.get(path, append(condition, "Accept-Encoding", "gzip")...)
			if got.status != http.StatusNotModified || len(got.body) != 0 {
				t.Errorf("%s, %s: got %d with %d bytes, want 304 with none", path, name, got.status, len(got.body))
			}
			for _, header := range []string{"Etag", "Vary", "Cache-Control", "Last-Modified", "Larder-Menu-Version"} {
				if got.header.Get(header) != first.header.Get(header) {
					t.Errorf("%s, %s: %s is %q in the 304, %q in the 200", path, name, header, got.header.Get(header), first.header.Get(header))
				}
			}
		}
		w.get(path, "If-None-Match", `W/"0-00000000"`).is(t, http.StatusOK)
		if since := first.header.Get("Last-Modified"); since != "" {
			w.get(path, "If-Modified-Since", since).is(t, http.StatusNotModified)
			w.get(path, "If-Modified-Since", time.Unix(0, 0).UTC().Format(http.TimeFormat)).is(t, http.StatusOK)
		}
	}
	old := w.get(menuPath).header
	before := old.Get("Etag")
	w.service.setMenu(bistro, strings.Replace(fullMenu, "199.90", "201", 1))
	w.syncOnce(bistro)
	w.get(menuPath, "If-Modified-Since", old.Get("Last-Modified")).is(t, http.StatusOK) // mostly within the same second
	if after := w.get(menuPath, "If-None-Match", before).is(t, http.StatusOK); after.header.Get("Larder-Menu-Version") != "2" {
		t.Errorf("after a new version: Larder-Menu-Version %q", after.header.Get("Larder-Menu-Version"))
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ops := w.as(clientOps)
	runs := w.get("/v1/ops/runs", ops...)
	var list []struct{ ID string }
	runs.into(t, &list)
	for _, path := range []string{
		"/v1/restaurants", menuPath, "/v1/restaurants/bistro/products", "/v1/restaurants/bistro/products/p1",
		"/v1/ops/runs", "/v1/ops/runs/" + list[0].ID, "/v1/ops/restaurants/bistro/lint", "/livez", "/readyz", "/metrics",
		"/v1/restaurants/nowhere/menu",
	} {
		get, head := w.get(path, ops...), w.do(http.MethodHead, path, "", ops...)
		if head.status != get.status || len(head.body) != 0 {
			t.Errorf("HEAD %s: %d with %d bytes, want %d with none", path, head.status, len(head.body), get.status)
		}
		if path == "/metrics" || strings.Contains(path, "nowhere") {
			continue // the bodies differ between requests
		}
		for _, name := range []string{"Content-Length", "Content-Type", "Etag", "Cache-Control"} {
			if get.header.Get(name) != head.header.Get(name) {
				t.Errorf("HEAD %s: %s %q, want %q", path, name, head.header.Get(name), get.header.Get(name))
			}
		}
	}
}

func TestProduct(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var product struct {
		Version int
		ID      string
		Price   json.Number
		Groups  []struct {
			ID      string
			Max     *int
			Options []struct{ ID string }
		}
	}
	w.get("/v1/restaurants/bistro/products/p1").is(t, http.StatusOK).into(t, &product)
	if product.ID != "p1" || product.Version != 1 || product.Price != "199.9" || len(product.Groups) != 1 || len(product.Groups[0].Options) != 2 {
		t.Errorf("got %+v", product)
	}
	// An id with a slash, a space, a plus sign and a percent sign.
	w.get("/v1/restaurants/bistro/products/p%2F2%20+%25").is(t, http.StatusOK).into(t, &product)
	if product.ID != "p/2 +%" {
		t.Errorf("escaped id: got %q", product.ID)
	}
	w.get("/v1/restaurants/bistro/products/e2?by=externalId").is(t, http.StatusOK).into(t, &product)
	if product.ID != "p/2 +%" {
		t.Errorf("by externalId: got %q", product.ID)
	}
	w.get("/v1/restaurants/bistro/products/nope").refused(t, http.StatusNotFound, "product_not_found")
	w.get("/v1/restaurants/bistro/products/e2").refused(t, http.StatusNotFound, "product_not_found")
	w.get("/v1/restaurants/bistro/products/p1?by=externalId").refused(t, http.StatusNotFound, "product_not_found")
	w.get("/v1/restaurants/bistro/products/p1?by=name").refused(t, http.StatusBadRequest, "invalid_parameter")
	twins := w.get("/v1/restaurants/bistro/products/twin?by=externalId").refused(t, http.StatusConflict, "external_id_ambiguous")
	if got := twins.Errors[0].Params["ids"]; !cmp.Equal(got, []any{"p3", "p4"}) {
		t.Errorf("ids %v", got)
	}
}

func TestProductsList(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for query, want := range map[string][]string{
		"":                       {"p1", "p/2 +%", "p3", "p4", "p5"},
		"?q=CREME":               {"p/2 +%"},
		"?q=basil+tomato":        {"p1"},
		"?q=nothing":             {},
		"?category=c2":           {"p/2 +%"},
		"?category=unknown":      {},
		"?available=true":        {"p1", "p/2 +%", "p3", "p4"},
		"?available=false":       {"p1", "p/2 +%", "p3", "p4", "p5"},
		"?q=twin&available=true": {"p3", "p4"},
		"?limit=500":             {"p1", "p/2 +%", "p3", "p4", "p5"},
	} {
		if got, _ := productIDs(t, w, query); !cmp.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
	for _, query := range []string{
		"?limit=0", "?limit=501", "?limit=x", "?limit=-1", "?available=maybe", "?cursor=%21", "?cursor=eA",
		"?cursor=LTEgcDE", "?q=" + strings.Repeat("a", 201),
	} {
		w.get("/v1/restaurants/bistro/products"+query).refused(t, http.StatusBadRequest, "invalid_parameter")
	}
}

func TestProductsPages(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var all []string
	query := "?limit=2"
	for pages := 1; ; pages++ {
		ids, next := productIDs(t, w, query)
		all = append(all, ids...)
		if next == "" {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
		query = "?limit=2&cursor=" + next
	}
	if want := []string{"p1", "p/2 +%", "p3", "p4", "p5"}; !cmp.Equal(all, want) {
		t.Errorf("got %v, want %v", all, want)
	}
}

// The next page continues after the last dish of the previous page, wherever the new version has
// it. If the dish was removed, the page continues at its former position.
func TestProductsPagesOverVersions(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, next := productIDs(t, w, "?limit=2")
	w.service.setMenu(bistro, strings.Replace(fullMenu, `"products": [`, `"products": [{"id": "p0", "name": "New", "price": 1},`, 1))
	w.syncOnce(bistro)
	if got, _ := productIDs(t, w, "?cursor="+next); !cmp.Equal(got, []string{"p3", "p4", "p5"}) {
		t.Errorf("a dish was added before: got %v", got)
	}
	w.service.setMenu(bistro, strings.Replace(fullMenu, `{"id": "p/2 +%"`, `{"id": "p2"`, 1))
	w.syncOnce(bistro)
	if got, _ := productIDs(t, w, "?cursor="+next); !cmp.Equal(got, []string{"p2", "p3", "p4", "p5"}) {
		t.Errorf("the dish is gone: got %v", got)
	}
}

func productIDs(t *testing.T, w *fixture, query string) (ids []string, next string) {
	t.Helper()
	got := w.get("/v1/restaurants/bistro/products"+query).is(t, http.StatusOK)
	var list struct {
		Result []struct{ ID string }
		Next   *string
	}
	if err := json.Unmarshal(got.body, &list); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	if list.Result == nil {
		t.Errorf("%q: result is null", query)
	}
	ids = []string{}
	for _, product := range list.Result {
		ids = append(ids, product.ID)
	}
	if list.Next != nil {
		next = *list.Next
	}
	return ids, next
}

func TestRestaurantsList(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	type row struct {
		ID, Name             string
		Connection           *string
		Version              *int
		Counts               *struct{ Categories, Products, Available, Orderable int }
		SyncedAt, CheckedAt  *time.Time
		Stale, Held          bool
		LastOutcome, Address *string
	}
	var rows []row
	w.get("/v1/restaurants").is(t, http.StatusOK).into(t, &rows)
	if len(rows) != 3 || rows[0].ID != bistro || rows[1].ID != empty || rows[2].ID != north {
		t.Fatalf("got %+v, want three by id", rows)
	}
	first := rows[0]
	if first.Name != "The bistro" || first.Connection != nil || *first.Version != 1 || first.Stale || first.Held || *first.LastOutcome != "updated" {
		t.Errorf("got %+v", first)
	}
	if got, want := *first.Counts, (struct{ Categories, Products, Available, Orderable int }{2, 5, 4, 4}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if without := rows[1]; without.Version != nil || without.Counts != nil || without.SyncedAt != nil || !without.Stale {
		t.Errorf("a restaurant without a menu: got %+v", without)
	}
	w.get("/v1/restaurants?q=the+NORTH").is(t, http.StatusOK).into(t, &rows)
	if len(rows) != 1 || rows[0].ID != north {
		t.Errorf("?q=: got %+v", rows)
	}
	var page struct{ Next *string }
	got := w.get("/v1/restaurants?limit=2").is(t, http.StatusOK)
	if err := json.Unmarshal(got.body, &page); err != nil || page.Next == nil {
		t.Fatalf("first page of two: %v %s", err, got.body)
	}
	w.get("/v1/restaurants?limit=2&cursor="+*page.Next).is(t, http.StatusOK).into(t, &rows)
	if len(rows) != 1 || rows[0].ID != north {
		t.Errorf("second page: got %+v", rows)
	}
	const odd = "\"Bistro\" \\ <b>\n\x01\u2028"
	restaurants := slices.Clone(w.directory.Restaurants())
	for i := range restaurants {
		restaurants[i].Name, restaurants[i].Address = odd, "Rua\xff"
	}
	w.directory.Replace(restaurants)
	w.get("/v1/restaurants?limit=1").is(t, http.StatusOK).into(t, &rows)
	if rows[0].Name != odd || *rows[0].Address != "Rua\ufffd" {
		t.Errorf("odd characters: got %+v", rows[0])
	}
	w.get("/v1/restaurants?limit=none").refused(t, http.StatusBadRequest, "invalid_parameter")
	w.get("/v1/restaurants?cursor=%20").refused(t, http.StatusBadRequest, "invalid_parameter")
	w.get("/v1/restaurants?q="+strings.Repeat("a", 201)).refused(t, http.StatusBadRequest, "invalid_parameter")
}

func TestUnknownRestaurantListsThoseThatExist(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, path := range []string{"/menu", "/products", "/products/p1"} {
		got := w.get("/v1/restaurants/c"+path).refused(t, http.StatusNotFound, "restaurant_not_found")
		if known := got.Errors[0].Params["known"]; !cmp.Equal(known, []any{empty, north}) || got.Errors[0].Params["total"] != 3.0 {
			t.Errorf("%s: known %v", path, known)
		}
		if strings.Contains(got.Msg, bistro) || got.Instance != "/v1/restaurants/c"+path {
			t.Errorf("%s: msg %q, instance %q", path, got.Msg, got.Instance)
		}
	}
	// A default menu is not a restaurant of the v1 API.
	w.get("/v1/restaurants/@main/menu").refused(t, http.StatusNotFound, "restaurant_not_found")
}

func TestNoCatalogueYet(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, path := range []string{"/menu", "/products", "/products/p1"} {
		got := w.get("/v1/restaurants/" + empty + path)
		got.refused(t, http.StatusServiceUnavailable, "no_catalogue")
		if got.header.Get("Retry-After") != "5" {
			t.Errorf("%s: Retry-After %q", path, got.header.Get("Retry-After"))
		}
	}
}

func TestClosedMenusArePrivate(t *testing.T) { // policy H5
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.auth.OpenMenu = new(bool) })
	for _, path := range []string{"/v1/restaurants", menuPath, "/v1/restaurants/bistro/products", "/v1/rejection-reasons"} {
		got := w.get(path)
		got.refused(t, http.StatusUnauthorized, "unauthorized")
		if !strings.HasPrefix(got.header.Get("Www-Authenticate"), "Bearer ") {
			t.Errorf("%s: WWW-Authenticate %q", path, got.header.Get("Www-Authenticate"))
		}
	}
	got := w.get(menuPath, w.as(clientRead)...).is(t, http.StatusOK)
	if got.header.Get("Cache-Control") != "private, no-cache" || strings.Join(got.header.Values("Vary"), ", ") != "Accept-Encoding, Authorization" {
		t.Errorf("Cache-Control %q, Vary %q", got.header.Get("Cache-Control"), got.header.Values("Vary"))
	}
	w.post("/v1/restaurants/bistro/orders/validate", "{}").refused(t, http.StatusUnauthorized, "unauthorized")
}

func TestCacheControlIsASetting(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.MaxAge, p.cfg.StaleIfError = 90*time.Second, 0 })
	if got := w.get(menuPath).header.Get("Cache-Control"); got != "public, max-age=90, stale-while-revalidate=30" {
		t.Errorf("Cache-Control %q", got)
	}
	// A request with a token gets a private response, even if menus are open.
	if got := w.get(menuPath, w.as(clientRead)...); got.header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("with a token: Cache-Control %q", got.header.Get("Cache-Control"))
	}
}
