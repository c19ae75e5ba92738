package httpapi_test

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

// Pages, assets, documents and menus are sent whole, whatever the ranges are (policy H7).
func TestRangesAreIgnored_H7(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.Page.Enabled = true })
	paths := []string{
		"/", "/?restaurant=" + apitest.Bistro, "/web/checkout.js", "/favicon.ico", "/robots.txt", "/openapi.json", "/openapi.yaml", "/docs/swagger-ui-bundle.js",
		apitest.MenuPath, "/v1/restaurants", "/v1/restaurants/" + apitest.Bistro, "/v1/restaurants/" + apitest.Bistro + "/products", "/v1/restaurants/" + apitest.Bistro + "/products/p1",
		"/ops", "/ops/ops.js", "/metrics", "/readyz", "/livez", "/docs",
	}
	files, err := os.ReadDir("web/dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if path := "/web/" + file.Name(); w.Get(path).Status != http.StatusNotFound { // others have another address or none
			paths = append(paths, path)
		}
	}
	if len(paths) < 25 {
		t.Fatalf("only %d paths: %v", len(paths), paths)
	}
	for _, path := range paths {
		whole := w.Get(path)
		if whole.Status != http.StatusOK {
			t.Errorf("%s: status %d", path, whole.Status)
		}
		etag := whole.Header.Get("ETag")
		for name, headers := range map[string][]string{
			"one":               {"Range", "bytes=0-0"},
			"3,500":             {"Range", "bytes=" + strings.TrimSuffix(strings.Repeat("0-0,", 3500), ",")},
			"the end":           {"Range", "bytes=-1"},
			"beyond the end":    {"Range", "bytes=999999999-"},
			"invalid":           {"Range", "bytes=5-1"},
			"another unit":      {"Range", "lines=1-2"},
			"two fields":        {"Range", "bytes=0-0", "Range", "bytes=1-1"},
			"If-Range, current": {"Range", "bytes=0-0", "If-Range", etag},
			"If-Range, another": {"Range", "bytes=0-0", "If-Range", `"other"`},
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				got := w.Do(method, path, "", headers...)
				if got.Status != http.StatusOK || got.Header.Get("Accept-Ranges") != "" || got.Header.Get("Content-Range") != "" {
					t.Errorf("%s %s, %s: status %d, Accept-Ranges %q, Content-Range %q", method, path, name, got.Status,
						got.Header.Get("Accept-Ranges"), got.Header.Get("Content-Range"))
				}
				changes := path == "/metrics" || path == "/readyz"
				if method == http.MethodGet && !changes && !bytes.Equal(got.Body, whole.Body) {
					t.Errorf("%s, %s: %d of %d bytes", path, name, len(got.Body), len(whole.Body))
				}
			}
		}
		if headers := whole.Header; headers.Get("Accept-Ranges") != "" {
			t.Errorf("%s: Accept-Ranges %q", path, headers.Get("Accept-Ranges"))
		}
	}
}
