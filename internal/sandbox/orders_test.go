package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/internal/sandbox"
)

func TestOrderIsKeptAsItCame(t *testing.T) {
	t.Parallel()
	w := start(t)
	body := strings.Replace(w.water(), `{"restaurantID"`, `{ "unknownField" : 1.50, "restaurantID"`, 1)
	id := w.do(http.MethodPost, orders+"/", body, "X-Trace", "abc").want(http.StatusCreated).str("result", "orderID")
	r := w.do(http.MethodGet, "/sandbox/orders", "").want(http.StatusOK)
	for path, want := range map[string]string{
		"orderID": id, "restaurantID": sandbox.BistroID, "state": "new", "total": "198", "raw": body,
		"createdAt": "2030-05-17T12:00:00.000Z",
	} {
		if got := r.str("result", 0, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if got := r.str("result", 0, "body", "unknownField"); got != "1.50" {
		t.Errorf("the parsed body has %q, want 1.50", got)
	}
	if got := r.str("result", 0, "headers", "X-Trace"); got != "abc" {
		t.Errorf("header X-Trace %q, want abc", got)
	}
	if r.at("result", 0, "headers", "Authorization") != nil {
		t.Error("the token is kept")
	}
	if r.at("result", 0, "paid") != false {
		t.Errorf("paid: %s", r.body)
	}
	if got := w.do(http.MethodGet, "/sandbox/orders/"+id, "").want(http.StatusOK).str("result", "raw"); got != body {
		t.Errorf("raw is %q, want %q", got, body)
	}
	w.do(http.MethodGet, "/sandbox/orders/77", "").wantError(http.StatusNotFound, "order_not_found")
}

func TestOrderIDs(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := w.do(http.MethodPost, orders, w.water()).want(http.StatusCreated)
	if _, text := first.at("result", "orderID").(string); !text {
		t.Errorf("orderID is no string: %s", first.body)
	}
	w.settings(`{"orderIDs":"number","spelling":"Id"}`)
	second := w.do(http.MethodPost, orders, w.water()).want(http.StatusCreated)
	n, number := second.at("result", "orderId").(json.Number)
	if v, err := n.Int64(); !number || err != nil || v <= 1<<53 {
		t.Errorf("orderId is no number above 2^53: %s", second.body)
	}
	w.do(http.MethodPut, orders+"/"+n.String()+"/reject", `{"rejectionReasonID":"5f0c8a52-0001-4b6e-9a51-1c6f0a7d2e01"}`).want(http.StatusOK)
	reasons := w.do(http.MethodGet, "/orders/api/v1/rejectionReasons", "").want(http.StatusOK)
	if !strings.Contains(string(reasons.body), `"id":"5f0c8a52-0001`) || strings.Contains(string(reasons.body), `"Id"`) {
		t.Errorf("reasons do not have the key id: %s", reasons.body)
	}
}

func TestOrderMovesOnByItself(t *testing.T) {
	t.Parallel()
	w := start(t)
	id := w.place()
	state := func() string { return w.do(http.MethodGet, "/sandbox/orders/"+id, "").str("result", "state") }
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "new"},
		{2500 * time.Millisecond, "accepted"},
		{2500 * time.Millisecond, "kitchen"},
		{5 * time.Second, "cash_station"},
		{time.Minute, "cash_station"},
	} {
		w.pass(step.after)
		if got := state(); got != step.want {
			t.Errorf("after another %v the order is %s, want %s", step.after, got, step.want)
		}
	}
}

func TestOperatorMovesOrders(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.settings(`{"autoAccept":false}`)
	id := w.place()
	advance := func(body string) *reply { return w.do(http.MethodPost, "/sandbox/orders/"+id+"/advance", body) }
	w.pass(10 * time.Minute)
	for _, step := range []struct{ body, want string }{
		{"", "accepted"}, {`{"to":"kitchen"}`, "kitchen"}, {"{}", "cash_station"},
	} {
		if got := advance(step.body).want(http.StatusOK).str("result", "state"); got != step.want {
			t.Errorf("advance %q: %s, want %s", step.body, got, step.want)
		}
	}
	advance("").wantError(http.StatusConflict, "order_state")
	advance(`{"to":"accepted"}`).wantError(http.StatusConflict, "order_state")
	advance(`{"to":"closed"}`).wantError(http.StatusBadRequest, "bad_step")
	advance(`{"onto":"kitchen"}`).wantError(http.StatusBadRequest, "bad_step")
	w.do(http.MethodPost, "/sandbox/orders/none/advance", "").wantError(http.StatusNotFound, "order_not_found")
	skip := w.place()
	r := w.do(http.MethodPost, "/sandbox/orders/"+skip+"/advance", `{"to":"cash_station"}`).want(http.StatusOK)
	if r.str("result", "state") != "cash_station" {
		t.Errorf("to the cash station at once: %s", r.body)
	}
}

const paid = `[{"code":"c","amount":%s,"paidAt":"2030-05-17T15:00:00+03:00","name":""}]`

func pay(amount string) string { return strings.Replace(paid, "%s", amount, 1) }

func TestPayAndClose(t *testing.T) {
	t.Parallel()
	w := start(t)
	id := w.place()
	at := orders + "/" + id
	w.do(http.MethodPut, at+"/complete", "").wantError(http.StatusInternalServerError, "pos_close_order")
	w.do(http.MethodPut, at+"/pay", pay("197.99")).wantError(http.StatusBadRequest, "ERR_EXTERNAL_ERROR_WS")
	for _, bad := range []string{
		"", "{}", "[]", "[1]", pay(`"198"`), pay("-1"), strings.Replace(pay("198"), "+03:00", "", 1),
	} {
		w.do(http.MethodPut, at+"/pay", bad).wantError(http.StatusBadRequest, "payment_validation")
	}
	w.settings(`{"paymentRefusedStatus":200}`)
	w.do(http.MethodPut, at+"/pay", pay("197.99")).wantError(http.StatusOK, "ERR_EXTERNAL_ERROR_WS")
	w.settings(`{"paymentRefusedStatus":400}`)
	w.do(http.MethodPut, at+"/pay", strings.Replace(pay("198"), `"c"`, `""`, 1)).wantError(http.StatusBadRequest, "ERR_EXTERNAL_ERROR_WS")

	two := strings.TrimSuffix(pay("100"), "]") + "," + strings.TrimPrefix(pay("98"), "[")
	if got := string(w.do(http.MethodPut, at+"/pay/", two).want(http.StatusOK).body); got != `{"result":{}}` {
		t.Errorf("pay answers %s", got)
	}
	w.do(http.MethodPut, at+"/pay", pay("198")).wantError(http.StatusConflict, "order_already_paid")
	shown := w.do(http.MethodGet, "/sandbox/orders/"+id, "")
	if shown.at("result", "paid") != true || shown.str("result", "payments", 1, "amount") != "98" {
		t.Errorf("after payment: %s", shown.body)
	}
	if got := string(w.do(http.MethodPut, at+"/complete", "").want(http.StatusOK).body); got != `{"result":{}}` {
		t.Errorf("complete answers %s", got)
	}
	if got := w.do(http.MethodGet, "/sandbox/orders/"+id, "").str("result", "state"); got != "closed" {
		t.Errorf("the order is %s, want closed", got)
	}
	w.do(http.MethodPut, at+"/complete", "").wantError(http.StatusConflict, "order_closed")
	w.do(http.MethodPut, at+"/pay", pay("198")).wantError(http.StatusConflict, "order_closed")
	w.do(http.MethodPut, at+"/reject", `{"rejectionReasonID":""}`).wantError(http.StatusConflict, "order_closed")
	w.do(http.MethodPost, "/sandbox/orders/"+id+"/advance", "").wantError(http.StatusConflict, "order_state")
}

// With currencies set, a payment in another currency fails with "payment
// settings are wrong" (docs/ordering-service.md, section 4.2).
func TestPaymentCurrencies(t *testing.T) {
	t.Parallel()
	w := start(t)
	at := orders + "/" + w.place() + "/pay"
	with := func(code string) string { return strings.Replace(pay("198"), `"c"`, `"`+code+`"`, 1) }
	const euro = "09322F46-578A-D210-ADD7-EEC222A08871"
	w.settings(`{"currencies":["` + euro + `","b3a2"]}`)
	w.settings(`{"autoAccept":false}`) // currencies stay as they are
	r := w.do(http.MethodPut, at, with("c")).wantError(http.StatusBadRequest, "ERR_EXTERNAL_ERROR_WS")
	if !strings.Contains(string(r.body), "payment settings are wrong") || r.at("errors") != nil {
		t.Errorf("refusal %s", r.body)
	}
	w.settings(`{"paymentRefusedStatus":200}`)
	mixed := strings.TrimSuffix(with(euro), "]") + "," + strings.TrimPrefix(with("c"), "[")
	w.do(http.MethodPut, at, mixed).wantError(http.StatusOK, "ERR_EXTERNAL_ERROR_WS")
	w.do(http.MethodPut, at, with(strings.ToLower(euro))).want(http.StatusOK)
	if got := w.executed(); got != 1 {
		t.Errorf("%d orders, want 1", got)
	}
	w.settings(`{"currencies":[]}`)
	w.do(http.MethodPut, orders+"/"+w.place()+"/pay", with("any")).want(http.StatusOK)
}

func TestUnknownOrder(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.do(http.MethodPut, orders+"/404/pay", pay("1")).wantError(http.StatusNotFound, "order_not_found")
	w.do(http.MethodPut, orders+"/404/complete", "").wantError(http.StatusNotFound, "order_not_found")
	w.do(http.MethodPut, orders+"/404/reject", "{}").wantError(http.StatusNotFound, "order_not_found")
}

func TestReject(t *testing.T) {
	t.Parallel()
	w := start(t)
	listed := w.do(http.MethodGet, "/orders/api/v1/rejectionReasons", "").want(http.StatusOK)
	simple, text := listed.str("result", 0, "ID"), listed.str("result", 4, "ID")
	if listed.str("result", 0, "type") != "simple" || listed.str("result", 4, "type") != "text" {
		t.Fatalf("reasons: %s", listed.body)
	}
	reject := func(id, reason, why string) *reply {
		return w.do(http.MethodPut, orders+"/"+id+"/reject", `{"rejectionReasonID":"`+reason+`","rejectionReasonText":"`+why+`"}`)
	}
	id := w.place()
	reject(id, "", "").wantError(http.StatusBadRequest, "rejection_reason_invalid")
	reject(id, "nope", "").wantError(http.StatusBadRequest, "rejection_reason_invalid")
	reject(id, text, " ").wantError(http.StatusBadRequest, "rejection_reason_invalid")
	w.do(http.MethodPut, orders+"/"+id+"/reject", "[]").wantError(http.StatusBadRequest, "malformed_json")
	reject(id, text, "closed early").want(http.StatusOK)
	reject(id, simple, "").wantError(http.StatusConflict, "order_rejected")
	w.do(http.MethodPut, orders+"/"+id+"/pay", pay("198")).wantError(http.StatusConflict, "order_rejected")

	w.settings(`{"rejectionReasons":false}`)
	if got := string(w.do(http.MethodGet, "/orders/api/v1/rejectionReasons", "").want(http.StatusOK).body); got != `{"result":[]}` {
		t.Errorf("reasons turned off: %s", got)
	}
	id = w.place()
	reject(id, simple, "").wantError(http.StatusBadRequest, "rejection_reason_invalid")
	reject(id, "", "").want(http.StatusOK)
}
