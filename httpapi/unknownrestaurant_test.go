package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"larder.local/httpapi"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
	menusync "larder.local/sync"
)

// The response to an unknown restaurant has at most 2 KB, and with 10,000 restaurants it needs no more memory than with
// three: nothing is done for each restaurant (policy H7).
func TestUnknownRestaurantsAreCheap_H7(t *testing.T) { //nolint:paralleltest // it measures the process
	few, many := newWithRestaurants(t, 0, ""), newWithRestaurants(t, 10_000, "")
	jsonBody := []string{"Content-Type", "application/json"}
	order := `{"expeditionType":"pickup","dishList":[{"ID":"p1","quantity":1}]}`
	for _, one := range []struct {
		method, path, body string
		client             string
		header             []string
		status             int
	}{
		{method: http.MethodGet, path: "/v1/restaurants/%s", status: 404},
		{method: http.MethodGet, path: "/v1/restaurants/%s/menu", status: 404},
		{method: http.MethodGet, path: "/v1/restaurants/%s/products", status: 404},
		{method: http.MethodGet, path: "/v1/restaurants/%s/products/p1", status: 404},
		{method: http.MethodGet, path: "/v1/restaurants/%s/changes?since=1", status: 404},
		{method: http.MethodGet, path: "/v1/events?restaurant=%s", status: 404},
		{method: http.MethodGet, path: "/v1/events", status: 400},
		{method: http.MethodGet, path: "/?restaurant=%s", status: 404},
		{method: http.MethodPost, path: "/v1/restaurants/%s/orders/validate", body: order, header: jsonBody, status: 404},
		{method: http.MethodPost, path: "/v1/restaurants/%s/orders", body: order, header: append([]string{"Idempotency-Key", "0123456789abcdefghijkl"}, jsonBody...), client: apitest.ClientOps, status: 404},
		{method: http.MethodGet, path: "/v1/ops/restaurants/%s", client: apitest.ClientOps, status: 404},
		{method: http.MethodGet, path: apitest.ViewPath + "?restaurantId=%s", client: apitest.ClientShop, status: 404},
		{method: http.MethodPost, path: apitest.CreatePath, body: strings.Replace(order, "{", `{"restaurantID":"b","guest":{"phone":"+12345678"},`, 1), header: jsonBody, client: apitest.ClientShop, status: 404},
	} {
		for _, id := range []string{"b", "branch-05000x", "zz"} {
			path := one.path
			if strings.Contains(path, "%s") {
				path = fmt.Sprintf(path, id)
			}
			var used [2]uint64
			for i, w := range []*apitest.Fixture{few, many} {
				header := one.header
				if one.client != "" {
					header = append(w.As(one.client), header...)
				}
				got := w.Do(one.method, path, one.body, header...)
				if len(got.Body) > 2<<10 || got.Status != one.status {
					t.Errorf("%s %s: status %d, %d bytes: %.300s", one.method, path, got.Status, len(got.Body), got.Body)
				}
				used[i] = bytesFor(w, one.method, path, one.body, header)
			}
			if t.Logf("%s %s: %d bytes allocated with 3 restaurants, %d with 10,000", one.method, path, used[0], used[1]); used[1] > used[0]+2<<10 {
				t.Errorf("%s %s: %d bytes allocated with 10,000 restaurants, %d with three", one.method, path, used[1], used[0])
			}
		}
	}
	got := many.Get("/v1/restaurants/branch-05000x/menu").Refused(t, http.StatusNotFound, "restaurant_not_found")
	want := "map[known:[branch-05001 branch-05002 branch-05003 branch-05004 branch-05005] total:10003]"
	if params := fmt.Sprint(got.Errors[0].Params); params != want && params != strings.Replace(want, "10003", "10003.0", 1) {
		t.Errorf("params %s, want %s", params, want)
	}
}

// Long ids in the path, the longest request id and five of the longest ids of restaurants still make at most 2 KB (policy H7).
func TestLongUnknownRestaurants_H7(t *testing.T) {
	t.Parallel()
	w := newWithRestaurants(t, 5, strings.Repeat("x", 52))
	for _, id := range []string{"a", "&", "%3C", "%D0%B9", "a%20", "aa%20"} {
		for _, path := range []string{"/v1/restaurants/%s", "/v1/restaurants/%s/menu", "/v1/restaurants/%s/products/p1", "/v1/restaurants/" + apitest.Bistro + "/products/%s", "/%s"} {
			path = fmt.Sprintf(path, strings.Repeat(id, (6<<10)/len(id)))
			got := w.Get(path, "X-Request-ID", strings.Repeat("&", 128))
			var problem struct{ Instance string }
			if err := json.Unmarshal(got.Body, &problem); err != nil || got.Status != http.StatusNotFound || len(got.Body) > 2<<10 {
				t.Errorf("%.80s: status %d, %d bytes, %v", path, got.Status, len(got.Body), err)
			}
			if _, err := url.PathUnescape(problem.Instance); err != nil || id != "&" && len(problem.Instance) < 150 || problem.Instance == "" || !strings.HasPrefix(path, problem.Instance) {
				t.Errorf("%.80s: the instance is %q (%v)", path, problem.Instance, err)
			}
		}
	}
}

func newWithRestaurants(t *testing.T, branches int, suffix string) *apitest.Fixture {
	t.Helper()
	return newFixture(t, func(p *apitest.Plan) {
		p.HTTP.Page.Enabled = true
		p.HTTP.Rate = httpapi.RateConfig{}
		p.Sync = func(deps *menusync.Deps) {
			for i := range branches {
				one := deps.Restaurants[1]
				one.ID, one.Name = menu.RestaurantID(fmt.Sprintf("branch-%05d%s", i, suffix)), fmt.Sprintf("Branch %d of a chain", i)
				deps.Restaurants = append(deps.Restaurants, one)
			}
		}
	})
}

// bytesFor returns the bytes that a repeated request allocates: the minimum of several, because other goroutines only add to it.
func bytesFor(w *apitest.Fixture, method, path, body string, header []string) uint64 {
	least := ^uint64(0)
	for range 10 {
		least = min(least, bytesOf(w, method, path, body, header))
	}
	return least
}

// bytesOf returns the bytes that a request allocates.
func bytesOf(w *apitest.Fixture, method, path, body string, header []string) uint64 {
	request := httptest.NewRequestWithContext(w.T.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.Server.Handler().ServeHTTP(answer, request)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
