package orders_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
	"larder.local/ordering"
)

// changed is the result of a change.
type changed struct {
	Ref, OrderID, State string
	Paid                bool
}

// The changes of an order after it was placed, at both ends. Every repeated change gets its own
// first response, even after later changes.
func TestAnOrderIsPaidAndClosed_O9(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	body := apitest.Order()
	first := k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...).Is(t, http.StatusCreated)
	var p apitest.Placed
	first.Into(t, &p)
	early := k.Change(p.OrderID, "complete", "").Refused(t, http.StatusBadGateway, "upstream_refused")
	if early.Upstream == nil || early.Upstream.Code != "pos_close_order" || early.Upstream.Status != http.StatusInternalServerError || early.Ref != p.Ref {
		t.Errorf("complete before it is paid: %+v", early)
	}
	paid := k.Change(p.OrderID, "pay", apitest.Payment, apitest.Key("pay")...).Is(t, http.StatusOK)
	var got changed
	if paid.Into(t, &got); got != (changed{p.Ref, p.OrderID, "placed", true}) || paid.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("paid: got %s, %v", paid.Body, paid.Header)
	}
	apitest.SameReplay(t, paid, k.Change(p.OrderID, "pay", apitest.Payment, apitest.Key("pay")...))
	closed := k.Change(p.OrderID, "complete", "").Is(t, http.StatusOK) // the rejected payment did not use up the order's own key
	if closed.Into(t, &got); got != (changed{p.Ref, p.OrderID, "closed", true}) {
		t.Errorf("closed: got %s", closed.Body)
	}
	apitest.SameReplay(t, closed, k.Change(p.OrderID, "complete", ""))
	apitest.SameReplay(t, closed, k.Put("/v1/orders/"+p.OrderID+"/complete", "", append([]string{"Content-Type", "text/plain"}, k.Shop...)...))
	apitest.SameReplay(t, paid, k.Change(p.OrderID, "pay", apitest.Compact(apitest.Payment), apitest.Key("pay")...))

	state := k.Change(p.OrderID, "reject", apitest.Reject).Refused(t, http.StatusConflict, "order_state")
	if state.Ref != p.Ref || state.Errors[0].Params["state"] != "closed" || state.Errors[0].Params["paid"] != true {
		t.Errorf("reject of a closed order: %+v", state)
	}
	orders := k.Main.Orders()
	if len(orders) != 1 || orders[0].State != "closed" || !orders[0].Paid || len(orders[0].Payments) != 1 {
		t.Errorf("the service has %+v", orders)
	}
	apitest.SameReplay(t, first, k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...)) // the response is that of the time of the change, not of the current state
	metrics := string(k.Get("/metrics").Body)
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
	k := apitest.NewOrders(t)
	p := k.Place("k")
	for body, want := range map[string]string{
		`{"rejectionReasonID": "nope", "rejectionReasonText": ""}`:                                 "value_not_allowed",
		`{"rejectionReasonID": "5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", "rejectionReasonText": ""}`: "field_required",
	} {
		broken := k.Change(p.OrderID, "reject", body).Refused(t, http.StatusUnprocessableEntity, "validation_failed")
		if len(broken.Errors) == 0 || broken.Errors[0].Code != want || broken.Errors[0].Path == "" {
			t.Errorf("%s: got %+v, want %s", body, broken.Errors, want)
		}
	}
	k.Change(p.OrderID, "reject", `{"rejectionReasonID":`).Refused(t, http.StatusBadRequest, "malformed_json")
	got := k.Change(p.OrderID, "reject?restaurantID="+apitest.Bistro, apitest.Reject).Is(t, http.StatusOK)
	var rejected changed
	if got.Into(t, &rejected); rejected != (changed{p.Ref, p.OrderID, "rejected", false}) {
		t.Errorf("got %s", got.Body)
	}
	apitest.SameReplay(t, got, k.Change(p.OrderID, "reject", apitest.Reject))
	if orders := k.Main.Orders(); orders[0].State != "rejected" {
		t.Errorf("the service has %+v", orders)
	}
	k.Change(p.OrderID, "pay", apitest.Payment).Refused(t, http.StatusConflict, "order_state")
}

// Payments are checked before anything is sent (policy O10).
func TestPayments_O10(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	p := k.Place("k")
	for body, want := range map[string]string{
		`[]`: "field_required /",
		strings.Replace(apitest.Payment, "210.40", "210.39", 1):                        "amount_insufficient ",
		strings.Replace(apitest.Payment, `"currency-1"`, `""`, 1):                      "field_required /0/code",
		strings.Replace(apitest.Payment, "210.40", "-1", 1):                            "amount_insufficient|value_not_allowed /0/amount",
		strings.Replace(apitest.Payment, "2026-11-21T12:00:00+03:00", "2026-11-21", 1): "time_zone_missing|type_mismatch /0/paidAt",
		strings.Replace(apitest.Payment, "2026-11-21T12:00:00+03:00", "yesterday", 1):  "type_mismatch|time_zone_missing /0/paidAt",
		strings.Replace(apitest.Payment, `210.40`, `"210,40"`, 1):                      "decimal_comma /0/amount",
	} {
		broken := k.Change(p.OrderID, "pay", body).Refused(t, http.StatusUnprocessableEntity, "validation_failed")
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
	k.Put("/v1/orders/"+p.OrderID+"/pay", apitest.Payment[:5], k.Shop...).Refused(t, http.StatusBadRequest, "malformed_json")
	k.Do(http.MethodPut, "/v1/orders/"+p.OrderID+"/pay", apitest.Payment, append([]string{"Content-Type", "text/plain"}, k.Shop...)...).Refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
	k.Change(p.OrderID, "pay", apitest.Payment, apitest.Key(strings.Repeat("k", 256))...).Refused(t, http.StatusBadRequest, "idempotency_key_required")
	k.Change("nobody", "pay", apitest.Payment).Refused(t, http.StatusNotFound, "order_not_found")
	k.Put("/v1/orders/"+p.OrderID+"/pay", apitest.Payment).Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Put("/v1/orders/"+p.OrderID+"/pay", apitest.Payment, k.As(apitest.ClientRead)...).Refused(t, http.StatusForbidden, "forbidden")
	if orders := k.Main.Orders(); orders[0].Paid {
		t.Errorf("a payment that breaks rules was sent: %+v", orders)
	}
	k.Change(p.OrderID, "pay", apitest.Payment).Is(t, http.StatusOK)
	twice := k.Change(p.OrderID, "pay", strings.Replace(apitest.Payment, "currency-1", "currency-2", 1)).Refused(t, http.StatusConflict, "order_state")
	if twice.Errors[0].Params["paid"] != true {
		t.Errorf("a second payment: %+v", twice)
	}
}

// The message names what was invalid: only an order is checked against a menu.
func TestRefusalsSayWhatTheyRefuse(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	p, lost := k.Place("k"), k.LostOrder("lost")
	for _, test := range []struct{ method, path, body, want string }{
		{http.MethodPost, apitest.OrdersPath, `{}`, "the order is not valid; see errors"},
		{http.MethodPut, "/v1/orders/" + p.OrderID + "/pay", `[]`, "the payment is not valid; see errors"},
		{http.MethodPut, "/v1/orders/" + p.OrderID + "/reject", `{}`, "the rejection is not valid; see errors"},
		{http.MethodPost, "/v1/ops/orders/" + lost + "/resolve", `{}`, "the resolution is not valid; see errors"},
	} {
		got := k.Do(test.method, test.path, test.body, append(apitest.Key("refusal"), append([]string{"Content-Type", "application/json"}, k.Ops...)...)...)
		if said := got.Refused(t, http.StatusUnprocessableEntity, "validation_failed"); said.Msg != test.want {
			t.Errorf("%s: got %q, want %q", test.path, said.Msg, test.want)
		}
	}
}

// While a change is in progress or its outcome is unknown, other changes are rejected (policy O9).
func TestAnUnknownPaymentKeepsTheOrder(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	p := k.Place("k")
	k.Main.Fault("pay", `"do":"execute_then_reset"`)
	lost := k.Change(p.OrderID, "pay", apitest.Payment)
	if lost.Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref != p.Ref {
		t.Errorf("got %s", lost.Body)
	}
	apitest.SameReplay(t, lost, k.Change(p.OrderID, "pay", apitest.Payment)) // its own key has its result
	for what, body := range map[string]string{"pay": strings.Replace(apitest.Payment, "currency-1", "currency-2", 1), "complete": "", "reject": apitest.Reject} {
		held := k.Change(p.OrderID, what, body).Refused(t, http.StatusConflict, "outcome_unknown")
		if held.Ref != p.Ref || held.Errors[0].Params["operation"] != "pay" {
			t.Errorf("%s: %+v", what, held)
		}
	}
	var record struct {
		State    string
		Paid     bool
		Attempts []struct{ Operation, Outcome string }
	}
	k.Get("/v1/orders/"+p.OrderID, k.Shop...).Is(t, http.StatusOK).Into(t, &record)
	if n := len(record.Attempts); record.State != "placed" || record.Paid || n != 2 || record.Attempts[1].Operation != "pay" || record.Attempts[1].Outcome != "unknown" {
		t.Errorf("got %+v", record)
	}
	k.Post("/v1/ops/orders/"+p.Ref+"/resolve", `{"operation":"pay","outcome":"done"}`, k.Ops...).Is(t, http.StatusOK)
	resolved := k.Change(p.OrderID, "pay", apitest.Payment).Is(t, http.StatusOK)
	var got changed
	if resolved.Into(t, &got); !got.Paid || resolved.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("resolved: got %s", resolved.Body)
	}
	k.Change(p.OrderID, "complete", "").Is(t, http.StatusOK)
	if orders := k.Main.Orders(); len(orders[0].Payments) != 1 || orders[0].State != "closed" {
		t.Errorf("the service has %+v", orders)
	}
}

// While a payment is in progress, the same payment and every other change get a response to try
// again later.
func TestAnOrderIsBusy_O9(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	p := k.Place("k")
	open := k.Main.Shut()
	defer open()
	answer := k.Meanwhile(http.MethodPut, "/v1/orders/"+p.OrderID+"/pay", apitest.Payment, k.Shop...)
	<-k.Main.Arrived
	for what, body := range map[string]string{"complete": "", "reject": apitest.Reject} {
		got := k.Change(p.OrderID, what, body)
		busy := got.Refused(t, http.StatusConflict, "order_busy")
		if busy.Ref != p.Ref || busy.Errors[0].Params["operation"] != "pay" || got.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: %s, Retry-After %q", what, got.Body, got.Header.Get("Retry-After"))
		}
	}
	k.Change(p.OrderID, "pay", apitest.Payment).Refused(t, http.StatusConflict, "idempotency_key_in_flight")
	k.Change(p.OrderID, "pay", apitest.Payment, apitest.Key("another")...).Refused(t, http.StatusConflict, "order_busy")
	open()
	apitest.SameReplay(t, answer().Is(t, http.StatusOK), k.Change(p.OrderID, "pay", apitest.Payment))
}

// The log line of an order has no key, no body and no data of the guest.
func TestTheOrderLine(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	body := strings.Replace(apitest.Order(), `"dishList"`, `"guest": {"phone": "+351200000", "firstName": "Guestina"}, "dishList"`, 1)
	var p apitest.Placed
	k.Post(apitest.OrdersPath, body, append(apitest.Key("key-of-the-line"), k.Shop...)...).Is(t, http.StatusCreated).Into(t, &p)
	k.Post(apitest.OrdersPath, body, append(apitest.Key("key-of-the-line"), k.Shop...)...).Is(t, http.StatusCreated)
	k.Change(p.OrderID, "pay", apitest.Payment).Is(t, http.StatusOK)
	lines := map[string]int{}
	for _, entry := range k.Logs.AllEntries() {
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
		if entry.Data["ref"] != p.Ref || entry.Data["orderID"] != p.OrderID || entry.Data["client"] != apitest.ClientShop ||
			entry.Data["connection"] != "main" || entry.Data["requestId"] == "" || entry.Data["operation"] == ordering.Operation("") {
			t.Errorf("%s: %v", event, entry.Data)
		}
	}
	if lines["order.placed"] != 1 || lines["order.placed, replayed"] != 1 || lines["order.paid"] != 1 {
		t.Errorf("got lines %v", lines)
	}
}
