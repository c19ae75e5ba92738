package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"larder/httpapi"
	"larder/internal/sandbox"
	"larder/internal/testkit/redistest"
	"larder/internal/upstream"
	"larder/ordering"
)

// sandboxService is the ordering service of one connection: a sandbox behind a real client.
type sandboxService struct {
	*upstream.Client
	t    *testing.T
	base string

	mu      sync.Mutex
	gate    chan struct{} // while set, create and pay calls wait for it before they are sent
	arrived chan struct{} // gets a value for each call that waits
	patient bool          // a call may take longer than its caller allows
}

func newSandboxService(t *testing.T, name, restaurant string) *sandboxService {
	t.Helper()
	service := sandbox.New(sandbox.Config{})
	t.Cleanup(service.Close)
	service.SetMenu(restaurant, []byte(fullMenu))
	base := serve(t, service.Handler())
	cfg := upstream.Config{
		Name:         name,
		BaseURL:      base,
		AuthURL:      base,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
	}
	cfg.SetDefaults()
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &sandboxService{
		Client:  client,
		t:       t,
		base:    base,
		arrived: make(chan struct{}, 1000),
	}
}

// CreateOrder waits while the gate is closed.
func (s *sandboxService) CreateOrder(ctx context.Context, body []byte) (upstream.Created, error) {
	return s.Client.CreateOrder(s.wait(ctx), body)
}

// Pay waits while the gate is closed.
func (s *sandboxService) Pay(ctx context.Context, orderID string, body []byte) (upstream.Answer, error) {
	return s.Client.Pay(s.wait(ctx), orderID, body)
}

// wait waits while the gate is closed, and returns the context of the call.
func (s *sandboxService) wait(ctx context.Context) context.Context {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		s.arrived <- struct{}{}
		<-gate
	}
	if s.patient {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// shut closes the gate. Calls wait until open is called.
func (s *sandboxService) shut() (open func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := make(chan struct{})
	s.gate = gate
	return sync.OnceFunc(func() {
		s.mu.Lock()
		s.gate = nil
		s.mu.Unlock()
		close(gate)
	})
}

// fault makes the sandbox apply a fault once to a call: "POST", "pay", "complete" or "reject".
func (s *sandboxService) fault(call, do string) {
	s.t.Helper()
	match := `{"method":"POST","path":"/orders/api/v1/orders"}`
	if call != http.MethodPost {
		match = `{"method":"PUT","path":"/orders/api/v1/orders/*/` + call + `"}`
	}
	s.faults(fmt.Sprintf(`[{"match":%s,"times":1,%s}]`, match, do))
}

// faults sets the sandbox's list of faults.
func (s *sandboxService) faults(list string) {
	s.t.Helper()
	do(s.t, http.MethodPut, s.base+"/sandbox/faults", list, "Content-Type", "application/json").is(s.t, http.StatusOK)
}

// sandboxOrder is an order in the sandbox.
type sandboxOrder struct {
	OrderID  string
	State    string
	Paid     bool
	Total    json.Number
	Payments []json.RawMessage
	Headers  map[string]string
	Body     struct{ Comment string }
}

// has returns the orders of the ordering service.
func (s *sandboxService) has() []sandboxOrder {
	s.t.Helper()
	var orders []sandboxOrder
	do(s.t, http.MethodGet, s.base+"/sandbox/orders", "").is(s.t, http.StatusOK).into(s.t, &orders)
	return orders
}

// orderFixture is an instance with a real, durable Redis and an ordering service for each of its
// two connections.
type orderFixture struct {
	*fixture
	main, north *sandboxService
	shop        []string // Authorization of client shop: only connection main
	ops         []string // Authorization of client ops: all connections
}

func newOrderFixture(t *testing.T, changes ...func(*plan)) *orderFixture {
	t.Helper()
	k := &orderFixture{main: newSandboxService(t, "main", bistro), north: newSandboxService(t, "north", north)}
	server := redistest.Start(t, redistest.AppendOnly())
	k.fixture = newFixture(t, append([]func(*plan){func(p *plan) {
		p.cfg.Rate = httpapi.RateConfig{}
		p.redis.URL, p.ordering.AllowNonDurable = server.URL(), false
		p.services = map[string]ordering.Service{"main": k.main, "north": k.north}
	}}, changes...)...)
	raw, err := json.Marshal([]upstream.Reason{
		{ID: "5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01", Reason: "The guest changed their mind", Type: "simple"},
		{ID: "5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", Reason: "Another reason", Type: "text"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, connection := range []string{"main", "north"} {
		if err := k.store.SaveReasons(t.Context(), connection, raw); err != nil {
			t.Fatal(err)
		}
	}
	k.shop, k.ops = k.as(clientShop), k.as(clientOps)
	return k
}

// put sends a PUT with a JSON body, or without a body.
func (w *fixture) put(path, body string, headers ...string) reply {
	w.t.Helper()
	if body != "" {
		headers = append([]string{"Content-Type", "application/json"}, headers...)
	}
	return w.do(http.MethodPut, path, body, headers...)
}

// placed is the result of placing an order.
type placed struct {
	Ref, OrderID, State string
	Total               json.Number
}

// place places the order with a key, as client shop.
func (k *orderFixture) place(k1 string) placed {
	k.t.Helper()
	var p placed
	k.post(ordersPath, order(), append(key(k1), k.shop...)...).is(k.t, http.StatusCreated).into(k.t, &p)
	return p
}

// payment returns a payment of the whole order.
const (
	payment = `[{"code": "currency-1", "amount": 210.40, "paidAt": "2026-11-21T12:00:00+03:00", "name": ""}]`
	reject  = `{"rejectionReasonID": "5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01", "rejectionReasonText": ""}`
)

// same checks that a replay equals the first response in status, body and type. Only other headers
// may differ.
func same(t *testing.T, first, again reply) {
	t.Helper()
	if again.status != first.status || string(again.body) != string(first.body) {
		t.Errorf("the replay is another answer:\n%d %s\n%d %s", first.status, first.body, again.status, again.body)
	}
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("Idempotent-Replayed %q, then %q", first.header.Get("Idempotent-Replayed"), again.header.Get("Idempotent-Replayed"))
	}
	for _, name := range []string{"Content-Type", "Cache-Control", "Content-Length"} {
		if again.header.Get(name) != first.header.Get(name) {
			t.Errorf("%s: %q, then %q", name, first.header.Get(name), again.header.Get(name))
		}
	}
}

// refusedReplay is refused for a response whose requestId is that of an earlier request.
func (r reply) refusedReplay(t *testing.T, status int, code string) problem {
	t.Helper()
	var got problem
	if err := json.Unmarshal(r.body, &got); err != nil || r.status != status || got.Code != code {
		t.Fatalf("got %d %s, want %d %s (%v)", r.status, r.body, status, code, err)
	}
	if got.RequestID == "" || got.RequestID == r.header.Get("X-Request-Id") {
		t.Errorf("requestId %q of the first request, X-Request-Id %q of this one", got.RequestID, r.header.Get("X-Request-Id"))
	}
	return got
}

// later places an order in the background. The returned function waits for the response.
func (w *fixture) later(body string, headers ...string) (answer func() reply) {
	return w.meanwhile(http.MethodPost, ordersPath, body, headers...)
}

// meanwhile sends JSON in the background.
func (w *fixture) meanwhile(method, path, body string, headers ...string) (answer func() reply) {
	var (
		got   reply
		group errgroup.Group
	)
	group.Go(func() (err error) {
		got, err = request(w.t, method, w.url+path, body, append([]string{"Content-Type", "application/json"}, headers...)...)
		return err
	})
	return func() reply {
		w.t.Helper()
		if err := group.Wait(); err != nil {
			w.t.Fatal(err)
		}
		return got
	}
}

// compact returns equal JSON with other bytes.
func compact(body string) string {
	return strings.NewReplacer("\n ", "", ": ", ":", ", ", ",").Replace(body)
}
