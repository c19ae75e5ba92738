// Package wireshapes holds the shapes of requests that public clients of such
// ordering services are seen to send, and of answers that such services are
// seen to give (policies W1 to W5 and W11 to W14), and runs them against
// whatever speaks the interface: the sandbox, and larder's compatible API.
//
// It is for tests alone. A server under test serves Menu for Restaurant and as
// the connection's own menu.
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

// Restaurant is whose menu the orders are made from.
const Restaurant = "76439fb3-c0c4-42ca-a269-64f031a6a33b"

// Paths of the interface (docs/ordering-service.md, sections 4 and 5).
const (
	pathToken   = "/connect/token"
	pathMenu    = "/orders/api/v1/menu/view"
	pathOrders  = "/orders/api/v1/orders"
	pathReasons = "/orders/api/v1/rejectionReasons"
)

// Target is a server that speaks the interface.
type Target struct {
	// BaseURL and AuthURL are its addresses, without a slash at the end.
	BaseURL, AuthURL string
	// ClientID and ClientSecret are credentials with the scope orders.
	ClientID, ClientSecret string
	// Sent gives the body that the ordering service behind the target got for
	// an order. Nil where the target is that service itself.
	Sent func(t *testing.T, orderID string) []byte
}

// Run makes every request of the tables and holds the answers to the interface.
func Run(t *testing.T, target Target) {
	t.Helper()
	t.Run("tokens", func(t *testing.T) { runTokens(t, target) })
	t.Run("views", func(t *testing.T) { runViews(t, target) })
	t.Run("orders", func(t *testing.T) { runOrders(t, target) })
	t.Run("refusals", func(t *testing.T) { runRefusals(t, target) })
	t.Run("changes", func(t *testing.T) { runChanges(t, target) })
}

// request is one request in a client's own manner.
type request struct {
	method, path string // path with its query
	body         string
	header       map[string]string
}

// reply is what came back, its body parsed where it is JSON.
type reply struct {
	status int
	header http.Header
	body   []byte
	parsed any
}

// send does one request with the headers that it has; an empty one is none.
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
	got.parsed, _ = parse(got.body) // nil where it is no JSON
	return got
}

// parse reads JSON with numbers as they are written.
func parse(body []byte) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// at gives a member by its path, nil for none.
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

// text gives a string or a number as text.
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

// expectedAt is when the orders are wanted.
func expectedAt() time.Time { return time.Now().Add(2 * time.Hour).Truncate(time.Second) }

// login gets a token in the interface's way.
func login(t *testing.T, target Target) map[string]string {
	t.Helper()
	got := send(t, target.AuthURL, request{
		method: http.MethodPost, path: pathToken,
		body: url.Values{
			"client_ID": {target.ClientID}, "client_secret": {target.ClientSecret},
			"grant_type": {"client_credentials"}, "scopes": {"orders"},
		}.Encode(),
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
	token := text(at(got.parsed, "access_token"))
	if token == "" {
		t.Fatalf("no token: %d %s", got.status, got.body)
	}
	return map[string]string{"Authorization": "Bearer " + token}
}

// with gives the headers with others laid over them.
func with(header, others map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, header)
	maps.Copy(all, others)
	return all
}

// wantErrorShape holds an error to the interface's shape (docs/ordering-service.md, section 7).
func wantErrorShape(t *testing.T, got reply) {
	t.Helper()
	object, _ := got.parsed.(map[string]any)
	_, hasErrors := object["errors"]
	if text(at(got.parsed, "code")) == "" || text(at(got.parsed, "msg")) == "" ||
		text(at(got.parsed, "requestId")) == "" || !hasErrors {
		t.Errorf("status %d %s, want code, msg, requestId and errors", got.status, got.body)
	}
}
