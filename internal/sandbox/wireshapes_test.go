package sandbox_test

import (
	"net/http/httptest"
	"testing"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/wireshapes"
)

// A tolerant sandbox accepts what public clients send.
func TestWireShapes(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{sandbox.OrderIDsString, sandbox.OrderIDsNumber} {
		t.Run("order ids as "+kind, func(t *testing.T) {
			t.Parallel()
			box := sandbox.New(sandbox.Config{Settings: sandbox.Settings{Bodies: sandbox.BodiesTolerant, OrderIDs: kind}})
			box.SetMenu(wireshapes.Restaurant, wireshapes.Menu())
			box.SetMenu(sandbox.DefaultMenu, wireshapes.Menu())
			server := httptest.NewServer(box.Handler())
			t.Cleanup(server.Close)
			wireshapes.Run(t, wireshapes.Target{
				BaseURL:      server.URL,
				AuthURL:      server.URL,
				ClientID:     "demo",
				ClientSecret: "demo-secret",
			})
		})
	}
}
