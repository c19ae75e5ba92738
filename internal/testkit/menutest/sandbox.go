package menutest

import (
	"net/http/httptest"
	"testing"

	"larder.local/internal/sandbox"
	"larder.local/internal/upstream"
)

// Sandbox starts a sandbox at Noon, with a client.
func Sandbox(tb testing.TB) (*sandbox.Sandbox, *upstream.Client) {
	tb.Helper()
	box := sandbox.New(sandbox.Config{ClientID: "demo", ClientSecret: "demo-secret", Clock: Noon})
	server := httptest.NewServer(box.Handler())
	tb.Cleanup(func() {
		server.Close()
		box.Close()
	})
	return box, connect(tb, server.URL)
}

// connect returns the real client of the service at url.
func connect(tb testing.TB, url string) *upstream.Client {
	tb.Helper()
	cfg := upstream.Config{
		Name:         "main",
		BaseURL:      url,
		AuthURL:      url,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
	}
	cfg.SetDefaults()
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.Close)
	return client
}
