package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// Without a token, nothing that a stranger can read about restaurants names a connection (policy H7). A client with a
// token sees it.
func TestConnectionsAreNotNamedWithoutAToken_H7(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.Page.Enabled = true })
	for _, path := range []string{"/v1/restaurants", "/v1/restaurants?q=north", "/v1/restaurants/" + bistro, "/v1/restaurants/" + north} {
		text := string(w.get(path).is(t, http.StatusOK).body)
		if !strings.Contains(text, `"connection":null`) || strings.Contains(text, `"connection":"`) {
			t.Errorf("%s names a connection or lacks the field: %s", path, text)
		}
		known := string(w.get(path, w.as(clientOps)...).is(t, http.StatusOK).body)
		if strings.Contains(known, `"connection":null`) || !strings.Contains(known, `"connection":"`) {
			t.Errorf("%s with a token: %s", path, known)
		}
	}
	for _, query := range []string{"", "?connection=unknown"} {
		path := "/v1/rejection-reasons" + query
		got := w.get(path)
		if text := string(got.body); got.status != http.StatusBadRequest && got.status != http.StatusNotFound || strings.Contains(text, "main") {
			t.Errorf("%s: %d %s, want an error that names no connection", path, got.status, text)
		}
		if text := string(w.get(path, w.as(clientOps)...).body); !strings.Contains(text, "main") {
			t.Errorf("%s with a token: %s, want the names", path, text)
		}
	}
	for _, path := range []string{menuPath, "/?restaurant=" + bistro, "/v1/restaurants/" + bistro + "/products"} {
		if text := string(w.get(path).is(t, http.StatusOK).body); strings.Contains(text, `"connection"`) {
			t.Errorf("%s names a connection", path)
		}
	}
}
