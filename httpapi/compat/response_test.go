package compat_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
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
		"refused":           {"POST", apitest.Fault("status", 422, refusal, ""), 422, "application/json; charset=utf-8", refusal},
		"refused with 500":  {"POST", apitest.Fault("status", 500, refusal, "application/problem+json"), 500, "application/problem+json", refusal},
		"refused in HTML":   {"POST", apitest.Fault("status", 403, "<h1>no</h1>", "text/html"), 403, "text/html", "<h1>no</h1>"},
		"refused, no words": {"POST", apitest.Fault("status", 404, "", ""), 404, "", ""},
		"other 2xx":         {"POST", apitest.Fault("execute_then_status", 200, `{"orderId": 9007199254740993}`, "text/json"), 200, "text/json", `{"orderId": 9007199254740993}`},
		"a payment refused": {"pay", apitest.Fault("status", 418, "teapot", ""), 418, "text/plain; charset=utf-8", "teapot"},
		"other JSON":        {"pay", apitest.Fault("status", 202, `{"ok": true}`, ""), 202, "application/json; charset=utf-8", `{"ok": true}`},
		"no words":          {"pay", apitest.Fault("status", 200, "", ""), 200, "", ""},
		"no content":        {"reject", apitest.Fault("status", 204, "", ""), 204, "", ""},
		"completed":         {"complete", apitest.Fault("status", 200, `{"result":null}`, ""), 200, "application/json; charset=utf-8", `{"result":null}`},
		"much said":         {"POST", apitest.Fault("status", 400, `{"code":"long","msg":"much","requestId":"u","errors":"`+strings.Repeat("x", 70<<10)+`"}`, ""), 400, "application/json; charset=utf-8", long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tw := apitest.NewCompat(t)
			method, path := http.MethodPost, apitest.CreatePath
			body := map[string]string{"POST": apitest.POSOrder(), "pay": apitest.Payment, "reject": apitest.Reject}[test.call]
			if test.call != "POST" {
				tw.Post(apitest.CreatePath, apitest.POSOrder(), tw.Shop...).Is(t, http.StatusCreated)
				method, path = http.MethodPut, apitest.CreatePath+"/1001/"+test.call
			}
			send := func(id string) apitest.Reply {
				return tw.Do(method, path, body, append(append(apitest.Key("k"), "X-Request-Id", id), tw.Shop...)...)
			}
			tw.Behind.Fault(test.call, test.fault)
			got := send("first")
			if got.Status != test.status || got.Header.Get("Content-Type") != test.media {
				t.Errorf("got %d %q %s, want %d %q", got.Status, got.Header.Get("Content-Type"), got.Body, test.status, test.media)
			}
			if test.body != long && string(got.Body) != test.body {
				t.Errorf("got\n%s\nwant\n%s", got.Body, test.body)
			}
			if test.body == long {
				var shape apitest.CompatError
				if err := json.Unmarshal(got.Body, &shape); err != nil || shape.Code != "long" || shape.Msg != "much" || shape.RequestID != "u" {
					t.Errorf("got %.300s: %v", got.Body, err)
				}
			}
			if len(got.Header.Get("Larder-Order-Ref")) != 26 || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("header %v", got.Header)
			}
			if got.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || got.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("what is passed on may run in a browser: header %v", got.Header)
			}
			apitest.SameReplay(t, got, send("again"))
		})
	}
}

// Uncertain outcomes, and outcomes that a person resolved, get larder's own response.
func TestUncertainOutcomesOnTheCompatibleAPI_O15(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	ops := tw.As(apitest.ClientOps)
	body := apitest.POSOrder()
	send := func(k string) apitest.Reply {
		return tw.Post(apitest.CreatePath, body, append(apitest.Key(k), tw.Shop...)...)
	}
	resolve := func(lost apitest.Reply, resolution string) {
		t.Helper()
		tw.Post("/v1/ops/orders/"+lost.Header.Get("Larder-Order-Ref")+"/resolve", resolution, ops...).Is(t, http.StatusOK)
	}

	tw.Behind.Fault("POST", `"do":"execute_then_reset"`)
	lost := send("lost")
	said := lost.RefusedCompat(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	if ref := lost.Header.Get("Larder-Order-Ref"); len(ref) != 26 || !strings.HasSuffix(said.Msg, " (ref "+ref+")") {
		t.Errorf("ref %q, msg %q", ref, said.Msg)
	}
	apitest.SameReplay(t, lost, send("lost"))
	resolve(lost, `{"operation":"create","outcome":"done","orderID":"1001"}`)
	if got := send("lost").Is(t, http.StatusCreated); string(got.Body) != `{"result":{"orderID":"1001"}}` || got.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("resolved done: %s %v", got.Body, got.Header)
	}

	tw.Behind.Fault("POST", `"do":"status","status":502,"body":"<html>"`)
	gone := send("gone")
	if string(gone.Body) != "<html>" || gone.Status != http.StatusBadGateway {
		t.Errorf("an error of unknown outcome: %d %s, want it unchanged", gone.Status, gone.Body)
	}
	apitest.SameReplay(t, gone, send("gone"))
	resolve(gone, `{"operation":"create","outcome":"not_done"}`)
	got := send("gone")
	if got.Status != http.StatusBadGateway || !strings.Contains(string(got.Body), `"code":"upstream_refused"`) || !strings.Contains(string(got.Body), "an operator recorded this outcome") {
		t.Errorf("resolved not done: %d %s", got.Status, got.Body)
	}

	// Another change must wait for it.
	tw.Behind.Fault("pay", `"do":"execute_then_reset"`)
	pay := tw.Put(apitest.CreatePath+"/1001/pay", apitest.Payment, tw.Shop...)
	pay.RefusedCompat(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	apitest.SameReplay(t, pay, tw.Put(apitest.CreatePath+"/1001/pay", apitest.Payment, tw.Shop...))
	tw.Put(apitest.CreatePath+"/1001/complete", "", tw.Shop...).RefusedCompat(t, http.StatusConflict, "outcome_unknown")
	resolve(pay, `{"operation":"pay","outcome":"send_again"}`) // the service answers 409 order_already_paid (policy O8b)
	if got := tw.Put(apitest.CreatePath+"/1001/pay", apitest.Payment, tw.Shop...); got.Status != http.StatusGatewayTimeout {
		t.Errorf("the second copy: %d %s", got.Status, got.Body)
	}
	resolve(pay, `{"operation":"pay","outcome":"done"}`)
	if got := tw.Put(apitest.CreatePath+"/1001/pay", apitest.Payment, tw.Shop...).Is(t, http.StatusOK); string(got.Body) != `{"result":{}}` {
		t.Errorf("resolved payment: %s", got.Body)
	}
	tw.Put(apitest.CreatePath+"/1001/complete", "", tw.Shop...).Is(t, http.StatusOK)

	// Rejected for now: nothing was sent, and the key can be used again.
	tw.Behind.Faults(`[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"do":"status","status":429,"retryAfter":60}]`)
	away := send("away")
	away.RefusedCompat(t, http.StatusServiceUnavailable, "upstream_unavailable")
	if away.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", away.Header.Get("Retry-After"))
	}
	tw.Behind.Faults(`[]`)
	if got := send("away").Is(t, http.StatusCreated); got.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("after it was turned away: %v", got.Header)
	}
	// A redirect is not a response of the interface.
	tw.Behind.Fault("POST", apitest.Fault("status", 302, "", ""))
	send("moved").RefusedCompat(t, http.StatusBadGateway, "upstream_refused")
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
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate, p.Orders = httpapi.RateConfig{}, orders })
	w.SyncOnce("@main")
	shop := w.As(apitest.ClientShop)
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
		method, path, body := http.MethodPut, apitest.CreatePath+"/7/"+string(test.call.Operation), "[]"
		if test.call.Operation == upstream.OpCreate {
			method, path = http.MethodPost, apitest.CreatePath
		}
		got := w.Do(method, path, body, shop...)
		if got.Status != test.status || string(got.Body) != test.body {
			t.Errorf("%s: %d %s, want %d %s", name, got.Status, got.Body, test.status, test.body)
		}
		if got.Header.Get("Larder-Order-Ref") != orders.result.Record.Ref {
			t.Errorf("%s: Larder-Order-Ref %q", name, got.Header.Get("Larder-Order-Ref"))
		}
	}
	// A part of an error says nothing certain.
	orders.result.Call = ordering.Call{Operation: upstream.OpReject, Outcome: ordering.OutcomeUnknown, Answer: &ordering.Answer{Status: 500, Code: "x", Cut: true}}
	w.Do(http.MethodPut, apitest.CreatePath+"/7/reject", "[]", shop...).RefusedCompat(t, http.StatusGatewayTimeout, "order_outcome_unknown")
}
