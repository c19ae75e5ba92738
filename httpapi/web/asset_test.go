package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

func served(t *testing.T, asset *Asset, query string, headers map[string]string) (answer *httptest.ResponseRecorder, body []byte) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/web/shop.js"+query, http.NoBody)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer = httptest.NewRecorder()
	asset.ServeHTTP(answer, request)
	return answer, answer.Body.Bytes()
}

func TestAssetInEveryCoding(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("export const price = 640;\n", 50)
	asset := newAsset("shop.js", []byte(text))
	for _, test := range []struct{ accepts, coding string }{
		{"", ""},
		{"gzip, deflate, br, zstd", "br"},
		{"gzip;q=0.5", "gzip"},
		{"br;q=0, GZIP", "gzip"},
		{"br;q=0.0", ""},
		{"identity", ""},
	} {
		answer, body := served(t, asset, "", map[string]string{"Accept-Encoding": test.accepts})
		if got := answer.Header().Get("Content-Encoding"); got != test.coding {
			t.Errorf("Accept-Encoding %q: coding %q, want %q", test.accepts, got, test.coding)
		}
		if got := answer.Header().Get("Content-Length"); got != strconv.Itoa(len(body)) {
			t.Errorf("Accept-Encoding %q: Content-Length %q of %d bytes", test.accepts, got, len(body))
		}
		var reader io.Reader = strings.NewReader(string(body))
		switch test.coding {
		case "br":
			reader = brotli.NewReader(reader)
		case "gzip":
			unzipped, err := gzip.NewReader(reader)
			if err != nil {
				t.Fatal(err)
			}
			reader = unzipped
		}
		if got, err := io.ReadAll(reader); err != nil || string(got) != text {
			t.Errorf("Accept-Encoding %q: %d bytes (%v), want %d", test.accepts, len(got), err, len(text))
		}
		for name, want := range map[string]string{
			"Content-Type": "text/javascript; charset=utf-8", "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding",
			"Cache-Control": "public, max-age=300, stale-while-revalidate=86400", "ETag": `W/"` + asset.Version() + `"`,
		} {
			if got := answer.Header().Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}

func TestAssetIsKept(t *testing.T) {
	t.Parallel()
	asset := newAsset("shop.js", []byte("1"))
	if answer, _ := served(t, asset, "?v="+asset.Version(), nil); answer.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("by its version: %q", answer.Header().Get("Cache-Control"))
	}
	if answer, _ := served(t, asset, "?v=older", nil); answer.Header().Get("Cache-Control") == "public, max-age=31536000, immutable" {
		t.Error("another version's address is kept for ever")
	}
	answer, body := served(t, asset, "", map[string]string{"If-None-Match": `W/"` + asset.Version() + `"`, "Accept-Encoding": "br"})
	if answer.Code != http.StatusNotModified || len(body) > 0 {
		t.Errorf("If-None-Match: status %d with %d bytes", answer.Code, len(body))
	}
	if answer, _ := served(t, newAsset("page.html", []byte("<p>")), "", nil); answer.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("a page: %q", answer.Header().Get("Cache-Control"))
	}
}

func TestPagesNameTheVersionsOfTheirAssets(t *testing.T) {
	t.Parallel()
	assets := NewAssets()
	page, err := assets.Page("page.html")
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	if !assets.Serve(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/web/larder.js", http.NoBody), "larder.js") {
		t.Fatal("there is no larder.js")
	}
	version := strings.Trim(recorder.Header().Get("ETag"), `W/"`)
	if want := `"/web/larder.js?v=` + version + `"`; !strings.Contains(string(page.Body()), want) {
		t.Errorf("page.html has no %s", want)
	}
	module := recorder.Body.String()
	texts, err := assets.Page("texts.ru.json")
	if want := `"./texts.ru.json?v=` + texts.Version() + `"`; err != nil || !strings.Contains(module, want) {
		t.Errorf("larder.js has no %s, %v", want, err)
	}
	for name, want := range map[string]string{"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"} {
		if got := recorder.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"page.html", "none.js", "../doc.go", ""} {
		recorder := httptest.NewRecorder()
		if assets.Serve(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/web/x", http.NoBody), name) || recorder.Body.Len() > 0 {
			t.Errorf("%q is served as an asset", name)
		}
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	SetPolicy(header, "https://img.example")
	policy := header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "img-src 'self' data: https://img.example", "trusted-types 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%q has no %s", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("%q allows too much", policy)
	}
}
