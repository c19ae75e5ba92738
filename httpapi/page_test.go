package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// The console's files are public, work only at their own address, and are revalidated each time.
func TestConsolePage(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for path, media := range map[string]string{
		"/ops": "text/html; charset=utf-8", "/ops/ops.js": "text/javascript; charset=utf-8", "/ops/ops.css": "text/css; charset=utf-8",
	} {
		got := w.Get(path).Is(t, http.StatusOK)
		if got.Header.Get("Content-Type") != media || got.Header.Get("Cache-Control") != "no-cache" || got.Header.Get("ETag") == "" || len(got.Body) == 0 {
			t.Errorf("%s: %d bytes, %v", path, len(got.Body), got.Header)
		}
		policy := got.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", path, policy)
		}
		w.Get(path, "If-None-Match", got.Header.Get("ETag")).Is(t, http.StatusNotModified)
		if packed := w.Get(path, "Accept-Encoding", "br").Is(t, http.StatusOK); packed.Header.Get("Content-Encoding") != "br" {
			t.Errorf("%s is not packed: %v", path, packed.Header)
		}
		w.Do(http.MethodHead, path, "").Is(t, http.StatusOK)
		w.Do(http.MethodPost, path, "").Refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
	}
	if got := w.Get("/ops/").Is(t, http.StatusPermanentRedirect); got.Header.Get("Location") != "/ops" {
		t.Errorf("/ops/ leads to %q", got.Header.Get("Location"))
	}
	w.Get("/ops/nothing.js").Refused(t, http.StatusNotFound, "not_found")
}

// http.ops_listen moves the console (policy H6).
func TestConsoleMovesWithOps(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.OpsListen = "127.0.0.1:0" })
	ops := serve(t, w.Server.OpsHandler())
	for _, path := range []string{"/ops", "/ops/ops.js", "/ops/ops.css"} {
		apitest.Do(t, http.MethodGet, ops+path, "").Is(t, http.StatusOK)
		w.Get(path).Refused(t, http.StatusNotFound, "not_found")
	}
}
