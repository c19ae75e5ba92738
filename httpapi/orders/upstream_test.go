package orders_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"larder.local/internal/upstream"
)

// upstreamThatAnswers is a real client of an ordering service. The test sets the response to a
// create call.
func upstreamThatAnswers(t *testing.T) (client *upstream.Client, set func(status int, body string)) {
	t.Helper()
	var mu sync.Mutex
	status, body := http.StatusCreated, `{"result":{"orderID":"1"}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/connect/token") {
			_, _ = w.Write([]byte(`{"access_token":"t","expires_in":3600,"token_type":"Bearer"}`))
			return
		}
		mu.Lock()
		defer mu.Unlock()
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	cfg := upstream.Config{
		Name:         "main",
		BaseURL:      server.URL,
		AuthURL:      server.URL,
		ClientID:     "a",
		ClientSecret: "b",
	}
	cfg.SetDefaults()
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, func(s int, text string) {
		mu.Lock()
		defer mu.Unlock()
		status, body = s, text
	}
}
