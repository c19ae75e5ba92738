package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder/ordering"
)

// changed is the result of a change.
type changed struct {
	Ref, OrderID, State string
	Paid                bool
}

func (k *orderFixture) change(orderID, what, body string, headers ...string) reply {
	k.t.Helper()
	return k.put("/v1/orders/"+orderID+"/"+what, body, append(headers, k.shop...)...)
}

// The changes of an order after it was placed, at both ends. Every repeated change gets its own
// first response, even after later changes.
func TestAnOrderIsPaidAndClosed_O9(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	body := order()
	first := k.post(ordersPath, body, append(key("k"), k.shop...)...).is(t, http.StatusCreated)
	var p placed
	first.into(t, &p)
	early := k.change(p.OrderID, "complete", "").refused(t, http.StatusBadGateway, "upstream_refused")
	if early.Upstream == nil || early.Upstream.Code != "pos_close_order" || early.Upstream.Status != http.StatusInternalServerError || early.Ref != p.Ref {
		t.Errorf("complete before it is paid: %+v", early)
	}
	paid := k.change(p.OrderID, "pay", payment, key("pay")...).is(t, http.StatusOK)
	var got changed
	if paid.into(t, &got); got != (changed{p.Ref, p.OrderID, "placed", true}) || paid.header.Get("Cache-Control") != "no-store" {
		t.Errorf("paid: got %s, %v", paid.body, paid.header)
	}
	same(t, paid, k.change(p.OrderID, "pay", payment, key("pay")...))
	closed := k.change(p.OrderID, "complete", "").is(t, http.StatusOK) // the rejected payment did not use up the order's own key
	if closed.into(t, &got); got != (changed{p.Ref, p.OrderID, "closed", true}) {
		t.Errorf("closed: got %s", closed.body)
	}
	same(t, closed, k.change(p.OrderID, "complete", ""))
	same(t, closed, k.put("/v1/orders/"+p.OrderID+"/complete", "", append([]string{"Content-Type", "text/plain"}, k.shop...)...))
	same(t, paid, k.change(p.OrderID, "pay", compact(payment), key("pay")...))

	state := k.change(p.OrderID, "reject", reject).refused(t, http.StatusConflict, "order_state")
	if state.Ref != p.Ref || state.Errors[0].Params["state"] != "closed" || state.Errors[0].Params["paid"] != true {
		t.Errorf("reject of a closed order: %+v", state)
	}
	orders := k.main.has()
	if len(orders) != 1 || orders[0].State != "closed" || !orders[0].Paid || len(orders[0].Payments) != 1 {
		t.Errorf("the service has %+v", orders)
	}
	same(t, first, k.post(ordersPath, body, append(key("k"), k.shop...)...)) // the response is that of the time of the change, not of the current state
	metrics := string(k.get("/metrics").body)
	for _, want := range []string{
		`{operation="complete",outcome="refused"} 1`, `{operation="pay",outcome="paid"} 1`, `{operation="complete",outcome="closed"} 1`,
		`{operation="reject",outcome="conflict"} 1`, `larder_order_replays_total{operation="pay"} 2`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

func TestAnOrderIsRejected(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	p := k.place("k")
	for body, want := range map[string]string{
		`{"rejectionReasonID": "nope", "rejectionReasonText": ""}`:                                 "value_not_allowed",
		`{"rejectionReasonID": "5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", "rejectionReasonText": ""}`: "field_required",
	} {
		broken := k.change(p.OrderID, "reject", body).refused(t, http.StatusUnprocessableEntity, "validation_failed")
		if len(broken.Errors) == 0 || broken.Errors[0].Code != want || broken.Errors[0].Path == "" {
			t.Errorf("%s: got %+v, want %s", body, broken.Errors, want)
		}
	}
	k.change(p.OrderID, "reject", `{"rejectionReasonID":`).refused(t, http.StatusBadRequest, "malformed_json")
	got := k.change(p.OrderID, "reject?restaurantID="+bistro, reject).is(t, http.StatusOK)
	var rejected changed
	if got.into(t, &rejected); rejected != (changed{p.Ref, p.OrderID, "rejected", false}) {
		t.Errorf("got %s", got.body)
	}
	same(t, got, k.change(p.OrderID, "reject", reject))
	if orders := k.main.has(); orders[0].State != "rejected" {
		t.Errorf("the service has %+v", orders)
	}
	k.change(p.OrderID, "pay", payment).refused(t, http.StatusConflict, "order_state")
}

// Payments are checked before anything is sent (policy O10).
func TestPayments_O10(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	p := k.place("k")
	for body, want := range map[string]string{
		`[]`: "field_required /",
		strings.Replace(payment, "210.40", "210.39", 1):                        "amount_insufficient ",
		strings.Replace(payment, `"currency-1"`, `""`, 1):                      "field_required /0/code",
		strings.Replace(payment, "210.40", "-1", 1):                            "amount_insufficient|value_not_allowed /0/amount",
		strings.Replace(payment, "2026-11-21T12:00:00+03:00", "2026-11-21", 1): "time_zone_missing|type_mismatch /0/paidAt",
		strings.Replace(payment, "2026-11-21T12:00:00+03:00", "yesterday", 1):  "type_mismatch|time_zone_missing /0/paidAt",
		strings.Replace(payment, `210.40`, `"210,40"`, 1):                      "decimal_comma /0/amount",
	} {
		broken := k.change(p.OrderID, "pay", body).refused(t, http.StatusUnprocessableEntity, "validation_failed")
		codes, path, _ := strings.Cut(want, " ")
		found := slices.ContainsFunc(broken.Errors, func(v struct {
			Path, Code, Msg string
			Params          map[string]any
		},
		) bool {
			return slices.Contains(strings.Split(codes, "|"), v.Code) && strings.HasPrefix(v.Path, strings.TrimSuffix(path, "/"))
		})
		if !found {
			t.Errorf("%s: got %+v, want %s", body, broken.Errors, want)
		}
	}
	k.put("/v1/orders/"+p.OrderID+"/pay", payment[:5], k.shop...).refused(t, http.StatusBadRequest, "malformed_json")
	k.do(http.MethodPut, "/v1/orders/"+p.OrderID+"/pay", payment, append([]string{"Content-Type", "text/plain"}, k.shop...)...).refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
	k.change(p.OrderID, "pay", payment, key(strings.Repeat("k", 256))...).refused(t, http.StatusBadRequest, "idempotency_key_required")
	k.change("nobody", "pay", payment).refused(t, http.StatusNotFound, "order_not_found")
	k.put("/v1/orders/"+p.OrderID+"/pay", payment).refused(t, http.StatusUnauthorized, "unauthorized")
	k.put("/v1/orders/"+p.OrderID+"/pay", payment, k.as(clientRead)...).refused(t, http.StatusForbidden, "forbidden")
	if orders := k.main.has(); orders[0].Paid {
		t.Errorf("a payment that breaks rules was sent: %+v", orders)
	}
	k.change(p.OrderID, "pay", payment).is(t, http.StatusOK)
	twice := k.change(p.OrderID, "pay", strings.Replace(payment, "currency-1", "currency-2", 1)).refused(t, http.StatusConflict, "order_state")
	if twice.Errors[0].Params["paid"] != true {
		t.Errorf("a second payment: %+v", twice)
	}
}

// The message names what was invalid: only an order is checked against a menu.
func TestRefusalsSayWhatTheyRefuse(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	p, lost := k.place("k"), k.lost("lost")
	for _, test := range []struct{ method, path, body, want string }{
		{http.MethodPost, ordersPath, `{}`, "the order is not valid; see errors"},
		{http.MethodPut, "/v1/orders/" + p.OrderID + "/pay", `[]`, "the payment is not valid; see errors"},
		{http.MethodPut, "/v1/orders/" + p.OrderID + "/reject", `{}`, "the rejection is not valid; see errors"},
		{http.MethodPost, "/v1/ops/orders/" + lost + "/resolve", `{}`, "the resolution is not valid; see errors"},
	} {
		got := k.do(test.method, test.path, test.body, append(key("refusal"), append([]string{"Content-Type", "application/json"}, k.ops...)...)...)
		if said := got.refused(t, http.StatusUnprocessableEntity, "validation_failed"); said.Msg != test.want {
			t.Errorf("%s: got %q, want %q", test.path, said.Msg, test.want)
		}
	}
}

// While a change is in progress or its outcome is unknown, other changes are rejected (policy O9).
func TestAnUnknownPaymentKeepsTheOrder(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	p := k.place("k")
	k.main.fault("pay", `"do":"execute_then_reset"`)
	lost := k.change(p.OrderID, "pay", payment)
	if lost.refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref != p.Ref {
		t.Errorf("got %s", lost.body)
	}
	same(t, lost, k.change(p.OrderID, "pay", payment)) // its own key has its result
	for what, body := range map[string]string{"pay": strings.Replace(payment, "currency-1", "currency-2", 1), "complete": "", "reject": reject} {
		held := k.change(p.OrderID, what, body).refused(t, http.StatusConflict, "outcome_unknown")
		if held.Ref != p.Ref || held.Errors[0].Params["operation"] != "pay" {
			t.Errorf("%s: %+v", what, held)
		}
	}
	var record struct {
		State    string
		Paid     bool
		Attempts []struct{ Operation, Outcome string }
	}
	k.get("/v1/orders/"+p.OrderID, k.shop...).is(t, http.StatusOK).into(t, &record)
	if n := len(record.Attempts); record.State != "placed" || record.Paid || n != 2 || record.Attempts[1].Operation != "pay" || record.Attempts[1].Outcome != "unknown" {
		t.Errorf("got %+v", record)
	}
	k.post("/v1/ops/orders/"+p.Ref+"/resolve", `{"operation":"pay","outcome":"done"}`, k.ops...).is(t, http.StatusOK)
	resolved := k.change(p.OrderID, "pay", payment).is(t, http.StatusOK)
	var got changed
	if resolved.into(t, &got); !got.Paid || resolved.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("resolved: got %s", resolved.body)
	}
	k.change(p.OrderID, "complete", "").is(t, http.StatusOK)
	if orders := k.main.has(); len(orders[0].Payments) != 1 || orders[0].State != "closed" {
		t.Errorf("the service has %+v", orders)
	}
}

// While a payment is in progress, the same payment and every other change get a response to try
// again later.
func TestAnOrderIsBusy_O9(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	p := k.place("k")
	open := k.main.shut()
	defer open()
	answer := k.meanwhile(http.MethodPut, "/v1/orders/"+p.OrderID+"/pay", payment, k.shop...)
	<-k.main.arrived
	for what, body := range map[string]string{"complete": "", "reject": reject} {
		got := k.change(p.OrderID, what, body)
		busy := got.refused(t, http.StatusConflict, "order_busy")
		if busy.Ref != p.Ref || busy.Errors[0].Params["operation"] != "pay" || got.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %s, Retry-After %q", what, got.body, got.header.Get("Retry-After"))
		}
	}
	k.change(p.OrderID, "pay", payment).refused(t, http.StatusConflict, "idempotency_key_in_flight")
	k.change(p.OrderID, "pay", payment, key("another")...).refused(t, http.StatusConflict, "order_busy")
	open()
	same(t, answer().is(t, http.StatusOK), k.change(p.OrderID, "pay", payment))
}

// The log line of an order has no key, no body and no data of the guest.
func TestTheOrderLine(t *testing.T) {
	t.Parallel()
	k := newOrderFixture(t)
	body := strings.Replace(order(), `"dishList"`, `"guest": {"phone": "+351200000", "firstName": "Guestina"}, "dishList"`, 1)
	var p placed
	k.post(ordersPath, body, append(key("key-of-the-line"), k.shop...)...).is(t, http.StatusCreated).into(t, &p)
	k.post(ordersPath, body, append(key("key-of-the-line"), k.shop...)...).is(t, http.StatusCreated)
	k.change(p.OrderID, "pay", payment).is(t, http.StatusOK)
	lines := map[string]int{}
	for _, entry := range k.logs.AllEntries() {
		text, err := json.Marshal(entry.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"key-of-the-line", "Guestina", "+351200000", "currency-1"} {
			if strings.Contains(string(text)+entry.Message, secret) {
				t.Errorf("the log has %s: %s %s", secret, entry.Message, text)
			}
		}
		event, _ := entry.Data["event"].(string)
		if !strings.HasPrefix(event, "order.") {
			continue
		}
		if entry.Data["replayed"] == true {
			event += ", replayed"
		}
		lines[event]++
		if entry.Data["ref"] != p.Ref || entry.Data["orderID"] != p.OrderID || entry.Data["client"] != clientShop ||
			entry.Data["connection"] != "main" || entry.Data["requestId"] == "" || entry.Data["operation"] == ordering.Operation("") {
			t.Errorf("%s: %v", event, entry.Data)
		}
	}
	if lines["order.placed"] != 1 || lines["order.placed, replayed"] != 1 || lines["order.paid"] != 1 {
		t.Errorf("got lines %v", lines)
	}
}
