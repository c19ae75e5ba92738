package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// The console's files are public, work only at their own address, and are revalidated each time.
func TestConsolePage(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for path, media := range map[string]string{
		"/ops": "text/html; charset=utf-8", "/ops/ops.js": "text/javascript; charset=utf-8", "/ops/ops.css": "text/css; charset=utf-8",
	} {
		got := w.get(path).is(t, http.StatusOK)
		if got.header.Get("Content-Type") != media || got.header.Get("Cache-Control") != "no-cache" || got.header.Get("ETag") == "" || len(got.body) == 0 {
			t.Errorf("%s: %d bytes, %v", path, len(got.body), got.header)
		}
		policy := got.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", path, policy)
		}
		w.get(path, "If-None-Match", got.header.Get("ETag")).is(t, http.StatusNotModified)
		if packed := w.get(path, "Accept-Encoding", "br").is(t, http.StatusOK); packed.header.Get("Content-Encoding") != "br" {
			t.Errorf("%s is not packed: %v", path, packed.header)
		}
		w.do(http.MethodHead, path, "").is(t, http.StatusOK)
		w.do(http.MethodPost, path, "").refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
	}
	if got := w.get("/ops/").is(t, http.StatusPermanentRedirect); got.header.Get("Location") != "/ops" {
		t.Errorf("/ops/ leads to %q", got.header.Get("Location"))
	}
	w.get("/ops/nothing.js").refused(t, http.StatusNotFound, "not_found")
}

// http.ops_listen moves the console (policy H6).
func TestConsoleMovesWithOps(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *plan) { p.cfg.OpsListen = "127.0.0.1:0" })
	ops := serve(t, w.server.OpsHandler())
	for _, path := range []string{"/ops", "/ops/ops.js", "/ops/ops.css"} {
		do(t, http.MethodGet, ops+path, "").is(t, http.StatusOK)
		w.get(path).refused(t, http.StatusNotFound, "not_found")
	}
}
