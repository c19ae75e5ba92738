package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"larder.local/internal/sandbox"
)

// A sandbox behind a test server, and a token request.
func Example() {
	box := sandbox.New(sandbox.Config{})
	box.SetMenu(sandbox.BistroID, sandbox.Bistro(sandbox.BistroID, ""))
	server := httptest.NewServer(box.Handler())
	defer server.Close()

	resp, err := server.Client().PostForm(server.URL+"/connect/token", url.Values{ //nolint:noctx // an example has no context
		"client_ID":     {"demo"},
		"client_secret": {"demo-secret"},
		"grant_type":    {"client_credentials"},
		"scopes":        {"orders"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Println(resp.StatusCode == http.StatusOK, resp.Header.Get("Cache-Control"))
	// Output: true no-store
}
