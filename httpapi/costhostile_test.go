package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// hostileRequests lists requests of every route of the router, without a token: with 3,500 ranges, with a long
// Accept-Encoding, with 100 cookies, and with ids that do not exist. A new route has them without a change here.
func hostileRequests(t *testing.T, w *costFixture) costs {
	t.Helper()
	var cookies []string
	for i := range 100 {
		cookies = append(cookies, fmt.Sprintf("larder_ops=%d.%s", i, strings.Repeat("x", 40)))
	}
	codings := strings.Repeat("gzip;q=0.1, zz, ", 640) // 10 KB
	headers := [][]string{
		{"Range", "bytes=" + strings.TrimSuffix(strings.Repeat("0-0,", 3500), ",")},
		{"Accept-Encoding", codings},
		{"Cookie", strings.Join(cookies, "; ")},
	}
	all, routes := costs{}, 0
	for _, route := range w.Server.Routes() {
		operation := route.Method + " " + route.Path + " (any)"
		if all[operation] != nil {
			continue // a route of both listeners
		}
		routes++
		paths := []string{pathOf(route.Path, apitest.Bistro, "p1"), pathOf(route.Path, "none", "none")}
		if route.Path == "/" || strings.HasSuffix(route.Path, "/events") || strings.HasSuffix(route.Path, "/view") {
			paths = append(paths, route.Path+"?restaurant=none&restaurantId=none")
		}
		for _, path := range paths {
			for _, header := range headers {
				if route.Method == http.MethodPost || route.Method == http.MethodPut {
					header = append([]string{"Content-Type", "application/json"}, header...)
				}
				all[operation] = append(all[operation], costly{path: path, header: header})
			}
		}
	}
	if routes < 60 || len(codings) < 10<<10 {
		t.Fatalf("%d routes, codings of %d bytes", routes, len(codings))
	}
	return all
}

// pathOf fills the parameters of a route.
func pathOf(route, restaurant, other string) string {
	segments := strings.Split(route, "/")
	for i, segment := range segments {
		switch {
		case segment == ":restaurant":
			segments[i] = restaurant
		case segment == ":file" && route == "/web/:file" && other != "none":
			segments[i] = "larder.js"
		case segment == ":file" && route == "/docs/:file" && other != "none":
			segments[i] = "swagger-ui.css"
		case strings.HasPrefix(segment, ":"), strings.HasPrefix(segment, "*"):
			segments[i] = other
		}
	}
	return strings.Join(segments, "/")
}
