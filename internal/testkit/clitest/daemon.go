package clitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"larder/internal/sandbox"
)

// Daemon returns the address of a daemon that answers each "METHOD /path" as told, and gives a
// token to everyone.
func Daemon(t *testing.T, answers map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /connect/token", Says(http.StatusOK, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`))
	for pattern, answer := range answers {
		mux.HandleFunc(pattern, answer)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// Says answers every request with the same status and JSON body.
func Says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// AsOps returns args with the flags of an operator of the daemon.
func AsOps(base string, args ...string) []string {
	return append(args, "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
}

// OrderingService returns the address of a real sandbox.
func OrderingService(t *testing.T, config sandbox.Config) string {
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
