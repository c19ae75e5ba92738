package web_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"testing"

	"larder.local/httpapi/web"
)

// mostBytes is the maximum size of the components in gzip.
const mostBytes = 25 << 10

func TestComponentsAreLight(t *testing.T) {
	t.Parallel()
	assets := web.NewAssets()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/web/larder.js", http.NoBody)
	request.Header.Set("Accept-Encoding", "gzip")
	recorder := httptest.NewRecorder()
	if !assets.Serve(recorder, request, "larder.js") {
		t.Fatal("there is no larder.js")
	}
	if _, err := gzip.NewReader(bytes.NewReader(recorder.Body.Bytes())); err != nil {
		t.Fatal(err)
	}
	if got := recorder.Body.Len(); got > mostBytes || got == 0 {
		t.Errorf("larder.js has %d bytes in gzip, at most %d are allowed", got, mostBytes)
	} else {
		t.Logf("larder.js: %d bytes in gzip", got)
	}
}
