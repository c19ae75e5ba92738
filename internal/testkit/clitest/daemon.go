package clitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"larder.local/internal/sandbox"
)

// Daemon returns the address of a fake daemon. It answers "METHOD /path" with the
// given handlers, and gives a token to every client.
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

// Says returns a handler that answers every request with the same status and JSON
// body.
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

// LunchMenu is a menu view of a few dishes, some of which have faults.
const LunchMenu = `{"result":{"name":"Lunch","categories":[{"id":"1","name":"Soups"}],"products":[
 {"id":"s","externalId":"e1","categoryId":"1","name":"Soup","price":4.5,"schemeId":"x"},
 {"id":"b","externalId":"e2","categoryId":"9","name":"Bread","price":1,"isContainInStopList":["north"]}],
"ingredientsSchemes":[{"id":"x","ingredientsGroups":[{"id":"g","minCount":1,"maxCount":2}]}],
"ingredientsGroups":[{"id":"g","name":"Spice","ingredients":["p"]}],
"ingredients":[{"id":"p","externalId":"e3","name":"Pepper","price":0}]}}`
