package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"larder/internal/sandbox"
)

// daemonOf is a daemon that answers each "METHOD /path" as told, and gives a
// token to everyone.
func daemonOf(t *testing.T, answers map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /connect/token", says(http.StatusOK, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`))
	for pattern, answer := range answers {
		mux.HandleFunc(pattern, answer)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// says is an answer that is always the same.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// asOps are the flags of an operator of the daemon.
func asOps(base string, args ...string) []string {
	return append(args, "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
}

// orderingService is a real sandbox over HTTP.
func orderingService(t *testing.T, config sandbox.Config) string {
	t.Helper()
	kitchen := sandbox.New(config)
	bistro := sandbox.Bistro(sandbox.BistroID, "")
	kitchen.SetMenu(sandbox.BistroID, bistro)
	kitchen.SetMenu(sandbox.DefaultMenu, bistro)
	server := httptest.NewServer(kitchen.Handler())
	t.Cleanup(func() {
		kitchen.Close()
		server.Close()
	})
	return server.URL
}
