package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// A repeated key gets the first response, byte for byte, even after the menu has changed (policy
// O7).
func TestAReplayIsTheFirstAnswer_O7(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	body := order()
	send := func(under, body string, headers ...string) reply {
		return k.post(ordersPath, body, append(append(key(under), headers...), k.shop...)...)
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
			k.main.fault(http.MethodPost, test.fault)
		}
		first := send(name, body)
		if test.code == "" {
			first.is(t, test.status)
		} else if p := first.refused(t, test.status, test.code); len(p.Ref) != 26 {
			t.Errorf("%s: ref %q", name, p.Ref)
		}
		before := len(k.main.has())
		same(t, first, send(name, body))
		same(t, first, send(`"`+name+`"`, compact(body), "X-Request-Id", "another")) // with quotes, and equal JSON
		spelt := strings.Replace(ordersPath, bistro, "b%69stro", 1)                  // the same path with other escapes
		same(t, first, k.post(spelt, body, append(key(name), k.shop...)...))
		if test.code != "" {
			send(name, body).refusedReplay(t, test.status, test.code)
		}
		if after := len(k.main.has()); after != before {
			t.Errorf("%s: %d orders after the replays, %d before", name, after, before)
		}
	}
	for _, one := range k.main.has() {
		if _, sent := one.Headers["Idempotency-Key"]; sent {
			t.Error("the key was sent on to the ordering service")
		}
	}
	metrics := string(k.get("/metrics").body)
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
	k := newOrderFixture(t)
	body := order()
	first := k.post(ordersPath, body, append(key("late"), k.shop...)...).is(t, http.StatusCreated)
	k.service.setMenu(bistro, strings.Replace(fullMenu, `"schemeId": "s1", `, `"schemeId": "s1", "isContainInStopList": true, `, 1))
	k.syncOnce(bistro)
	k.ahead(3 * time.Hour)
	shop := k.as(clientShop)
	k.post(ordersPath, body, append(key("new"), shop...)...).refused(t, http.StatusUnprocessableEntity, "validation_failed")
	same(t, first, k.post(ordersPath, body, append(key("late"), shop...)...))
	if orders := k.main.has(); len(orders) != 1 {
		t.Errorf("the service has %d orders, want 1", len(orders))
	}

	// The same without any menu.
	k.service.setMenu(north, "")
	again := k.post(ordersPath, body, append(key("late"), shop...)...)
	same(t, first, again)
}

// The order was placed, but the ordering service's response was lost. The outcome is unknown until
// an operator resolves it; then the same key gets the resolved outcome.
func TestTheReplayOfWhatWasResolved_O7(t *testing.T) {
	t.Parallel()
	for how, test := range map[string]struct {
		resolution string
		status     int
		check      func(t *testing.T, k *orderFixture, got reply)
	}{
		"done": {`{"operation":"create","outcome":"done","orderID":"%s","note":"they have it"}`, http.StatusCreated, func(t *testing.T, k *orderFixture, got reply) {
			var p placed
			got.into(t, &p)
			if orders := k.main.has(); len(orders) != 1 || p.OrderID != orders[0].OrderID || p.State != "placed" || p.Total != "210.4" {
				t.Errorf("got %s, the service has %+v", got.body, orders)
			}
		}},
		"not done": {`{"operation":"create","outcome":"not_done"}`, http.StatusBadGateway, func(t *testing.T, _ *orderFixture, got reply) {
			p := got.refusedReplay(t, http.StatusBadGateway, "upstream_refused")
			if !strings.Contains(p.Msg, "an operator recorded this outcome") || p.Upstream != nil {
				t.Errorf("got %s", got.body)
			}
		}},
		"send again": {`{"operation":"create","outcome":"send_again"}`, http.StatusCreated, func(t *testing.T, k *orderFixture, got reply) {
			var p placed
			got.into(t, &p)
			if orders := k.main.has(); len(orders) != 2 || p.OrderID != orders[1].OrderID && p.OrderID != orders[0].OrderID {
				t.Errorf("got %s, the service has %+v", got.body, orders)
			}
		}},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			k := newOrderFixture(t)
			body := order()
			k.main.fault(http.MethodPost, `"do":"execute_then_reset"`)
			lost := k.post(ordersPath, body, append(key("k"), k.shop...)...)
			ref := lost.refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref
			same(t, lost, k.post(ordersPath, body, append(key("k"), k.shop...)...))
			resolution := test.resolution
			if strings.Contains(resolution, "%s") {
				resolution = fmt.Sprintf(resolution, k.main.has()[0].OrderID)
			}
			k.post("/v1/ops/orders/"+ref+"/resolve", resolution, k.ops...).is(t, http.StatusOK)
			got := k.post(ordersPath, body, append(key("k"), k.shop...)...)
			if got.status != test.status || got.header.Get("Idempotent-Replayed") != "true" {
				t.Fatalf("got %d %s", got.status, got.body)
			}
			test.check(t, k, got)
			if again := k.post(ordersPath, body, append(key("k"), k.shop...)...); string(again.body) != string(got.body) {
				t.Errorf("resolved, yet two replays differ:\n%s\n%s", got.body, again.body)
			}
		})
	}
}

// A key belongs to one request of one client (policy O7).
func TestKeysThatAreTaken_O7(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	body := order()
	p := k.place("mine")
	other := strings.Replace(order(), `"quantity": 1`, `"quantity": 2`, 1)
	got := k.post(ordersPath, other, append(key("mine"), k.shop...)...).refused(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	if got.Ref != p.Ref {
		t.Errorf("reused: ref %q, want %s", got.Ref, p.Ref)
	}
	k.put("/v1/orders/"+p.OrderID+"/pay", payment, append(key("mine"), k.shop...)...).refused(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	k.post(ordersPath, body, append(key("mine"), k.ops...)...).is(t, http.StatusCreated) // the key of another client

	open := k.main.shut()
	defer open()
	answer := k.later(body, append(key("slow"), k.shop...)...)
	<-k.main.arrived
	busy := k.post(ordersPath, body, append(key("slow"), k.shop...)...)
	flight := busy.refused(t, http.StatusConflict, "idempotency_key_in_flight")
	if len(flight.Ref) != 26 || busy.header.Get("Retry-After") != "1" {
		t.Errorf("in flight: ref %q, Retry-After %q", flight.Ref, busy.header.Get("Retry-After"))
	}
	k.post(ordersPath, other, append(key("slow"), k.shop...)...).refused(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	open()
	first := answer().is(t, http.StatusCreated)
	same(t, first, k.post(ordersPath, body, append(key("slow"), k.shop...)...))
	if orders := k.main.has(); len(orders) != 3 {
		t.Errorf("the service has %d orders, want 3", len(orders))
	}
}

// If a request certainly did not reach the ordering service, its key can be used again.
func TestAKeyIsFreeAfterNothingWasSent_O7(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	body := order()
	k.main.fault(http.MethodPost, `"do":"status","status":401`)
	_ = k.post(ordersPath, body, append(key("k"), k.shop...)...).is(t, http.StatusCreated) // a repeated call with a renewed token
	k.main.faults(`[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"do":"status","status":429,"retryAfter":30}]`)
	got := k.post(ordersPath, body, append(key("again"), k.shop...)...)
	if p := got.refused(t, http.StatusServiceUnavailable, "upstream_unavailable"); len(p.Ref) != 26 || got.header.Get("Retry-After") != "30" {
		t.Errorf("not sent: ref %q, Retry-After %q", p.Ref, got.header.Get("Retry-After"))
	}
	k.main.faults(`[]`)
	if again := k.post(ordersPath, body, append(key("again"), k.shop...)...).is(t, http.StatusCreated); again.header.Get("Idempotent-Replayed") != "" {
		t.Error("an order that was never sent is replayed")
	}
}

// A hundred clients send the same key: there is one order, and all get the same response. On a busy machine, larder
// rejects some before it looks for the key. These send it again.
func TestAHundredClientsWithOneKey(t *testing.T) {
	t.Parallel()
	const clients = 100
	k := newOrderFixture(t)
	body := order()
	headers := append([]string{"Content-Type", "application/json"}, append(key("one for all"), k.shop...)...)
	var (
		mu      sync.Mutex
		answers []reply
		group   errgroup.Group
	)
	start := make(chan struct{})
	for range clients {
		group.Go(func() error {
			<-start
			got, err := request(t, http.MethodPost, k.url+ordersPath, body, headers...)
			for end := time.Now().Add(time.Minute); err == nil && got.status == http.StatusServiceUnavailable && time.Now().Before(end); {
				if !bytes.Contains(got.body, []byte(`"upstream_busy"`)) {
					break
				}
				time.Sleep(20 * time.Millisecond) //testwaits:allow a poll
				got, err = request(t, http.MethodPost, k.url+ordersPath, body, headers...)
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
		counts[got.status]++
		switch got.status {
		case http.StatusCreated:
			if first == nil {
				first = got.body
			}
			if string(got.body) != string(first) {
				t.Errorf("two answers differ:\n%s\n%s", first, got.body)
			}
		case http.StatusConflict:
			got.refused(t, http.StatusConflict, "idempotency_key_in_flight")
		default:
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	if counts[http.StatusCreated] == 0 {
		t.Errorf("no client got the order: %v", counts)
	}
	if orders := k.main.has(); len(orders) != 1 {
		t.Fatalf("%d clients placed %d orders (answers %v)", clients, len(orders), counts)
	}
	for range clients {
		got := k.post(ordersPath, body, headers[2:]...).is(t, http.StatusCreated)
		if string(got.body) != string(first) || got.header.Get("Idempotent-Replayed") != "true" {
			t.Fatalf("after the dust: %s, want %s", got.body, first)
		}
	}
	var p placed
	if err := json.Unmarshal(first, &struct{ Result *placed }{&p}); err != nil || p.OrderID != k.main.has()[0].OrderID {
		t.Errorf("answered %s (%v), the service has %+v", first, err, k.main.has())
	}
}
