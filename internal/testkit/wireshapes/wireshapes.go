// Package wireshapes holds requests as public clients of such ordering services
// send them, and answers as such services give them (policies W1 to W5 and W11 to
// W14). It runs them against any server with the interface: the sandbox, and
// larder's compatible API.
//
// Only tests use it. A server under test serves Menu for Restaurant and as the
// connection's default menu.
package wireshapes

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Restaurant is the restaurant of the orders.
const Restaurant = "76439fb3-c0c4-42ca-a269-64f031a6a33b"

// Paths of the interface (docs/ordering-service.md, sections 4 and 5).
const (
	pathToken   = "/connect/token"
	pathMenu    = "/orders/api/v1/menu/view"
	pathOrders  = "/orders/api/v1/orders"
	pathReasons = "/orders/api/v1/rejectionReasons"
)

// Target is a server with the interface.
type Target struct {
	// BaseURL and AuthURL are its addresses, without a slash at the end.
	BaseURL, AuthURL string
	// ClientID and ClientSecret are credentials with the scope orders.
	ClientID, ClientSecret string
	// Sent returns the body that the ordering service behind the target received
	// for an order; nil if the target is that service.
	Sent func(t *testing.T, orderID string) []byte
}

// Run makes every request of the tables and checks the answers.
func Run(t *testing.T, target Target) {
	t.Helper()
	t.Run("tokens", func(t *testing.T) { runTokens(t, target) })
	t.Run("views", func(t *testing.T) { runViews(t, target) })
	t.Run("orders", func(t *testing.T) { runOrders(t, target) })
	t.Run("refusals", func(t *testing.T) { runRefusals(t, target) })
	t.Run("changes", func(t *testing.T) { runChanges(t, target) })
}

// request is one request in a client's own style.
type request struct {
	method, path string // path with its query
	body         string
	header       map[string]string
}

// reply is the response, with its parsed body if it is JSON.
type reply struct {
	status int
	header http.Header
	body   []byte
	parsed any
}

// send sends one request with its headers; an empty header is omitted.
func send(t *testing.T, base string, r request) reply {
	t.Helper()
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(t.Context(), r.method, base+r.path, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range r.header {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	defer func() { _ = res.Body.Close() }()
	got := reply{status: res.StatusCode, header: res.Header}
	if got.body, err = io.ReadAll(res.Body); err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	got.parsed, _ = parse(got.body) // nil if it is not JSON
	return got
}

// parse parses JSON and keeps the digits of numbers.
func parse(body []byte) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// at returns a member by its path; nil if it is missing.
func at(value any, path ...string) any {
	for _, name := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[name]
	}
	return value
}

// text returns a string or a number as text.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
}

// expectedAt returns the expected time of the orders.
func expectedAt() time.Time { return time.Now().Add(2 * time.Hour).Truncate(time.Second) }

// login requests a token in the interface's way.
func login(t *testing.T, target Target) map[string]string {
	t.Helper()
	got := send(t, target.AuthURL, request{
		method: http.MethodPost,
		path:   pathToken,
		body: url.Values{
			"client_ID":     {target.ClientID},
			"client_secret": {target.ClientSecret},
			"grant_type":    {"client_credentials"},
			"scopes":        {"orders"},
		}.Encode(),
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
	token := text(at(got.parsed, "access_token"))
	if token == "" {
		t.Fatalf("no token: %d %s", got.status, got.body)
	}
	return map[string]string{"Authorization": "Bearer " + token}
}

// with returns the headers, with others overriding them.
func with(header, others map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, header)
	maps.Copy(all, others)
	return all
}

// wantErrorShape checks the shape of an error (docs/ordering-service.md, section
// 7).
func wantErrorShape(t *testing.T, got reply) {
	t.Helper()
	object, _ := got.parsed.(map[string]any)
	_, hasErrors := object["errors"]
	if text(at(got.parsed, "code")) == "" || text(at(got.parsed, "msg")) == "" ||
		text(at(got.parsed, "requestId")) == "" || !hasErrors {
		t.Errorf("status %d %s, want code, msg, requestId and errors", got.status, got.body)
	}
}
