package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/leaktest"
)

func TestMain(m *testing.M) {
	leaktest.Main(m)
}

// noon is the initial time of the tests' clock.
var noon = time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)

// fixture is a sandbox behind a real server, with a manual clock.
type fixture struct {
	t     *testing.T
	box   *sandbox.Sandbox
	url   string
	token string
	http  *http.Client

	mu  sync.Mutex
	now time.Time
}

func start(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{t: t, now: noon}
	w.box = sandbox.New(sandbox.Config{Clock: w.clock})
	w.box.SetMenu(sandbox.BistroID, sandbox.Bistro(sandbox.BistroID, ""))
	w.box.SetMenu(sandbox.DefaultMenu, sandbox.Bistro(sandbox.BistroID, ""))
	server := httptest.NewServer(w.box.Handler())
	w.url, w.http = server.URL, server.Client()
	t.Cleanup(func() {
		w.box.Close()
		w.http.CloseIdleConnections()
		server.Close()
	})
	w.token = w.login()
	return w
}

func (w *fixture) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *fixture) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *fixture) login() string {
	w.t.Helper()
	r := w.form(map[string]string{
		"client_ID": "demo", "client_secret": "demo-secret", "grant_type": "client_credentials", "scopes": "orders",
	})
	r.want(http.StatusOK)
	return r.str("access_token")
}

func (w *fixture) form(fields map[string]string) *reply {
	w.t.Helper()
	values := url.Values{}
	for name, value := range fields {
		values.Set(name, value)
	}
	return w.do(http.MethodPost, "/connect/token", values.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// reply is a complete response.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// do sends a request with the token. headers are pairs of name and value.
func (w *fixture) do(method, path, body string, headers ...string) *reply {
	w.t.Helper()
	r, err := w.try(w.t.Context(), method, path, body, headers...)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

func (w *fixture) try(ctx context.Context, method, path, body string, headers ...string) (*reply, error) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	return &reply{w.t, resp.StatusCode, resp.Header, got}, err
}

func (r *reply) want(status int) *reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	return r
}

// wantError checks an error response of the interface.
func (r *reply) wantError(status int, code string) *reply {
	r.t.Helper()
	r.want(status)
	object, ok := r.value().(map[string]any)
	if !ok {
		r.t.Fatalf("not an object: %s", r.body)
	}
	keys := slices.Sorted(maps.Keys(object))
	if want := []string{"code", "errors", "msg", "requestId"}; !slices.Equal(keys, want) {
		r.t.Fatalf("error has the members %v, want %v", keys, want)
	}
	if object["code"] != code {
		r.t.Fatalf("code %v, want %s: %s", object["code"], code, r.body)
	}
	if object["requestId"] == "" || object["requestId"] != r.header.Get("X-Request-Id") {
		r.t.Fatalf("requestId %v, header %q", object["requestId"], r.header.Get("X-Request-Id"))
	}
	return r
}

func (r *reply) value() any {
	r.t.Helper()
	dec := json.NewDecoder(bytes.NewReader(r.body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		r.t.Fatalf("not JSON: %v: %s", err, r.body)
	}
	return v
}

// at returns a nested member; list elements are selected by index.
func (r *reply) at(path ...any) any {
	r.t.Helper()
	v := r.value()
	for _, step := range path {
		switch s := step.(type) {
		case string:
			object, ok := v.(map[string]any)
			if !ok {
				r.t.Fatalf("%v: no object at %q: %s", path, s, r.body)
			}
			v = object[s]
		case int:
			list, ok := v.([]any)
			if !ok || s >= len(list) {
				r.t.Fatalf("%v: no list element %d: %s", path, s, r.body)
			}
			v = list[s]
		}
	}
	return v
}

func (r *reply) str(path ...any) string {
	r.t.Helper()
	switch v := r.at(path...).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		r.t.Fatalf("%v is %T: %s", path, v, r.body)
		return ""
	}
}

func (w *fixture) settings(body string) {
	w.t.Helper()
	w.do(http.MethodPut, "/sandbox/settings", body).want(http.StatusOK)
}

func (w *fixture) faults(body string) {
	w.t.Helper()
	w.do(http.MethodPut, "/sandbox/faults", body).want(http.StatusOK)
}

const orders = "/orders/api/v1/orders"

// water is a valid pickup order of two bottles, with the total 198.
func (w *fixture) water() string {
	return `{"restaurantID":"` + sandbox.BistroID + `","expeditionType":"pickup","paymentTypeID":"card",` +
		`"expectedAt":"` + w.clock().Add(time.Hour).Format(time.RFC3339) + `","guest":{"phone":"+10005550100"},` +
		`"dishList":[{"ID":"` + w.external("dish-water") + `","price":99,"quantity":2}]}`
}

// place creates an order and returns its id.
func (w *fixture) place() string {
	w.t.Helper()
	return w.do(http.MethodPost, orders, w.water()).want(http.StatusCreated).str("result", "orderID")
}

// external returns the externalId of a dish or ingredient of the demo menu.
func (w *fixture) external(id string) string {
	w.t.Helper()
	v := bistro(w.t)
	for _, p := range v.Products {
		if p.ID == id {
			return p.ExternalID
		}
	}
	for _, p := range v.Ingredients {
		if p.ID == id {
			return p.ExternalID
		}
	}
	w.t.Fatalf("the bistro has no %s", id)
	return ""
}

// view is a decoded menu view.
type view struct {
	Name        string
	Categories  []struct{ ID, Name, ParentID string }
	Products    []product
	Ingredients []product
	Schemes     []struct {
		ID     string
		Groups []struct {
			ID                 string
			MinCount, MaxCount int
		} `json:"ingredientsGroups"`
	} `json:"ingredientsSchemes"`
	Groups []struct {
		ID, Name    string
		Ingredients []string
	} `json:"ingredientsGroups"`
}

type product struct {
	ID, ExternalID, CategoryID, Name, SchemeID, Description string

	Price               json.Number
	ImageURLs           []string `json:"imageUrls"`
	Measure             struct{ Unit string }
	IsContainInStopList []string
	Calories            *int
}

func parse(t *testing.T, raw []byte) view {
	t.Helper()
	var v view
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func bistro(t *testing.T) view {
	t.Helper()
	return parse(t, sandbox.Bistro(sandbox.BistroID, ""))
}
