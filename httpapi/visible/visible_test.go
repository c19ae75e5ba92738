package visible_test

import (
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// Without a token, nothing that a stranger can read about restaurants names a connection (policy H7). A client with a
// token sees it.
func TestConnectionsAreNotNamedWithoutAToken_H7(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Page.Enabled = true })
	for _, path := range []string{"/v1/restaurants", "/v1/restaurants?q=north", "/v1/restaurants/" + apitest.Bistro, "/v1/restaurants/" + apitest.North} {
		text := string(w.Get(path).Is(t, http.StatusOK).Body)
		if !strings.Contains(text, `"connection":null`) || strings.Contains(text, `"connection":"`) {
			t.Errorf("%s names a connection or lacks the field: %s", path, text)
		}
		known := string(w.Get(path, w.As(apitest.ClientOps)...).Is(t, http.StatusOK).Body)
		if strings.Contains(known, `"connection":null`) || !strings.Contains(known, `"connection":"`) {
			t.Errorf("%s with a token: %s", path, known)
		}
	}
	for _, query := range []string{"", "?connection=unknown"} {
		path := "/v1/rejection-reasons" + query
		got := w.Get(path)
		if text := string(got.Body); got.Status != http.StatusBadRequest && got.Status != http.StatusNotFound || strings.Contains(text, "main") {
			t.Errorf("%s: %d %s, want an error that names no connection", path, got.Status, text)
		}
		if text := string(w.Get(path, w.As(apitest.ClientOps)...).Body); !strings.Contains(text, "main") {
			t.Errorf("%s with a token: %s, want the names", path, text)
		}
	}
	for _, path := range []string{apitest.MenuPath, "/?restaurant=" + apitest.Bistro, "/v1/restaurants/" + apitest.Bistro + "/products"} {
		if text := string(w.Get(path).Is(t, http.StatusOK).Body); strings.Contains(text, `"connection"`) {
			t.Errorf("%s names a connection", path)
		}
	}
}
