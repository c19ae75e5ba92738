package orders_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"larder.local/internal/testkit/apitest"
)

// A repeated key gets the first response, byte for byte, even after the menu has changed (policy
// O7).
func TestAReplayIsTheFirstAnswer_O7(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	body := apitest.Order()
	send := func(under, body string, headers ...string) apitest.Reply {
		return k.Post(apitest.OrdersPath, body, append(append(apitest.Key(under), headers...), k.Shop...)...)
	}
	for name, test := range map[string]struct {
		fault  string
		status int
		code   string
	}{
		"placed":  {"", http.StatusCreated, ""},
		"refused": {`"do":"status","status":422,"body":"{\"code\":\"closed\",\"msg\":\"we are closed\",\"requestId\":\"u\",\"errors\":[\"why\"]}"`, http.StatusBadGateway, "upstream_refused"},
		"unknown": {`"do":"execute_then_reset"`, http.StatusGatewayTimeout, "order_outcome_unknown"},
	} {
		if test.fault != "" {
			k.Main.Fault(http.MethodPost, test.fault)
		}
		first := send(name, body)
		if test.code == "" {
			first.Is(t, test.status)
		} else if p := first.Refused(t, test.status, test.code); len(p.Ref) != 26 {
			t.Errorf("%s: ref %q", name, p.Ref)
		}
		before := len(k.Main.Orders())
		apitest.SameReplay(t, first, send(name, body))
		apitest.SameReplay(t, first, send(`"`+name+`"`, apitest.Compact(body), "X-Request-Id", "another")) // with quotes, and equal JSON
		spelt := strings.Replace(apitest.OrdersPath, apitest.Bistro, "b%69stro", 1)                        // the same path with other escapes
		apitest.SameReplay(t, first, k.Post(spelt, body, append(apitest.Key(name), k.Shop...)...))
		if test.code != "" {
			send(name, body).RefusedReplay(t, test.status, test.code)
		}
		if after := len(k.Main.Orders()); after != before {
			t.Errorf("%s: %d orders after the replays, %d before", name, after, before)
		}
	}
	for _, one := range k.Main.Orders() {
		if _, sent := one.Headers["Idempotency-Key"]; sent {
			t.Error("the key was sent on to the ordering service")
		}
	}
	metrics := string(k.Get("/metrics").Body)
	for _, want := range []string{
		`larder_orders_total{operation="create",outcome="placed"} 1`, `larder_orders_total{operation="create",outcome="unknown"} 1`,
		`larder_order_replays_total{operation="create"} 11`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// The order was placed, but the response was lost on its way to the client. Then the dish is
// stopped and the expected time passes. The same key still gets the first response.
func TestLateReplay(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	body := apitest.Order()
	first := k.Post(apitest.OrdersPath, body, append(apitest.Key("late"), k.Shop...)...).Is(t, http.StatusCreated)
	k.Service.SetMenu(apitest.Bistro, strings.Replace(apitest.FullMenu, `"schemeId": "s1", `, `"schemeId": "s1", "isContainInStopList": true, `, 1))
	k.SyncOnce(apitest.Bistro)
	k.Ahead(3 * time.Hour)
	shop := k.As(apitest.ClientShop)
	k.Post(apitest.OrdersPath, body, append(apitest.Key("new"), shop...)...).Refused(t, http.StatusUnprocessableEntity, "validation_failed")
	apitest.SameReplay(t, first, k.Post(apitest.OrdersPath, body, append(apitest.Key("late"), shop...)...))
	if orders := k.Main.Orders(); len(orders) != 1 {
		t.Errorf("the service has %d orders, want 1", len(orders))
	}

	// The same without any menu.
	k.Service.SetMenu(apitest.North, "")
	again := k.Post(apitest.OrdersPath, body, append(apitest.Key("late"), shop...)...)
	apitest.SameReplay(t, first, again)
}

// The order was placed, but the ordering service's response was lost. The outcome is unknown until
// an operator resolves it; then the same key gets the resolved outcome.
func TestTheReplayOfWhatWasResolved_O7(t *testing.T) {
	t.Parallel()
	for how, test := range map[string]struct {
		resolution string
		status     int
		check      func(t *testing.T, k *apitest.OrderFixture, got apitest.Reply)
	}{
		"done": {`{"operation":"create","outcome":"done","orderID":"%s","note":"they have it"}`, http.StatusCreated, func(t *testing.T, k *apitest.OrderFixture, got apitest.Reply) {
			var p apitest.Placed
			got.Into(t, &p)
			if orders := k.Main.Orders(); len(orders) != 1 || p.OrderID != orders[0].OrderID || p.State != "placed" || p.Total != "210.4" {
				t.Errorf("got %s, the service has %+v", got.Body, orders)
			}
		}},
		"not done": {`{"operation":"create","outcome":"not_done"}`, http.StatusBadGateway, func(t *testing.T, _ *apitest.OrderFixture, got apitest.Reply) {
			p := got.RefusedReplay(t, http.StatusBadGateway, "upstream_refused")
			if !strings.Contains(p.Msg, "an operator recorded this outcome") || p.Upstream != nil {
				t.Errorf("got %s", got.Body)
			}
		}},
		"send again": {`{"operation":"create","outcome":"send_again"}`, http.StatusCreated, func(t *testing.T, k *apitest.OrderFixture, got apitest.Reply) {
			var p apitest.Placed
			got.Into(t, &p)
			if orders := k.Main.Orders(); len(orders) != 2 || p.OrderID != orders[1].OrderID && p.OrderID != orders[0].OrderID {
				t.Errorf("got %s, the service has %+v", got.Body, orders)
			}
		}},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			k := apitest.NewOrders(t)
			body := apitest.Order()
			k.Main.Fault(http.MethodPost, `"do":"execute_then_reset"`)
			lost := k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...)
			ref := lost.Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref
			apitest.SameReplay(t, lost, k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...))
			resolution := test.resolution
			if strings.Contains(resolution, "%s") {
				resolution = fmt.Sprintf(resolution, k.Main.Orders()[0].OrderID)
			}
			k.Post("/v1/ops/orders/"+ref+"/resolve", resolution, k.Ops...).Is(t, http.StatusOK)
			got := k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...)
			if got.Status != test.status || got.Header.Get("Idempotent-Replayed") != "true" {
				t.Fatalf("got %d %s", got.Status, got.Body)
			}
			test.check(t, k, got)
			if again := k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...); string(again.Body) != string(got.Body) {
				t.Errorf("resolved, yet two replays differ:\n%s\n%s", got.Body, again.Body)
			}
		})
	}
}

// The sandbox refuses the second copy of a payment because it executed the first one. That is no refusal (policy O8b).
func TestASecondCopyIsNotRefused_O8b(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	placed := k.Place("k")
	path := "/v1/orders/" + placed.OrderID + "/pay"
	k.Main.Fault("pay", `"do":"execute_then_reset"`)
	k.Put(path, apitest.Payment, k.Shop...).Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	resolve := func(resolution string) shown {
		t.Helper()
		return recordOf(t, k.Post("/v1/ops/orders/"+placed.Ref+"/resolve", resolution, k.Ops...))
	}
	again := resolve(`{"operation":"pay","outcome":"send_again"}`)
	want := []string{"create 1 201 done - -", "pay 1 - unknown - -", "pay - - not_sent - ops", "pay 1 409 unknown order_already_paid -"}
	if diff := cmp.Diff(want, again.callLines(t)); diff != "" || again.Paid {
		t.Errorf("sent again: paid %t (-want +got):\n%s", again.Paid, diff)
	}
	k.Put(path, apitest.Payment, k.Shop...).RefusedReplay(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	if last := opsOrderOf(k, placed.Ref).Calls[2]; last.Outcome != "unknown" || last.Answer == nil || last.Answer.Status != http.StatusConflict {
		t.Errorf("got %+v, want it unknown with the service's response", last)
	}
	if done := resolve(`{"operation":"pay","outcome":"done"}`); !done.Paid {
		t.Errorf("got %+v, want it paid", done)
	}
}

// A key belongs to one request of one client (policy O7).
func TestKeysThatAreTaken_O7(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	body := apitest.Order()
	p := k.Place("mine")
	other := strings.Replace(apitest.Order(), `"quantity": 1`, `"quantity": 2`, 1)
	got := k.Post(apitest.OrdersPath, other, append(apitest.Key("mine"), k.Shop...)...).Refused(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	if got.Ref != p.Ref {
		t.Errorf("reused: ref %q, want %s", got.Ref, p.Ref)
	}
	k.Put("/v1/orders/"+p.OrderID+"/pay", apitest.Payment, append(apitest.Key("mine"), k.Shop...)...).Refused(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	k.Post(apitest.OrdersPath, body, append(apitest.Key("mine"), k.Ops...)...).Is(t, http.StatusCreated) // the key of another client

	open := k.Main.Shut()
	defer open()
	answer := k.Later(body, append(apitest.Key("slow"), k.Shop...)...)
	<-k.Main.Arrived
	busy := k.Post(apitest.OrdersPath, body, append(apitest.Key("slow"), k.Shop...)...)
	flight := busy.Refused(t, http.StatusConflict, "idempotency_key_in_flight")
	if len(flight.Ref) != 26 || busy.Header.Get("Retry-After") != "1" {
		t.Errorf("in flight: ref %q, Retry-After %q", flight.Ref, busy.Header.Get("Retry-After"))
	}
	k.Post(apitest.OrdersPath, other, append(apitest.Key("slow"), k.Shop...)...).Refused(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	open()
	first := answer().Is(t, http.StatusCreated)
	apitest.SameReplay(t, first, k.Post(apitest.OrdersPath, body, append(apitest.Key("slow"), k.Shop...)...))
	if orders := k.Main.Orders(); len(orders) != 3 {
		t.Errorf("the service has %d orders, want 3", len(orders))
	}
}

// If a request certainly did not reach the ordering service, its key can be used again.
func TestAKeyIsFreeAfterNothingWasSent_O7(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	body := apitest.Order()
	k.Main.Fault(http.MethodPost, `"do":"status","status":401`)
	_ = k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...).Is(t, http.StatusCreated) // a repeated call with a renewed token
	k.Main.Faults(`[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"do":"status","status":429,"retryAfter":30}]`)
	got := k.Post(apitest.OrdersPath, body, append(apitest.Key("again"), k.Shop...)...)
	if p := got.Refused(t, http.StatusServiceUnavailable, "upstream_unavailable"); len(p.Ref) != 26 || got.Header.Get("Retry-After") != "30" {
		t.Errorf("not sent: ref %q, Retry-After %q", p.Ref, got.Header.Get("Retry-After"))
	}
	k.Main.Faults(`[]`)
	if again := k.Post(apitest.OrdersPath, body, append(apitest.Key("again"), k.Shop...)...).Is(t, http.StatusCreated); again.Header.Get("Idempotent-Replayed") != "" {
		t.Error("an order that was never sent is replayed")
	}
}

// A hundred clients send the same key: there is one order, and all get the same response. On a busy machine, larder
// rejects some before it looks for the key. These send it again.
func TestAHundredClientsWithOneKey(t *testing.T) {
	t.Parallel()
	const clients = 100
	k := apitest.NewOrders(t)
	body := apitest.Order()
	headers := append([]string{"Content-Type", "application/json"}, append(apitest.Key("one for all"), k.Shop...)...)
	var (
		mu      sync.Mutex
		answers []apitest.Reply
		group   errgroup.Group
	)
	start := make(chan struct{})
	for range clients {
		group.Go(func() error {
			<-start
			got, err := apitest.Request(t, http.MethodPost, k.URL+apitest.OrdersPath, body, headers...)
			for end := time.Now().Add(time.Minute); err == nil && got.Status == http.StatusServiceUnavailable && time.Now().Before(end); {
				if !bytes.Contains(got.Body, []byte(`"upstream_busy"`)) {
					break
				}
				time.Sleep(20 * time.Millisecond) //testwaits:allow a poll
				got, err = apitest.Request(t, http.MethodPost, k.URL+apitest.OrdersPath, body, headers...)
			}
			mu.Lock()
			defer mu.Unlock()
			answers = append(answers, got)
			return err
		})
	}
	close(start)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var first []byte
	counts := map[int]int{}
	for _, got := range answers {
		counts[got.Status]++
		switch got.Status {
		case http.StatusCreated:
			if first == nil {
				first = got.Body
			}
			if string(got.Body) != string(first) {
				t.Errorf("two answers differ:\n%s\n%s", first, got.Body)
			}
		case http.StatusConflict:
			got.Refused(t, http.StatusConflict, "idempotency_key_in_flight")
		default:
			t.Errorf("got %d %s", got.Status, got.Body)
		}
	}
	if counts[http.StatusCreated] == 0 {
		t.Errorf("no client got the order: %v", counts)
	}
	if orders := k.Main.Orders(); len(orders) != 1 {
		t.Fatalf("%d clients placed %d orders (answers %v)", clients, len(orders), counts)
	}
	for range clients {
		got := k.Post(apitest.OrdersPath, body, headers[2:]...).Is(t, http.StatusCreated)
		if string(got.Body) != string(first) || got.Header.Get("Idempotent-Replayed") != "true" {
			t.Fatalf("after the dust: %s, want %s", got.Body, first)
		}
	}
	var p apitest.Placed
	if err := json.Unmarshal(first, &struct{ Result *apitest.Placed }{&p}); err != nil || p.OrderID != k.Main.Orders()[0].OrderID {
		t.Errorf("answered %s (%v), the service has %+v", first, err, k.Main.Orders())
	}
}
