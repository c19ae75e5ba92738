package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// faultRow is one fault of the sandbox and the expected result of a call with it (policy O8).
type faultRow struct {
	name string
	// do is the fault without its match. The elements apply one after the other.
	do []string
	// always: the fault applies every time; otherwise each element applies once.
	always bool
	// outcome is the outcome of the call; create and pay are those of a create and a payment if they differ.
	outcome, create, pay ordering.Outcome
	// status is that of the ordering service's last response, 0 for none; mute: the response has no
	// body.
	status int
	mute   bool
	// said is a part of the body of an error; empty means inShape, unless mute is true.
	said string
	// calls reached the ordering service; executed took effect there.
	calls, executed int
	// tries is more than calls if some attempts did not reach the ordering service.
	tries int
	// RetryAfter is the expected Retry-After if the client may retry; empty means "1".
	retryAfter string
	// hasty: only the end of the call's time ends it.
	hasty bool
	// slow: there are pauses between attempts, so the case runs in one variant only.
	slow bool
	// repeats: retry_unavailable is true. newOrders: the row is for new orders only.
	repeats, newOrders bool
}

// body returns a part of the body of an error.
func (r faultRow) body() string {
	if r.mute {
		return ""
	}
	return cmp.Or(r.said, inShape)
}

// say returns a fault that answers with a status and a body.
func say(status int, body string) string { return answerFault("status", status, body) }

func answerFault(do string, status int, body string) string {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`"do":%q,"status":%d,"body":%s,"headers":{"Content-Type":"application/json","Location":"/elsewhere"}`, do, status, text)
}

const (
	inShape  = `{"code":"kitchen_busy","msg":"no","requestId":"u-1","errors":["one","two"]}`
	longWait = `"do":"status","status":503,"retryAfter":600`
)

// faultRows lists all faults that the sandbox can produce.
func faultRows() []faultRow {
	const done, refused, notSent, unknown = ordering.OutcomeDone, ordering.OutcomeRefused, ordering.OutcomeNotSent, ordering.OutcomeUnknown
	rows := []faultRow{
		{name: "none", outcome: done, status: 200, calls: 1, executed: 1},
		{name: "a 2xx of nothing", do: []string{answerFault("execute_then_status", 200, "")}, outcome: done, create: unknown, status: 200, mute: true, calls: 1, executed: 1},
		{name: "a 204", do: []string{answerFault("execute_then_status", 204, "")}, outcome: done, create: unknown, status: 204, mute: true, calls: 1, executed: 1},
		{name: "a 2xx in the error shape", do: []string{say(200, inShape)}, outcome: refused, create: unknown, pay: unknown, status: 200, calls: 1},
		{name: "a redirect", do: []string{say(307, "")}, outcome: refused, status: 307, mute: true, calls: 1},
		{name: "408", do: []string{say(408, inShape)}, outcome: unknown, status: 408, calls: 1},
		{name: "500, after all", do: []string{answerFault("execute_then_status", 500, "oops")}, outcome: unknown, status: 500, said: "oops", calls: 1, executed: 1},
		{name: "599", do: []string{say(599, `{"code":"alone"}`)}, outcome: unknown, status: 599, said: `{"code":"alone"}`, calls: 1},
		{name: "html", do: []string{`"do":"html"`}, outcome: unknown, status: 502, said: "<html>", calls: 1},
		{name: "html with 403", do: []string{`"do":"html","status":403`}, outcome: refused, status: 403, said: "<html>", calls: 1},
		{name: "garbage", do: []string{`"do":"garbage"`}, outcome: unknown, status: 200, calls: 1},
		{name: "half an answer", do: []string{`"do":"truncate","after":7`}, outcome: unknown, status: 200, calls: 1, executed: 1},
		{name: "a reset before", do: []string{`"do":"reset_before"`}, outcome: unknown, calls: 1},
		{name: "a reset after", do: []string{`"do":"execute_then_reset"`}, outcome: unknown, calls: 1, executed: 1},
		{name: "latency", do: []string{`"do":"latency","delay":"50ms"`}, outcome: done, status: 200, calls: 1, executed: 1},
		{name: "latency without end", do: []string{`"do":"latency","delay":"1h"`}, outcome: unknown, calls: 1, hasty: true},
		{name: "a hang", do: []string{`"do":"hang"`}, outcome: unknown, calls: 1, hasty: true},
		{name: "a hang after", do: []string{`"do":"execute_then_hang"`}, outcome: unknown, calls: 1, executed: 1, hasty: true},
		{name: "tokens expire", do: []string{`"do":"expire_tokens"`}, outcome: done, status: 200, calls: 2, executed: 1},
		{name: "401 once", do: []string{say(401, "")}, outcome: done, status: 200, calls: 2, executed: 1},
		{name: "401", do: []string{say(401, inShape)}, always: true, outcome: notSent, status: 401, calls: 2},
		{name: "401, then a reset", do: []string{say(401, ""), `"do":"execute_then_reset"`}, outcome: unknown, calls: 2, executed: 1},
		{name: "429", do: []string{say(429, inShape)}, always: true, outcome: notSent, status: 429, calls: 4, slow: true},
		{name: "429, then a refusal", do: []string{say(429, ""), say(422, inShape)}, outcome: refused, status: 422, calls: 2, slow: true},
		{name: "429 and a wait beyond all limits", do: []string{strings.Replace(longWait, "503", "429", 1)}, always: true, outcome: notSent, status: 429, calls: 1, retryAfter: "600"},
		{name: "503, repeated", repeats: true, do: []string{say(503, "")}, always: true, outcome: notSent, status: 503, calls: 4},
		{name: "503 twice", repeats: true, do: []string{say(503, inShape), say(503, "")}, outcome: done, status: 200, calls: 3, executed: 1},
		{name: "503 with Retry-After", repeats: true, do: []string{`"do":"status","status":503,"retryAfter":1`}, outcome: done, status: 200, calls: 2, executed: 1},
		{name: "503 and a wait beyond all limits", repeats: true, do: []string{longWait}, always: true, outcome: notSent, status: 503, calls: 1, retryAfter: "600"},
		{name: "503, then a reset", repeats: true, do: []string{say(503, ""), `"do":"reset_before"`}, outcome: unknown, calls: 2},
		// What retry_unavailable presumes is not true here, so the service has two orders (docs/policies.md, O8b).
		{name: "503 after all, repeated", repeats: true, newOrders: true, do: []string{answerFault("execute_then_status", 503, inShape)}, outcome: done, status: 200, calls: 2, executed: 2},
	}
	for _, status := range []int{400, 402, 403, 404, 405, 410, 413, 418, 422, 423, 451, 499} {
		rows = append(rows, faultRow{
			name:    strconv.Itoa(status),
			do:      []string{say(status, inShape)},
			outcome: refused,
			status:  status,
			calls:   1,
		})
	}
	return slices.Concat(rows, certaintyRows(), unavailableRows())
}

// certaintyRows combines statuses with shapes of bodies (policy O8b).
func certaintyRows() (rows []faultRow) {
	const refused, notSent, unknown = ordering.OutcomeRefused, ordering.OutcomeNotSent, ordering.OutcomeUnknown
	for name, body := range map[string]string{"in the error shape": inShape, "JSON": `{"detail":"no"}`, "HTML": "<html>no", "empty": ""} {
		for _, status := range []int{303, 409, 425, 500, 501, 502, 503, 504, 520} {
			row := faultRow{
				name: fmt.Sprintf("%d, %s", status, name), do: []string{say(status, body)},
				outcome: unknown, status: status, said: body, mute: body == "", calls: 1,
			}
			switch {
			case status == http.StatusConflict: // the order may exist
				row.outcome, row.create = refused, unknown
			case status == http.StatusTooEarly:
				row.outcome, row.always, row.calls, row.slow = notSent, true, 4, true
			case status == http.StatusInternalServerError && body == inShape:
				row.outcome, row.create, row.pay = refused, unknown, unknown
			}
			rows = append(rows, row)
		}
	}
	for msg, outcome := range map[string]ordering.Outcome{"the cash desk is closed": refused, "creation timeout expired": unknown} {
		for _, status := range []int{200, 500} {
			body := `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"` + msg + `"}`
			rows = append(rows, faultRow{
				name: fmt.Sprintf("%d of the POS: %s", status, msg), do: []string{say(status, body)},
				outcome: outcome, create: unknown, status: status, said: body, calls: 1,
			})
		}
	}
	return rows
}

// unavailableRows are those of a 503 without retry_unavailable: nothing is sent twice, whether or not the service has
// executed the call (policy O8b).
func unavailableRows() (rows []faultRow) {
	for executed, do := range []string{"status", "execute_then_status"} {
		for _, body := range []string{"", inShape} {
			for _, wait := range []string{"", `,"retryAfter":1`} {
				rows = append(rows, faultRow{
					name: fmt.Sprintf("503, %s %q%s", do, body, wait), do: []string{answerFault(do, 503, body) + wait},
					outcome: ordering.OutcomeUnknown, status: 503, mute: body == "", calls: 1, executed: executed,
				})
			}
		}
	}
	return rows
}

// of returns the expected outcome of an operation.
func (r faultRow) of(operation ordering.Operation) ordering.Outcome {
	switch {
	case operation == upstream.OpCreate && r.create != "":
		return r.create
	case operation == upstream.OpPay && r.pay != "":
		return r.pay
	}
	return r.outcome
}

// list returns the row in the sandbox's format.
func (r faultRow) list(operation ordering.Operation) string {
	match := `{"method":"PUT","path":"/orders/api/v1/orders/*/` + string(operation) + `"}`
	if operation == upstream.OpCreate {
		match = `{"method":"POST","path":"/orders/api/v1/orders"}`
	}
	once := `,"times":1`
	if r.always {
		once = ""
	}
	faults := make([]string, 0, len(r.do))
	for _, do := range r.do {
		faults = append(faults, `{"match":`+match+`,`+do+once+`}`)
	}
	return "[" + strings.Join(faults, ",") + "]"
}

// limited is an ordering service that can end a call as if its time were over, once the service has received it, and
// has executed it if it does.
type limited struct {
	*upstream.Client
	of    *apitest.Sandbox
	hurry atomic.Pointer[counted] // what the service has done when the call ends; nil: the call is not ended
}

// overdue is a context that ends like one whose time is over. It has no deadline, so the call's connection has none.
type overdue struct {
	context.Context //nolint:containedctx // its values; its end is that of the embedded one
}

// Err implements context.Context.
func (o overdue) Err() error {
	if o.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// within returns the context for a call, and a function that ends it.
func (l *limited) within(ctx context.Context, operation ordering.Operation) (context.Context, func()) {
	want := l.hurry.Load()
	if want == nil {
		return ctx, func() {}
	}
	before := countsOf(l.of, operation)
	ended, end := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer end(context.DeadlineExceeded)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			now := countsOf(l.of, operation) //nolint:contextcheck // the request has the test's context
			if now.Calls-before.Calls >= want.Calls && now.Executed-before.Executed >= want.Executed {
				break
			}
			select {
			case <-tick.C:
			case <-ended.Done(): // the call failed before it reached the service
				return
			}
		}
	}()
	return overdue{ended}, func() { end(context.Canceled); <-done }
}

func (l *limited) Write(ctx context.Context, r upstream.WriteRequest) (upstream.Answer, error) {
	ctx, end := l.within(ctx, r.Operation)
	defer end()
	return l.Client.Write(ctx, r)
}

// limit puts a limited ordering service in front of a fixture's sandbox.
func limit(t *testing.T, of *apitest.Sandbox, retryUnavailable bool) *limited {
	t.Helper()
	client, err := upstream.New(upstream.Config{
		Name:         "main",
		BaseURL:      of.Base,
		AuthURL:      of.Base,
		ClientID:     "demo",
		ClientSecret: "demo-secret",

		RetryUnavailable: retryUnavailable,
	}, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &limited{Client: client, of: of}
}

// counted has the sandbox's counters of one operation.
type counted struct{ Calls, Executed int }

// countsOf returns the sandbox's counters of an operation.
func countsOf(s *apitest.Sandbox, operation ordering.Operation) counted {
	s.T.Helper()
	var all struct{ Calls, Executed map[string]int }
	apitest.Do(s.T, http.MethodGet, s.Base+"/sandbox/counters", "").Is(s.T, http.StatusOK).Into(s.T, &all)
	name := "PUT /orders/api/v1/orders/{id}/" + string(operation)
	if operation == upstream.OpCreate {
		name = "POST /orders/api/v1/orders"
	}
	return counted{all.Calls[name], all.Executed[name]}
}

// DoubtResponses implements ordering.Service.
func (l *limited) DoubtResponses() {}
