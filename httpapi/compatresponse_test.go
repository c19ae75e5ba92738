package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"larder/httpapi"
	"larder/internal/upstream"
	"larder/ordering"
)

// Certain outcomes of the ordering service are passed through unchanged (policy O15), also for
// repeated requests.
func TestAnswersPassThrough_O15(t *testing.T) {
	t.Parallel()
	const refusal = `{"code": "closed",  "msg": "we are closed", "requestId": "u-1", "errors": ["Mon", "Tue"], "hint": 1.50}`
	const long = "too long to be kept"
	for name, test := range map[string]struct {
		call, fault string // from the sandbox
		status      int
		media, body string
	}{
		"refused":           {"POST", fault("status", 422, refusal, ""), 422, "application/json; charset=utf-8", refusal},
		"refused with 500":  {"POST", fault("status", 500, refusal, "application/problem+json"), 500, "application/problem+json", refusal},
		"refused in HTML":   {"POST", fault("status", 403, "<h1>no</h1>", "text/html"), 403, "text/html", "<h1>no</h1>"},
		"refused, no words": {"POST", fault("status", 404, "", ""), 404, "", ""},
		"other 2xx":         {"POST", fault("execute_then_status", 200, `{"orderId": 9007199254740993}`, "text/json"), 200, "text/json", `{"orderId": 9007199254740993}`},
		"a payment refused": {"pay", fault("status", 418, "teapot", ""), 418, "text/plain; charset=utf-8", "teapot"},
		"other JSON":        {"pay", fault("status", 202, `{"ok": true}`, ""), 202, "application/json; charset=utf-8", `{"ok": true}`},
		"no words":          {"pay", fault("status", 200, "", ""), 200, "", ""},
		"no content":        {"reject", fault("status", 204, "", ""), 204, "", ""},
		"completed":         {"complete", fault("status", 200, `{"result":null}`, ""), 200, "application/json; charset=utf-8", `{"result":null}`},
		"much said":         {"POST", fault("status", 400, `{"code":"long","msg":"much","requestId":"u","errors":"`+strings.Repeat("x", 70<<10)+`"}`, ""), 400, "application/json; charset=utf-8", long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tw := newCompatFixture(t)
			method, path := http.MethodPost, createPath
			body := map[string]string{"POST": posOrder(), "pay": payment, "reject": reject}[test.call]
			if test.call != "POST" {
				tw.post(createPath, posOrder(), tw.shop...).is(t, http.StatusCreated)
				method, path = http.MethodPut, createPath+"/1001/"+test.call
			}
			send := func(id string) reply {
				return tw.do(method, path, body, append(append(key("k"), "X-Request-Id", id), tw.shop...)...)
			}
			tw.behind.fault(test.call, test.fault)
			got := send("first")
			if got.status != test.status || got.header.Get("Content-Type") != test.media {
				t.Errorf("got %d %q %s, want %d %q", got.status, got.header.Get("Content-Type"), got.body, test.status, test.media)
			}
			if test.body != long && string(got.body) != test.body {
				t.Errorf("got\n%s\nwant\n%s", got.body, test.body)
			}
			if test.body == long {
				var shape documentError
				if err := json.Unmarshal(got.body, &shape); err != nil || shape.Code != "long" || shape.Msg != "much" || shape.RequestID != "u" {
					t.Errorf("got %.300s: %v", got.body, err)
				}
			}
			if len(got.header.Get("Larder-Order-Ref")) != 26 || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("header %v", got.header)
			}
			if got.header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || got.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("what is passed on may run in a browser: header %v", got.header)
			}
			same(t, got, send("again"))
		})
	}
}

// fault is a fault of the sandbox, as JSON without its braces.
func fault(do string, status int, body, media string) string {
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

// Uncertain outcomes, and outcomes that a person resolved, get larder's own response.
func TestUncertainOutcomesOnTheCompatibleAPI_O15(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	ops := tw.as(clientOps)
	body := posOrder()
	send := func(k string) reply { return tw.post(createPath, body, append(key(k), tw.shop...)...) }
	resolve := func(lost reply, resolution string) {
		t.Helper()
		tw.post("/v1/ops/orders/"+lost.header.Get("Larder-Order-Ref")+"/resolve", resolution, ops...).is(t, http.StatusOK)
	}

	tw.behind.fault("POST", `"do":"execute_then_reset"`)
	lost := send("lost")
	said := lost.refusedCompat(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	if ref := lost.header.Get("Larder-Order-Ref"); len(ref) != 26 || !strings.HasSuffix(said.Msg, " (ref "+ref+")") {
		t.Errorf("ref %q, msg %q", ref, said.Msg)
	}
	same(t, lost, send("lost"))
	resolve(lost, `{"operation":"create","outcome":"done","orderID":"1001"}`)
	if got := send("lost").is(t, http.StatusCreated); string(got.body) != `{"result":{"orderID":"1001"}}` || got.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("resolved done: %s %v", got.body, got.header)
	}

	tw.behind.fault("POST", `"do":"status","status":502,"body":"<html>"`)
	gone := send("gone")
	if string(gone.body) != "<html>" || gone.status != http.StatusBadGateway {
		t.Errorf("an error of unknown outcome: %d %s, want it unchanged", gone.status, gone.body)
	}
	same(t, gone, send("gone"))
	resolve(gone, `{"operation":"create","outcome":"not_done"}`)
	got := send("gone")
	if got.status != http.StatusBadGateway || !strings.Contains(string(got.body), `"code":"upstream_refused"`) || !strings.Contains(string(got.body), "an operator recorded this outcome") {
		t.Errorf("resolved not done: %d %s", got.status, got.body)
	}

	// Another change must wait for it.
	tw.behind.fault("pay", `"do":"execute_then_reset"`)
	pay := tw.put(createPath+"/1001/pay", payment, tw.shop...)
	pay.refusedCompat(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	same(t, pay, tw.put(createPath+"/1001/pay", payment, tw.shop...))
	tw.put(createPath+"/1001/complete", "", tw.shop...).refusedCompat(t, http.StatusConflict, "outcome_unknown")
	resolve(pay, `{"operation":"pay","outcome":"done"}`)
	if got := tw.put(createPath+"/1001/pay", payment, tw.shop...).is(t, http.StatusOK); string(got.body) != `{"result":{}}` {
		t.Errorf("resolved payment: %s", got.body)
	}
	tw.put(createPath+"/1001/complete", "", tw.shop...).is(t, http.StatusOK)

	// Rejected for now: nothing was sent, and the key can be used again.
	tw.behind.faults(`[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"do":"status","status":429,"retryAfter":60}]`)
	away := send("away")
	away.refusedCompat(t, http.StatusServiceUnavailable, "upstream_unavailable")
	if away.header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", away.header.Get("Retry-After"))
	}
	tw.behind.faults(`[]`)
	if got := send("away").is(t, http.StatusCreated); got.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("after it was turned away: %v", got.header)
	}
	// A redirect is not a response of the interface.
	tw.behind.fault("POST", fault("status", 302, "", ""))
	send("moved").refusedCompat(t, http.StatusBadGateway, "upstream_refused")
}

// fixedOrders is an order engine with fixed results.
type fixedOrders struct {
	httpapi.Orders
	result ordering.Result
}

func (t *fixedOrders) Place(context.Context, ordering.PlaceRequest) (ordering.Result, error) {
	return t.result, nil
}

func (t *fixedOrders) Change(context.Context, ordering.ChangeRequest) (ordering.Result, error) {
	return t.result, nil
}

// If the body of a response is lost, the client gets the stored parts.
func TestLostAnswersOnTheCompatibleAPI(t *testing.T) {
	t.Parallel()
	orders := &fixedOrders{}
	w := newFixture(t, func(p *plan) { p.cfg.Rate, p.orders = httpapi.RateConfig{}, orders })
	w.syncOnce("@main")
	shop := w.as(clientShop)
	person := &ordering.ResolvedBy{By: "ops", Resolution: ordering.ResolvedDone}
	const done, refused = ordering.OutcomeDone, ordering.OutcomeRefused
	for name, test := range map[string]struct {
		call   ordering.Call
		status int
		body   string
	}{
		"a created order": {
			ordering.Call{Operation: upstream.OpCreate, Outcome: done, Answer: &ordering.Answer{Status: 202}}, 202, `{"result":{"orderID":"7\"5"}}`,
		},
		"a created order, too much said": {
			ordering.Call{Operation: upstream.OpCreate, Outcome: done, Answer: &ordering.Answer{Status: 201, Body: []byte("{"), Cut: true}},
			201, `{"result":{"orderID":"7\"5"}}`,
		},
		"a created order, by a person": {
			ordering.Call{
				Operation: upstream.OpCreate,
				Outcome:   done,
				Answer:    &ordering.Answer{Status: 502, Body: []byte("<h1>")},
				Resolved:  person,
			},
			201, `{"result":{"orderID":"7\"5"}}`,
		},
		"a payment, by a person": {
			ordering.Call{
				Operation: upstream.OpPay,
				Outcome:   done,
				Answer:    &ordering.Answer{Status: 500, Code: "x"},
				Resolved:  person,
			}, 200, `{"result":{}}`,
		},
		"a payment, too much said": {
			ordering.Call{Operation: upstream.OpPay, Outcome: done, Answer: &ordering.Answer{Status: 203, Body: []byte("["), Cut: true}}, 203, `{"result":{}}`,
		},
		"a payment of which nothing is known but that it is done": {
			ordering.Call{Operation: upstream.OpPay, Outcome: done}, 200, `{"result":{}}`,
		},
		"a completion, without words": {
			ordering.Call{Operation: upstream.OpComplete, Outcome: done, Answer: &ordering.Answer{Status: 200}}, 200, ``,
		},
		"a refusal": {
			ordering.Call{
				Operation: upstream.OpComplete,
				Outcome:   refused,
				RequestID: "r-1",
				Answer:    &ordering.Answer{Status: 500, Code: "pos_close_order"},
			},
			500, `{"code":"pos_close_order","msg":"the ordering service refused the completion","requestId":"r-1","errors":null}`,
		},
		"a refusal, too much said": {
			ordering.Call{
				Operation: upstream.OpReject,
				Outcome:   refused,
				RequestID: "r-1",
				Answer:    &ordering.Answer{Status: 413, Body: []byte("no"), Cut: true},
			},
			413, `{"code":"upstream_refused","msg":"the ordering service refused the rejection","requestId":"r-1","errors":null}`,
		},
	} {
		orders.result = ordering.Result{Record: ordering.Record{Ref: "01M7Y8QA4QWWYYW2ZDGBAPXMW3", OrderID: "7\"5"}, Call: test.call}
		method, path, body := http.MethodPut, createPath+"/7/"+string(test.call.Operation), "[]"
		if test.call.Operation == upstream.OpCreate {
			method, path = http.MethodPost, createPath
		}
		got := w.do(method, path, body, shop...)
		if got.status != test.status || string(got.body) != test.body {
			t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, test.status, test.body)
		}
		if got.header.Get("Larder-Order-Ref") != orders.result.Record.Ref {
			t.Errorf("%s: Larder-Order-Ref %q", name, got.header.Get("Larder-Order-Ref"))
		}
	}
	// A part of an error says nothing certain.
	orders.result.Call = ordering.Call{Operation: upstream.OpReject, Outcome: ordering.OutcomeUnknown, Answer: &ordering.Answer{Status: 500, Code: "x", Cut: true}}
	w.do(http.MethodPut, createPath+"/7/reject", "[]", shop...).refusedCompat(t, http.StatusGatewayTimeout, "order_outcome_unknown")
}
