package menus_test

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

	"larder.local/internal/testkit/apitest"
)

func TestMenuRead(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	got := w.Get(apitest.MenuPath).Is(t, http.StatusOK)
	if !json.Valid(got.Body) {
		t.Fatalf("not JSON: %s", got.Body)
	}
	var menu struct {
		Restaurant struct{ ID, Name string }
		Version    int
		Products   []struct{ ID string }
	}
	got.Into(t, &menu)
	if menu.Restaurant.ID != apitest.Bistro || menu.Restaurant.Name != "The bistro" || menu.Version != 1 || len(menu.Products) != 5 {
		t.Errorf("got %+v", menu)
	}
	if !bytes.Contains(got.Body, []byte(`"price":199.9`)) {
		t.Errorf("the price is not exact: %s", got.Body)
	}
	header := map[string]string{
		"Content-Type":        "application/json; charset=utf-8",
		"Content-Length":      strconv.Itoa(len(got.Body)),
		"Cache-Control":       "public, max-age=0, stale-while-revalidate=30, stale-if-error=86400",
		"Vary":                "Accept-Encoding",
		"Larder-Menu-Version": "1",
		"Content-Encoding":    "",
	}
	for name, want := range header {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: got %q, want %q", name, value, want)
		}
	}
	if etag := got.Header.Get("Etag"); !regexp.MustCompile(`^W/"1-[0-9a-f]{8}"$`).MatchString(etag) {
		t.Errorf("ETag %q", etag)
	}
	if _, err := http.ParseTime(got.Header.Get("Last-Modified")); err != nil {
		t.Errorf("Last-Modified: %v", err)
	}
	if id := got.Header.Get("X-Request-Id"); len(id) != 26 {
		t.Errorf("X-Request-Id %q", id)
	}
}

func TestReadsAreNegotiated(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	// Among encodings with equal weight, larder uses its own order.
	for path, preferred := range map[string]string{apitest.MenuPath: "br", "/v1/restaurants/bistro/products/p1": "gzip"} {
		plain := w.Get(path).Is(t, http.StatusOK)
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
			got := w.Get(path, "Accept-Encoding", accept).Is(t, http.StatusOK)
			if got.Header.Get("Content-Encoding") != coding {
				t.Errorf("%s with %q: Content-Encoding %q, want %q", path, accept, got.Header.Get("Content-Encoding"), coding)
			}
			if body := unpack(t, got); !bytes.Equal(body, plain.Body) {
				t.Errorf("%s with %q: another body than without", path, accept)
			}
			if got.Header.Get("Etag") != plain.Header.Get("Etag") || got.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s with %q: ETag %q, Vary %q", path, accept, got.Header.Get("Etag"), got.Header.Get("Vary"))
			}
		}
		w.Get(path, "Accept-Encoding", "identity;q=0").Refused(t, http.StatusNotAcceptable, "not_acceptable")
	}
	// Several header lines form one list (RFC 9110, section 5.3).
	got := w.Get(apitest.MenuPath, "Accept-Encoding", "gzip;q=0.5", "Accept-Encoding", "zstd").Is(t, http.StatusOK)
	if coding := got.Header.Get("Content-Encoding"); coding != "zstd" {
		t.Errorf("two lines: Content-Encoding %q, want zstd", coding)
	}
	for _, path := range []string{"/v1/restaurants", "/v1/restaurants/bistro/products"} {
		w.Get(path, "Accept-Encoding", "gzip").Is(t, http.StatusOK)
		w.Get(path, "Accept-Encoding", "*;q=0").Refused(t, http.StatusNotAcceptable, "not_acceptable")
	}
}

func unpack(t *testing.T, r apitest.Reply) []byte {
	t.Helper()
	body, err := new(apitest.Unpacker).Unpack(r.Body, r.Header.Get("Content-Encoding"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestConditionalReads(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	for _, path := range []string{apitest.MenuPath, "/v1/restaurants/bistro/products/p1", "/v1/restaurants/bistro/products", "/v1/restaurants"} {
		first := w.Get(path, "Accept-Encoding", "gzip").Is(t, http.StatusOK)
		etag := first.Header.Get("Etag")
		for name, condition := range map[string][]string{
			"the tag": {"If-None-Match", etag}, "a list": {"If-None-Match", `"x", ` + etag}, "any": {"If-None-Match", "*"},
			"strong": {"If-None-Match", strings.TrimPrefix(etag, "W/")},
		} {
			got := w.Get(path, append(condition, "Accept-Encoding", "gzip")...)
			if got.Status != http.StatusNotModified || len(got.Body) != 0 {
				t.Errorf("%s, %s: got %d with %d bytes, want 304 with none", path, name, got.Status, len(got.Body))
			}
			for _, header := range []string{"Etag", "Vary", "Cache-Control", "Last-Modified", "Larder-Menu-Version"} {
				if got.Header.Get(header) != first.Header.Get(header) {
					t.Errorf("%s, %s: %s is %q in the 304, %q in the 200", path, name, header, got.Header.Get(header), first.Header.Get(header))
				}
			}
		}
		w.Get(path, "If-None-Match", `W/"0-00000000"`).Is(t, http.StatusOK)
		if since := first.Header.Get("Last-Modified"); since != "" {
			w.Get(path, "If-Modified-Since", since).Is(t, http.StatusNotModified)
			w.Get(path, "If-Modified-Since", time.Unix(0, 0).UTC().Format(http.TimeFormat)).Is(t, http.StatusOK)
		}
	}
	old := w.Get(apitest.MenuPath).Header
	before := old.Get("Etag")
	w.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, "199.90", "201", 1))
	w.SyncOnce(apitest.Bistro)
	w.Get(apitest.MenuPath, "If-Modified-Since", old.Get("Last-Modified")).Is(t, http.StatusOK) // mostly within the same second
	if after := w.Get(apitest.MenuPath, "If-None-Match", before).Is(t, http.StatusOK); after.Header.Get("Larder-Menu-Version") != "2" {
		t.Errorf("after a new version: Larder-Menu-Version %q", after.Header.Get("Larder-Menu-Version"))
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	runs := w.Get("/v1/ops/runs", ops...)
	var list []struct{ ID string }
	runs.Into(t, &list)
	for _, path := range []string{
		"/v1/restaurants", apitest.MenuPath, "/v1/restaurants/bistro/products", "/v1/restaurants/bistro/products/p1",
		"/v1/ops/runs", "/v1/ops/runs/" + list[0].ID, "/v1/ops/restaurants/bistro/lint", "/livez", "/readyz", "/metrics",
		"/v1/restaurants/nowhere/menu",
	} {
		get, head := w.Get(path, ops...), w.Do(http.MethodHead, path, "", ops...)
		if head.Status != get.Status || len(head.Body) != 0 {
			t.Errorf("HEAD %s: %d with %d bytes, want %d with none", path, head.Status, len(head.Body), get.Status)
		}
		if path == "/metrics" || strings.Contains(path, "nowhere") {
			continue // the bodies differ between requests
		}
		for _, name := range []string{"Content-Length", "Content-Type", "Etag", "Cache-Control"} {
			if get.Header.Get(name) != head.Header.Get(name) {
				t.Errorf("HEAD %s: %s %q, want %q", path, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
	}
}

func TestProduct(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
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
	w.Get("/v1/restaurants/bistro/products/p1").Is(t, http.StatusOK).Into(t, &product)
	if product.ID != "p1" || product.Version != 1 || product.Price != "199.9" || len(product.Groups) != 1 || len(product.Groups[0].Options) != 2 {
		t.Errorf("got %+v", product)
	}
	// An id with a slash, a space, a plus sign and a percent sign.
	w.Get("/v1/restaurants/bistro/products/p%2F2%20+%25").Is(t, http.StatusOK).Into(t, &product)
	if product.ID != "p/2 +%" {
		t.Errorf("escaped id: got %q", product.ID)
	}
	w.Get("/v1/restaurants/bistro/products/e2?by=externalId").Is(t, http.StatusOK).Into(t, &product)
	if product.ID != "p/2 +%" {
		t.Errorf("by externalId: got %q", product.ID)
	}
	w.Get("/v1/restaurants/bistro/products/nope").Refused(t, http.StatusNotFound, "product_not_found")
	w.Get("/v1/restaurants/bistro/products/e2").Refused(t, http.StatusNotFound, "product_not_found")
	w.Get("/v1/restaurants/bistro/products/p1?by=externalId").Refused(t, http.StatusNotFound, "product_not_found")
	w.Get("/v1/restaurants/bistro/products/p1?by=name").Refused(t, http.StatusBadRequest, "invalid_parameter")
	twins := w.Get("/v1/restaurants/bistro/products/twin?by=externalId").Refused(t, http.StatusConflict, "external_id_ambiguous")
	if got := twins.Errors[0].Params["ids"]; !cmp.Equal(got, []any{"p3", "p4"}) {
		t.Errorf("ids %v", got)
	}
}

func TestProductsList(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
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
		w.Get("/v1/restaurants/bistro/products"+query).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
}

func TestProductsPages(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
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
	w := apitest.New(t)
	_, next := productIDs(t, w, "?limit=2")
	w.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, `"products": [`, `"products": [{"id": "p0", "name": "New", "price": 1},`, 1))
	w.SyncOnce(apitest.Bistro)
	if got, _ := productIDs(t, w, "?cursor="+next); !cmp.Equal(got, []string{"p3", "p4", "p5"}) {
		t.Errorf("a dish was added before: got %v", got)
	}
	w.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, `{"id": "p/2 +%"`, `{"id": "p2"`, 1))
	w.SyncOnce(apitest.Bistro)
	if got, _ := productIDs(t, w, "?cursor="+next); !cmp.Equal(got, []string{"p2", "p3", "p4", "p5"}) {
		t.Errorf("the dish is gone: got %v", got)
	}
}

func productIDs(t *testing.T, w *apitest.Fixture, query string) (ids []string, next string) {
	t.Helper()
	got := w.Get("/v1/restaurants/bistro/products"+query).Is(t, http.StatusOK)
	var list struct {
		Result []struct{ ID string }
		Next   *string
	}
	if err := json.Unmarshal(got.Body, &list); err != nil {
		t.Fatalf("%v in %s", err, got.Body)
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
	w := apitest.New(t)
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
	w.Get("/v1/restaurants").Is(t, http.StatusOK).Into(t, &rows)
	if len(rows) != 3 || rows[0].ID != apitest.Bistro || rows[1].ID != apitest.Empty || rows[2].ID != apitest.North {
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
	w.Get("/v1/restaurants?q=the+NORTH").Is(t, http.StatusOK).Into(t, &rows)
	if len(rows) != 1 || rows[0].ID != apitest.North {
		t.Errorf("?q=: got %+v", rows)
	}
	var page struct{ Next *string }
	got := w.Get("/v1/restaurants?limit=2").Is(t, http.StatusOK)
	if err := json.Unmarshal(got.Body, &page); err != nil || page.Next == nil {
		t.Fatalf("first page of two: %v %s", err, got.Body)
	}
	w.Get("/v1/restaurants?limit=2&cursor="+*page.Next).Is(t, http.StatusOK).Into(t, &rows)
	if len(rows) != 1 || rows[0].ID != apitest.North {
		t.Errorf("second page: got %+v", rows)
	}
	const odd = "\"Bistro\" \\ <b>\n\x01\u2028"
	restaurants := slices.Clone(w.Directory.Restaurants())
	for i := range restaurants {
		restaurants[i].Name, restaurants[i].Address = odd, "Rua\xff"
	}
	w.Directory.Replace(restaurants)
	w.Get("/v1/restaurants?limit=1").Is(t, http.StatusOK).Into(t, &rows)
	if rows[0].Name != odd || *rows[0].Address != "Rua\ufffd" {
		t.Errorf("odd characters: got %+v", rows[0])
	}
	w.Get("/v1/restaurants?limit=none").Refused(t, http.StatusBadRequest, "invalid_parameter")
	w.Get("/v1/restaurants?cursor=%20").Refused(t, http.StatusBadRequest, "invalid_parameter")
	w.Get("/v1/restaurants?q="+strings.Repeat("a", 201)).Refused(t, http.StatusBadRequest, "invalid_parameter")
}

func TestUnknownRestaurantListsThoseThatExist(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	for _, path := range []string{"/menu", "/products", "/products/p1"} {
		got := w.Get("/v1/restaurants/c"+path).Refused(t, http.StatusNotFound, "restaurant_not_found")
		if known := got.Errors[0].Params["known"]; !cmp.Equal(known, []any{apitest.Empty, apitest.North}) || got.Errors[0].Params["total"] != 3.0 {
			t.Errorf("%s: known %v", path, known)
		}
		if strings.Contains(got.Msg, apitest.Bistro) || got.Instance != "/v1/restaurants/c"+path {
			t.Errorf("%s: msg %q, instance %q", path, got.Msg, got.Instance)
		}
	}
	// A default menu is not a restaurant of the v1 API.
	w.Get("/v1/restaurants/@main/menu").Refused(t, http.StatusNotFound, "restaurant_not_found")
}

func TestNoCatalogueYet(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	for _, path := range []string{"/menu", "/products", "/products/p1"} {
		got := w.Get("/v1/restaurants/" + apitest.Empty + path)
		got.Refused(t, http.StatusServiceUnavailable, "no_catalogue")
		if got.Header.Get("Retry-After") != "5" {
			t.Errorf("%s: Retry-After %q", path, got.Header.Get("Retry-After"))
		}
	}
}

func TestClosedMenusArePrivate(t *testing.T) { // policy H5
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.Auth.OpenMenu = new(bool) })
	for _, path := range []string{"/v1/restaurants", apitest.MenuPath, "/v1/restaurants/bistro/products", "/v1/rejection-reasons"} {
		got := w.Get(path)
		got.Refused(t, http.StatusUnauthorized, "unauthorized")
		if !strings.HasPrefix(got.Header.Get("Www-Authenticate"), "Bearer ") {
			t.Errorf("%s: WWW-Authenticate %q", path, got.Header.Get("Www-Authenticate"))
		}
	}
	got := w.Get(apitest.MenuPath, w.As(apitest.ClientRead)...).Is(t, http.StatusOK)
	if got.Header.Get("Cache-Control") != "private, no-cache" || strings.Join(got.Header.Values("Vary"), ", ") != "Accept-Encoding, Authorization" {
		t.Errorf("Cache-Control %q, Vary %q", got.Header.Get("Cache-Control"), got.Header.Values("Vary"))
	}
	w.Post("/v1/restaurants/bistro/orders/validate", "{}").Refused(t, http.StatusUnauthorized, "unauthorized")
}

func TestCacheControlIsASetting(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.MaxAge, p.HTTP.StaleIfError = 90*time.Second, 0 })
	if got := w.Get(apitest.MenuPath).Header.Get("Cache-Control"); got != "public, max-age=90, stale-while-revalidate=30" {
		t.Errorf("Cache-Control %q", got)
	}
	// A request with a token gets a private response, even if menus are open.
	if got := w.Get(apitest.MenuPath, w.As(apitest.ClientRead)...); got.Header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("with a token: Cache-Control %q", got.Header.Get("Cache-Control"))
	}
}
