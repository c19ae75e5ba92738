package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/httpapi"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Change sends a change of an order, as client shop.
func (k *OrderFixture) Change(orderID, what, body string, headers ...string) Reply {
	k.T.Helper()
	return k.Put("/v1/orders/"+orderID+"/"+what, body, append(headers, k.Shop...)...)
}

// RestoreRedis makes the Redis of a fixture forget the commits of connection main, as after the restore of a backup.
func (w *Fixture) RestoreRedis(t *testing.T) {
	t.Helper()
	state := cache.NewKeys(w.Redis.Prefix()).JournalState("main")
	kept := w.Redis.Client().HGetAll(t.Context(), state).Val()
	w.Redis.Client().Del(t.Context(), state)
	if err := w.Redis.Client().HSet(t.Context(), state, "epoch", kept["epoch"], "format", kept["format"]).Err(); err != nil {
		t.Fatal(err)
	}
}

// EmptyJournal deletes everything that the Redis of a fixture has of the orders of connection main.
func (w *Fixture) EmptyJournal(t *testing.T) {
	t.Helper()
	all := strings.TrimSuffix(cache.NewKeys(w.Redis.Prefix()).JournalState("main"), "journal") + "*"
	keys := w.Redis.Client().Keys(t.Context(), all).Val()
	if err := w.Redis.Client().Del(t.Context(), keys...).Err(); err != nil {
		t.Fatal(err)
	}
}

// OtherFormat changes the format of the records of a connection to that of another version of larder.
func (w *Fixture) OtherFormat(t *testing.T, connection string) {
	t.Helper()
	state := cache.NewKeys(w.Redis.Prefix()).JournalState(connection)
	if err := w.Redis.Client().HSet(t.Context(), state, "format", "4").Err(); err != nil {
		t.Fatal(err)
	}
}

// LostOrder places an order whose response is lost, and returns its ref.
func (k *OrderFixture) LostOrder(under string) string {
	k.T.Helper()
	k.Main.Fault(http.MethodPost, `"do":"execute_then_reset"`)
	reply := k.Post(OrdersPath, Order(), append(Key(under), k.Shop...)...)
	return reply.Refused(k.T, http.StatusGatewayTimeout, "order_outcome_unknown").Ref
}

// OrderFixture is an instance with a real, durable Redis and an ordering service for each of its
// two connections.
type OrderFixture struct {
	*Fixture
	Main, North *Sandbox
	Shop        []string // Authorization of client shop: only connection main
	Ops         []string // Authorization of client ops: all connections
}

// NewOrders returns an OrderFixture.
func NewOrders(t *testing.T, changes ...func(*Plan)) *OrderFixture {
	t.Helper()
	k := &OrderFixture{Main: NewSandbox(t, "main", Bistro), North: NewSandbox(t, "north", North)}
	server := redistest.Start(t, redistest.AppendOnly())
	k.Fixture = New(t, append([]func(*Plan){func(p *Plan) {
		p.HTTP.Rate = httpapi.RateConfig{}
		p.Redis.URL, p.Ordering.AllowNonDurable = server.URL(), false
		p.Services = map[string]ordering.Service{"main": k.Main, "north": k.North}
	}}, changes...)...)
	raw, err := json.Marshal([]upstream.Reason{
		{ID: "5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01", Reason: "The guest changed their mind", Type: "simple"},
		{ID: "5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", Reason: "Another reason", Type: "text"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, connection := range []string{"main", "north"} {
		if err := k.Store.SaveReasons(t.Context(), connection, raw); err != nil {
			t.Fatal(err)
		}
	}
	k.Shop, k.Ops = k.As(ClientShop), k.As(ClientOps)
	return k
}

// Put sends a PUT with a JSON body, or without a body.
func (w *Fixture) Put(path, body string, headers ...string) Reply {
	w.T.Helper()
	if body != "" {
		headers = append([]string{"Content-Type", "application/json"}, headers...)
	}
	return w.Do(http.MethodPut, path, body, headers...)
}

// Placed is the result of placing an order.
type Placed struct {
	Ref, OrderID, State string
	Total               json.Number
}

// Place places the order with a key, as client shop.
func (k *OrderFixture) Place(k1 string) Placed {
	k.T.Helper()
	var p Placed
	k.Post(OrdersPath, Order(), append(Key(k1), k.Shop...)...).Is(k.T, http.StatusCreated).Into(k.T, &p)
	return p
}

// Bodies of changes: a payment of the whole order, and a rejection.
const (
	Payment = `[{"code": "currency-1", "amount": 210.40, "paidAt": "2026-11-21T12:00:00+03:00", "name": ""}]`
	Reject  = `{"rejectionReasonID": "5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01", "rejectionReasonText": ""}`
)

// SameReplay checks that a replay equals the first response in status, body and type. Only other headers
// may differ.
func SameReplay(t *testing.T, first, again Reply) {
	t.Helper()
	if again.Status != first.Status || string(again.Body) != string(first.Body) {
		t.Errorf("the replay is another answer:\n%d %s\n%d %s", first.Status, first.Body, again.Status, again.Body)
	}
	if first.Header.Get("Idempotent-Replayed") != "" || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("Idempotent-Replayed %q, then %q", first.Header.Get("Idempotent-Replayed"), again.Header.Get("Idempotent-Replayed"))
	}
	for _, name := range []string{"Content-Type", "Cache-Control", "Content-Length"} {
		if again.Header.Get(name) != first.Header.Get(name) {
			t.Errorf("%s: %q, then %q", name, first.Header.Get(name), again.Header.Get(name))
		}
	}
}

// RefusedReplay is Refused for a response whose requestId is that of an earlier request.
func (r Reply) RefusedReplay(t *testing.T, status int, code string) Problem {
	t.Helper()
	var got Problem
	if err := json.Unmarshal(r.Body, &got); err != nil || r.Status != status || got.Code != code {
		t.Fatalf("got %d %s, want %d %s (%v)", r.Status, r.Body, status, code, err)
	}
	if got.RequestID == "" || got.RequestID == r.Header.Get("X-Request-Id") {
		t.Errorf("requestId %q of the first request, X-Request-Id %q of this one", got.RequestID, r.Header.Get("X-Request-Id"))
	}
	return got
}

// Later places an order in the background. The returned function waits for the response.
func (w *Fixture) Later(body string, headers ...string) (answer func() Reply) {
	return w.Meanwhile(http.MethodPost, OrdersPath, body, headers...)
}

// Meanwhile sends JSON in the background.
func (w *Fixture) Meanwhile(method, path, body string, headers ...string) (answer func() Reply) {
	var (
		got   Reply
		group errgroup.Group
	)
	group.Go(func() (err error) {
		got, err = Request(w.T, method, w.URL+path, body, append([]string{"Content-Type", "application/json"}, headers...)...)
		return err
	})
	return func() Reply {
		w.T.Helper()
		if err := group.Wait(); err != nil {
			w.T.Fatal(err)
		}
		return got
	}
}

// Compact returns equal JSON with other bytes.
func Compact(body string) string {
	return strings.NewReplacer("\n ", "", ": ", ":", ", ", ",").Replace(body)
}

// Violations returns the violations of a response as "code path".
func (r Reply) Violations(t *testing.T) (list []string) {
	t.Helper()
	type violation struct{ Code, Path string }
	var body struct {
		Result struct{ Violations []violation }
		Errors []violation
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatalf("%s: %v", r.Body, err)
	}
	for _, each := range append(body.Result.Violations, body.Errors...) {
		list = append(list, each.Code+" "+each.Path)
	}
	return list
}

// GuestOrder is Order with a guest's phone number.
func GuestOrder() string {
	return strings.Replace(Order(), "{", `{"guest": {"phone": "+351 220 000 000"}, `, 1)
}

// Order is a valid pickup order for one Margherita with garlic: 210.40.
func Order() string { return orderOfToday() }

// orderOfToday is created once, so that a repeated request a second later has the same order.
var orderOfToday = sync.OnceValue(func() string { //nolint:gochecknoglobals // does not change
	return fmt.Sprintf(`{"expeditionType": "pickup", "paymentTypeID": "cash", "expectedAt": %q,
 "dishList": [{"ID": "p1", "quantity": 1, "ingredients": [{"ID": "i1"}]}]}`, time.Now().Add(2*time.Hour).Format(time.RFC3339))
})

// Key returns the header with an idempotency key.
func Key(k string) []string { return []string{"Idempotency-Key", k} }
