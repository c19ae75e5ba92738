package upstream_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"larder.local/internal/sandbox"
	"larder.local/internal/upstream"
)

// The sandbox is the ordering service in one process. It has both presets of the token
// request, the menu view, the reasons and the error shape.
func TestAgainstTheSandbox(t *testing.T) {
	t.Parallel()
	const view = `{"name":"small","categories":[],"products":[],"ingredientsSchemes":[],"ingredientsGroups":[],"ingredients":[]}`
	box := sandbox.New(sandbox.Config{})
	box.SetMenu("default", []byte(view))
	server := httptest.NewServer(box.Handler())
	t.Cleanup(server.Close)
	for _, form := range []upstream.TokenRequest{documentForm(), oauthForm()} {
		cfg := config(server.URL)
		cfg.ClientID, cfg.ClientSecret, cfg.TokenRequest = "demo", "demo-secret", form
		client := connect(t, cfg)
		if got, err := client.MenuView(t.Context(), "", upstream.Validator{}, 0); err != nil || len(got.Body) < len(view) {
			t.Errorf("%s: MenuView() = %q, %v", form, got.Body, err)
		}
		if _, err := client.RejectionReasons(t.Context()); err != nil {
			t.Errorf("%s: RejectionReasons() = %v", form, err)
		}
		_, err := client.CreateOrder(t.Context(), []byte(`{"dishList":[]}`))
		if e := asError(t, err); !e.Refused() || e.Code == "" || e.Status != http.StatusBadRequest {
			t.Errorf("%s: an empty order = %+v, want a refusal with a code", form, e)
		}
		_, err = client.Complete(t.Context(), "none")
		if e := asError(t, err); !e.Refused() || e.Code != "order_not_found" {
			t.Errorf("%s: closing no order = %+v, want order_not_found", form, e)
		}
	}
}
