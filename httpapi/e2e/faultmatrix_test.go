package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// TestFaultMatrix_O8 combines every fault of the ordering service with every call on both APIs, with a
// complete instance and a real Redis. It checks the response, how often the ordering service was
// called and how often it executed the call, the record in the journal, and the response to a
// repeated request.
func TestFaultMatrix_O8(t *testing.T) {
	t.Parallel()
	groups := map[string]func(faultRow) bool{
		"at once":                func(r faultRow) bool { return !r.hasty && !r.slow && !r.repeats },
		"with pauses":            func(r faultRow) bool { return r.slow },
		"with an hurry":          func(r faultRow) bool { return r.hasty },
		"with retry_unavailable": func(r faultRow) bool { return r.repeats },
	}
	for group, holds := range groups {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			m := newMatrix(t, group == "with retry_unavailable")
			for _, row := range faultRows() {
				if !holds(row) {
					continue
				}
				for _, operation := range []ordering.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
					if row.newOrders && operation != upstream.OpCreate {
						continue
					}
					m.meet(t, row, operation, v1API{}, true)
					if row.slow || row.hasty || row.repeats {
						continue // slow cases run once
					}
					if operation != upstream.OpCreate { // this needs a key
						m.meet(t, row, operation, v1API{}, false)
					}
					m.meet(t, row, operation, compatAPI{}, true)
					m.meet(t, row, operation, compatAPI{}, false)
				}
			}
		})
	}
}

// matrix is an order fixture whose calls can have a short time limit.
type matrix struct {
	*apitest.OrderFixture
	limits *limited
	number int // number of the cell, for its keys
}

func newMatrix(t *testing.T, retryUnavailable bool) *matrix {
	t.Helper()
	m := &matrix{}
	m.OrderFixture = apitest.NewOrders(t, func(p *apitest.Plan) {
		before, ok := p.Services["main"].(*apitest.Sandbox)
		if !ok {
			t.Fatal("connection main has no sandbox")
		}
		m.limits = limit(t, before, retryUnavailable)
		p.Services["main"] = m.limits
	})
	return m
}

// cell is one combination of a fault and a call.
type cell struct {
	*matrix
	t         *testing.T
	row       faultRow
	operation ordering.Operation
	api       orderAPI
	keyed     bool // the request has its own key
	orderID   string
	send      func() apitest.Reply
}

// meet runs one cell. keyed is true if the request has its own key.
func (m *matrix) meet(t *testing.T, row faultRow, operation ordering.Operation, on orderAPI, keyed bool) {
	t.Helper()
	name := fmt.Sprintf("%s/%s %T", row.name, operation, on)
	if !keyed {
		name += " without a key"
	}
	t.Run(name, func(t *testing.T) {
		m.number++
		c := &cell{
			matrix:    m,
			t:         t,
			row:       row,
			operation: operation,
			api:       on,
			keyed:     keyed,
		}
		c.prepare()
		before := countsOf(m.Main, operation)
		m.Main.Faults(row.list(operation))
		if row.hasty {
			m.limits.hurry.Store(&counted{row.calls, row.executed})
		}
		first := c.send()
		m.limits.hurry.Store(nil)
		m.Main.Faults("[]")
		after := countsOf(m.Main, operation)
		if got := (counted{after.Calls - before.Calls, after.Executed - before.Executed}); got != (counted{row.calls, row.executed}) {
			t.Errorf("the service was called %d times and did it %d times, want %d and %d", got.Calls, got.Executed, row.calls, row.executed)
		}
		ref := c.checkAnswer(first)
		c.checkRecord(ref)
		c.checkOthers()
		c.checkAgain(first, after)
	})
}

// prepare creates the order to change and returns the request.
func (c *cell) prepare() {
	c.t.Helper()
	var headers []string
	if c.keyed {
		headers = apitest.Key(fmt.Sprintf("cell-%d", c.number))
	}
	if c.operation == upstream.OpCreate {
		body := apitest.Order()
		c.send = func() apitest.Reply {
			return c.Post(c.api.orders(), strings.Replace(body, "{", `{"restaurantID": "`+apitest.Bistro+`",`, 1), slices.Concat(headers, c.Shop)...)
		}
		return
	}
	c.orderID = c.Place(fmt.Sprintf("before-%d", c.number)).OrderID
	body := map[ordering.Operation]string{upstream.OpPay: apitest.Payment, upstream.OpReject: apitest.Reject}[c.operation]
	if c.operation == upstream.OpComplete {
		c.Change(c.orderID, "pay", apitest.Payment).Is(c.t, http.StatusOK)
	}
	c.send = func() apitest.Reply {
		return c.Put(c.api.order(c.orderID)+"/"+string(c.operation), body, slices.Concat(headers, c.Shop)...)
	}
}

// outcome returns the expected outcome of the cell.
func (c *cell) outcome() ordering.Outcome { return c.row.of(c.operation) }

// checkAnswer checks the client's response and returns the order's ref.
func (c *cell) checkAnswer(got apitest.Reply) (ref string) {
	c.t.Helper()
	switch c.outcome() {
	case ordering.OutcomeDone:
		return c.api.done(c, got)
	case ordering.OutcomeRefused:
		return c.api.refused(c, got)
	case ordering.OutcomeNotSent:
		want := c.row.retryAfter
		if want == "" {
			want = "1"
		}
		if wait := got.Header.Get("Retry-After"); wait != want {
			c.t.Errorf("Retry-After %q, want %q", wait, want)
		}
		return c.api.problem(c, got, http.StatusServiceUnavailable, "upstream_unavailable")
	default:
		return c.api.unknown(c, got)
	}
}

// checkRecord checks the journal's record of the call.
func (c *cell) checkRecord(ref string) {
	c.t.Helper()
	record, err := c.Journal.Record(c.t.Context(), []string{"main"}, ref)
	if err != nil {
		c.t.Fatalf("record of %q: %v", ref, err)
	}
	state, paid := c.stands()
	if record.State != state || record.Paid != paid {
		c.t.Errorf("the order is %s, paid %v, in the journal; want %s, %v", record.State, record.Paid, state, paid)
	}
	call, ok := record.Last(c.operation)
	tries := max(c.row.tries, c.row.calls)
	if !ok || call.Outcome != c.outcome() || len(call.Attempts) != tries || call.EndedAt.IsZero() {
		c.t.Fatalf("the journal has the call %+v, want outcome %s after %d tries", call, c.outcome(), tries)
	}
	if last := call.Attempts[tries-1]; last.Outcome != c.outcome() || last.At.IsZero() || last.Status != c.answered() {
		c.t.Errorf("the last try is %+v, want outcome %s, status %d", last, c.outcome(), c.answered())
	}
	for _, try := range call.Attempts[:tries-1] {
		if try.Outcome != ordering.OutcomeNotSent {
			c.t.Errorf("a try that was followed by another is %+v, want it not sent", try)
		}
	}
	switch {
	case c.row.status == 0:
		if call.Answer != nil {
			c.t.Errorf("the journal has the answer %+v, there was none", call.Answer)
		}
	case call.Answer == nil || call.Answer.Status != c.answered():
		c.t.Errorf("the journal has the answer %+v, want status %d", call.Answer, c.answered())
	}
}

// answered returns the status of the ordering service's last response. A created order returns 201
// and other calls 200, unless the fault sets the status.
func (c *cell) answered() int {
	if c.operation == upstream.OpCreate && c.row.status == http.StatusOK && c.row.executed > 0 && !c.row.mute {
		return http.StatusCreated
	}
	return c.row.status
}

// stateAfter has the state of an order after each call that took effect.
func stateAfter() map[ordering.Operation]ordering.State {
	return map[ordering.Operation]ordering.State{
		upstream.OpCreate: ordering.StatePlaced, upstream.OpPay: ordering.StatePlaced,
		upstream.OpComplete: ordering.StateClosed, upstream.OpReject: ordering.StateRejected,
	}
}

// stands returns the expected state of the order after the call.
func (c *cell) stands() (state ordering.State, paid bool) {
	done := c.outcome() == ordering.OutcomeDone
	paid = c.operation == upstream.OpComplete || (c.operation == upstream.OpPay && done)
	switch {
	case done:
		return stateAfter()[c.operation], paid
	case c.operation == upstream.OpCreate:
		return map[ordering.Outcome]ordering.State{
			ordering.OutcomeRefused: ordering.StateRefused, ordering.OutcomeNotSent: ordering.StateNotSent,
			ordering.OutcomeUnknown: ordering.StateUnknown,
		}[c.outcome()], paid
	default:
		return ordering.StatePlaced, paid
	}
}

// checkOthers checks that while the outcome of a change is unknown, other changes are rejected,
// whatever their key (policy O9).
func (c *cell) checkOthers() {
	c.t.Helper()
	if c.outcome() != ordering.OutcomeUnknown || c.orderID == "" {
		return
	}
	other, body := upstream.OpReject, apitest.Reject
	if c.operation == upstream.OpReject {
		other, body = upstream.OpPay, apitest.Payment
	}
	before := countsOf(c.Main, other)
	got := c.Put(c.api.order(c.orderID)+"/"+string(other), body, slices.Concat(apitest.Key(fmt.Sprintf("other-%d", c.number)), c.Shop)...)
	c.api.problem(c, got, http.StatusConflict, "outcome_unknown")
	if after := countsOf(c.Main, other); after != before {
		c.t.Errorf("another change reached the service while the outcome was unknown")
	}
}

// checkAgain repeats the request while the ordering service works. The result of a call that was
// done, refused or unknown is repeated. A call that was not sent is sent, and so is a call that was
// refused under a key that larder created. An order without a key is always sent.
func (c *cell) checkAgain(first apitest.Reply, before counted) {
	c.t.Helper()
	again := c.send()
	after := countsOf(c.Main, c.operation)
	made := counted{after.Calls - before.Calls, after.Executed - before.Executed}
	forgotten := !c.keyed && (c.operation == upstream.OpCreate || c.outcome() == ordering.OutcomeRefused)
	if c.outcome() != ordering.OutcomeNotSent && !forgotten {
		apitest.SameReplay(c.t, first, again)
		if made != (counted{}) {
			c.t.Errorf("sent again: the service was called %d times, want a replay", made.Calls)
		}
		return
	}
	if made != (counted{1, 1}) || again.Header.Get("Idempotent-Replayed") != "" {
		c.t.Errorf("sent again: the service was called %d times and did it %d times, want once; replayed %q",
			made.Calls, made.Executed, again.Header.Get("Idempotent-Replayed"))
	}
	c.row = faultRow{
		name:     "none",
		outcome:  ordering.OutcomeDone,
		status:   http.StatusOK,
		calls:    1,
		executed: 1,
	}
	c.api.done(c, again)
}
