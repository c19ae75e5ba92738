package apitest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"larder.local/internal/sandbox"
	"larder.local/internal/upstream"
)

// Sandbox is the ordering service of one connection: a sandbox behind a real client.
type Sandbox struct {
	*upstream.Client
	T    *testing.T
	Base string

	mu      sync.Mutex
	gate    chan struct{} // while set, create and pay calls wait for it before they are sent
	Arrived chan struct{} // gets a value for each call that waits
	Patient bool          // a call may take longer than its caller allows
}

// NewSandbox returns a sandbox with the menu of a restaurant, until the test ends.
func NewSandbox(t *testing.T, name, restaurant string) *Sandbox {
	t.Helper()
	service := sandbox.New(sandbox.Config{})
	t.Cleanup(service.Close)
	service.SetMenu(restaurant, []byte(FullMenu))
	base := Serve(t, service.Handler())
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
	return &Sandbox{
		Client:  client,
		T:       t,
		Base:    base,
		Arrived: make(chan struct{}, 1000),
	}
}

// Write waits while the gate is closed, to create or pay an order.
func (s *Sandbox) Write(ctx context.Context, r upstream.WriteRequest) (upstream.Answer, error) {
	if r.Operation == upstream.OpCreate || r.Operation == upstream.OpPay {
		ctx = s.wait(ctx)
	}
	return s.Client.Write(ctx, r)
}

// Create creates an order at the ordering service.
func Create(ctx context.Context, client *upstream.Client, body []byte) (upstream.Answer, error) {
	return client.Write(ctx, upstream.WriteRequest{Operation: upstream.OpCreate, Body: body})
}

// wait waits while the gate is closed, and returns the context of the call.
func (s *Sandbox) wait(ctx context.Context) context.Context {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		s.Arrived <- struct{}{}
		<-gate
	}
	if s.Patient {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// Shut closes the gate. Calls wait until open is called.
func (s *Sandbox) Shut() (open func()) {
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

// Fault makes the sandbox apply a fault once to a call: "POST", "pay", "complete" or "reject".
func (s *Sandbox) Fault(call, do string) {
	s.T.Helper()
	match := `{"method":"POST","path":"/orders/api/v1/orders"}`
	if call != http.MethodPost {
		match = `{"method":"PUT","path":"/orders/api/v1/orders/*/` + call + `"}`
	}
	s.Faults(fmt.Sprintf(`[{"match":%s,"times":1,%s}]`, match, do))
}

// Faults sets the sandbox's list of faults.
func (s *Sandbox) Faults(list string) {
	s.T.Helper()
	Do(s.T, http.MethodPut, s.Base+"/sandbox/faults", list, "Content-Type", "application/json").Is(s.T, http.StatusOK)
}

// SandboxOrder is an order in the sandbox.
type SandboxOrder struct {
	OrderID  string
	State    string
	Paid     bool
	Total    json.Number
	Payments []json.RawMessage
	Headers  map[string]string
	Body     struct{ Comment string }
}

// Orders returns the orders of the ordering service.
func (s *Sandbox) Orders() []SandboxOrder {
	s.T.Helper()
	var orders []SandboxOrder
	Do(s.T, http.MethodGet, s.Base+"/sandbox/orders", "").Is(s.T, http.StatusOK).Into(s.T, &orders)
	return orders
}

// Raws returns the orders that the ordering service received, byte for byte.
func (s *Sandbox) Raws() []string {
	s.T.Helper()
	var orders []struct{ Raw string }
	Do(s.T, http.MethodGet, s.Base+"/sandbox/orders", "").Is(s.T, http.StatusOK).Into(s.T, &orders)
	raws := make([]string, len(orders))
	for i, order := range orders {
		raws[i] = order.Raw
	}
	return raws
}

// Fault is a fault of the sandbox, as JSON without its braces.
func Fault(do string, status int, body, media string) string {
	headers := map[string]string{}
	if media != "" {
		headers["Content-Type"] = media
	}
	text, err := json.Marshal(map[string]any{"do": do, "status": status, "body": body, "headers": headers})
	if err != nil {
		panic(err)
	}
	return string(text[1 : len(text)-1])
}

// Serve serves a handler until the test ends, and returns its URL.
func Serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}
