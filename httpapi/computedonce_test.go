package httpapi_test

import (
	"net/http"
	"runtime"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// Policy H7: the response to an anonymous request is computed once. A repeated request for a page
// or document neither compresses nor decompresses; the test measures its memory.
func TestPagesAndDocumentsAreComputedOnce(t *testing.T) { //nolint:paralleltest // it counts allocations
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.Page.Enabled = true })
	const (
		bundle   = "/docs/swagger-ui-bundle.js"
		requests = 20
		most     = 64 << 10 // bytes per request; compressing a page took 7 MB, decompressing the bundle 2 MB
	)
	for _, test := range []struct {
		method, path string
		headers      []string
	}{
		{http.MethodGet, "/", []string{"Accept-Encoding", "br"}},
		{http.MethodGet, "/?lang=ru", []string{"Accept-Encoding", "gzip"}},
		{http.MethodHead, "/", []string{"Accept-Encoding", "br"}},
		{http.MethodGet, "/", []string{"Accept-Encoding", "br", "If-None-Match", "*"}},
		{http.MethodGet, "/?restaurant=none", []string{"Accept-Encoding", "br", "Accept", "text/html"}},
		{http.MethodGet, "/web/larder.js", []string{"Accept-Encoding", "br"}},
		{http.MethodGet, "/ops", []string{"Accept-Encoding", "br"}},
		{http.MethodGet, bundle, []string{"Accept-Encoding", "identity"}},
		{http.MethodHead, bundle, []string{"Accept-Encoding", "identity"}},
		{http.MethodGet, bundle, []string{"Accept-Encoding", "identity", "If-None-Match", "*"}},
		{http.MethodGet, bundle, []string{"Accept-Encoding", "gzip"}},
		{http.MethodGet, "/openapi.json", nil},
	} {
		serveOnce := func() int {
			request, err := http.NewRequestWithContext(t.Context(), test.method, test.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(test.headers); i += 2 {
				request.Header.Set(test.headers[i], test.headers[i+1])
			}
			out := &discarded{header: http.Header{}}
			w.Server.Handler().ServeHTTP(out, request)
			return out.status
		}
		if status := serveOnce(); status == 0 || status >= http.StatusInternalServerError {
			t.Fatalf("%s %s: status %d", test.method, test.path, status)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range requests {
			serveOnce()
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) / requests; got > most {
			t.Errorf("%s %s %q allocates %d bytes a request, at most %d are expected", test.method, test.path, test.headers, got, most)
		}
	}
}

// discarded is an http.ResponseWriter that keeps only the status.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(b []byte) (int, error) { d.WriteHeader(http.StatusOK); return len(b), nil }

func (d *discarded) WriteHeader(status int) {
	if d.status == 0 {
		d.status = status
	}
}
