package journaltest

import (
	"fmt"
	"testing"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// answer returns an answer with every field set.
func answer(status int) *ordering.Answer {
	return &ordering.Answer{
		Status:      status,
		ContentType: "application/json; charset=utf-8",
		Code:        "pos_close_order",
		Msg:         "не оплачено 🍲",
		RequestID:   "service-1",
		RetryAfter:  7 * time.Second,
		Body:        []byte("{\"code\":\"pos_close_order\"}\x00\xff\r\n"),
		Cut:         true,
	}
}

// attempts returns two exchanges.
func attempts(last int, outcome ordering.Outcome) []ordering.Attempt {
	at := time.Date(2030, 5, 1, 12, 0, 0, int(250*time.Millisecond), time.UTC)
	return []ordering.Attempt{
		{At: at, Duration: 1500 * time.Millisecond, Outcome: ordering.OutcomeNotSent},
		{At: at.Add(2 * time.Second), Duration: 20 * time.Millisecond, Status: last, Outcome: outcome, Code: "pos_close_order"},
	}
}

// opened begins a call of any operation; its order is "765" unless it creates.
func (j *journal) opened(t *testing.T, op ordering.Operation) ordering.Record {
	t.Helper()
	if op == upstream.OpCreate {
		return j.begun(t, create())
	}
	j.placed(t, "765")
	return j.begun(t, change(op, "765"))
}

// givenID returns the orderID in a result of the operation.
func givenID(op ordering.Operation, outcome ordering.Outcome) string {
	if op == upstream.OpCreate && outcome == ordering.OutcomeDone {
		return "765"
	}
	return ""
}

// leads returns the state that follows from an operation's outcome.
func leads(op ordering.Operation, outcome ordering.Outcome) ordering.State {
	switch {
	case op == upstream.OpCreate && outcome == ordering.OutcomeRefused:
		return ordering.StateRefused
	case op == upstream.OpCreate && outcome == ordering.OutcomeNotSent:
		return ordering.StateNotSent
	case op == upstream.OpCreate && outcome == ordering.OutcomeUnknown:
		return ordering.StateUnknown
	case op == upstream.OpComplete && outcome == ordering.OutcomeDone:
		return ordering.StateClosed
	case op == upstream.OpReject && outcome == ordering.OutcomeDone:
		return ordering.StateRejected
	default:
		return ordering.StatePlaced
	}
}

func outcomes() []ordering.Outcome {
	return []ordering.Outcome{
		ordering.OutcomeDone, ordering.OutcomeRefused, ordering.OutcomeNotSent, ordering.OutcomeUnknown,
	}
}

func (s suite) finish(t *testing.T) {
	for _, op := range operations() {
		for i, outcome := range append(outcomes(), outcomes()...) {
			known := i < len(outcomes())
			s.test(t, fmt.Sprintf("%s %s, known %t", op, outcome, known), func(t *testing.T, j *journal) {
				r := j.opened(t, op)
				n := len(r.Calls)
				e := resultOf(r, outcome, givenID(op, outcome))
				if !known {
					e.Known = nil
				}
				e.Attempts, e.Answer = attempts(500, outcome), answer(500)
				got, err := j.Finish(t.Context(), e)
				if err != nil {
					t.Fatalf("Finish: %v", err)
				}
				want := r
				want.State, want.UpdatedAt = leads(op, outcome), got.UpdatedAt
				want.Paid = op == upstream.OpPay && outcome == ordering.OutcomeDone
				if op == upstream.OpCreate && outcome == ordering.OutcomeDone {
					want.OrderID = "765"
				}
				call := &want.Calls[n-1]
				call.Outcome, call.Attempts, call.Answer, call.EndedAt = outcome, e.Attempts, e.Answer, got.UpdatedAt
				same(t, "Finish", got, want)
				same(t, "Record", j.now(t, r), want)
				if got.UpdatedAt.Before(r.UpdatedAt) {
					t.Errorf("UpdatedAt went back from %v to %v", r.UpdatedAt, got.UpdatedAt)
				}
				_, err = j.Order(t.Context(), conn, "765")
				if has := op != upstream.OpCreate || outcome == ordering.OutcomeDone; has != (err == nil) {
					t.Errorf("Order: %v, want it found: %t", err, has)
				}
				s.idempotent(t, j, e, want)
			})
		}
		s.test(t, string(op)+" without tries or answer", func(t *testing.T, j *journal) {
			r := j.ended(t, j.opened(t, op), ordering.OutcomeRefused, "")
			if call := j.now(t, r).Calls[len(r.Calls)-1]; call.Answer != nil || len(call.Attempts) != 0 {
				t.Errorf("the call has %d tries and the answer %v, want none", len(call.Attempts), call.Answer)
			}
		})
	}
	s.test(t, "an answer of full size is kept whole", func(t *testing.T, j *journal) {
		e := resultOf(j.begun(t, create()), ordering.OutcomeRefused, "")
		e.Answer = answer(422)
		e.Answer.Body = make([]byte, 64<<10)
		for i := range e.Answer.Body {
			e.Answer.Body[i] = byte(i % 251)
		}
		r, err := j.Finish(t.Context(), e)
		if err != nil {
			t.Fatalf("Finish: %v", err)
		}
		same(t, "the answer", j.now(t, r).Calls[0].Answer, e.Answer)
	})
	s.test(t, "an unknown result that arrives again adds nothing", func(t *testing.T, j *journal) {
		e := resultOf(j.begun(t, create()), ordering.OutcomeUnknown, "")
		e.Attempts = attempts(502, ordering.OutcomeUnknown)
		for range 2 {
			r, err := j.Finish(t.Context(), e)
			if err != nil {
				t.Fatalf("Finish: %v", err)
			}
			same(t, "Tries", j.now(t, r).Calls[0].Attempts, e.Attempts)
		}
	})
	s.test(t, "of no record or call", func(t *testing.T, j *journal) {
		r := j.begun(t, create())
		for what, e := range map[string]ordering.CallResult{
			"no record": {Connection: conn, Ref: id(), Call: 1, Outcome: ordering.OutcomeDone, OrderID: "765"},
			"no call":   {Connection: conn, Ref: r.Ref, Call: 2, Outcome: ordering.OutcomeDone, OrderID: "765"},
			"call 0":    {Connection: conn, Ref: r.Ref, Call: 0, Outcome: ordering.OutcomeDone, OrderID: "765"},
		} {
			_, err := j.Finish(t.Context(), e)
			wantIs(t, what, err, ordering.ErrNoOrder)
		}
		same(t, "the record", j.now(t, r), r)
	})
	s.test(t, "an order's whole life", func(t *testing.T, j *journal) {
		j.placed(t, "765")
		j.ended(t, j.begun(t, change(upstream.OpComplete, "765")), ordering.OutcomeRefused, "")
		j.ended(t, j.begun(t, change(upstream.OpPay, "765")), ordering.OutcomeNotSent, "")
		pay := change(upstream.OpPay, "765")
		j.ended(t, j.begun(t, pay), ordering.OutcomeDone, "")
		r := j.ended(t, j.begun(t, change(upstream.OpComplete, "765")), ordering.OutcomeDone, "")
		j.wantState(t, r, ordering.StateClosed, ordering.OutcomeDone)
		r = j.now(t, r)
		same(t, "Payments", r.Payments(), pay.Payments)
		for i, call := range r.Calls {
			if call.Number != i+1 {
				t.Errorf("call %d has the number %d", i+1, call.Number)
			}
		}
		if !r.Paid || len(r.Calls) != 5 {
			t.Errorf("paid %t with %d calls, want true with 5", r.Paid, len(r.Calls))
		}
	})
}

// idempotent: repeating a certain result changes nothing.
func (s suite) idempotent(t *testing.T, j *journal, e ordering.CallResult, want ordering.Record) {
	t.Helper()
	if !e.Outcome.Certain() {
		return
	}
	if _, err := j.Finish(t.Context(), e); err != nil {
		t.Errorf("the same Finish again: %v", err)
	}
	same(t, "Record after the same Finish again", j.now(t, want), want)
}

func (s suite) abort(t *testing.T) {
	for _, op := range operations() {
		for _, own := range []bool{true, false} {
			s.test(t, "a "+string(op)+" was not sent", func(t *testing.T, j *journal) {
				o := create()
				if op != upstream.OpCreate {
					j.placed(t, "765")
					o = change(op, "765")
				}
				o.Derived = !own
				r := j.begun(t, o)
				if err := j.Abort(t.Context(), o); err != nil {
					t.Fatalf("Abort: %v", err)
				}
				got := j.now(t, r)
				j.wantState(t, got, leads(op, ordering.OutcomeNotSent), ordering.OutcomeNotSent)
				if got.Calls[len(got.Calls)-1].EndedAt.IsZero() {
					t.Error("EndedAt is not given")
				}
				j.wantKey(t, o.Key, "", 0)
				if err := j.Abort(t.Context(), o); err != nil {
					t.Errorf("Abort again: %v", err)
				}
				same(t, "Record after Abort again", j.now(t, r), got)
			})
		}
		s.test(t, "a "+string(op)+" that has ended stays", func(t *testing.T, j *journal) {
			for _, outcome := range outcomes() {
				o := create()
				if op != upstream.OpCreate {
					j.placed(t, "order-"+string(outcome))
					o = change(op, "order-"+string(outcome))
				}
				r := j.ended(t, j.begun(t, o), outcome, givenID(op, outcome))
				if err := j.Abort(t.Context(), o); err != nil {
					t.Errorf("Abort of a call that is %s: %v", outcome, err)
				}
				same(t, "Record", j.now(t, r), r)
			}
		})
		s.test(t, "a "+string(op)+" that was swept was not sent all the same", func(t *testing.T, j *journal) {
			o := create()
			if op != upstream.OpCreate {
				j.placed(t, "765")
				o = change(op, "765")
			}
			r := j.swept(t, o)
			if err := j.Abort(t.Context(), o); err != nil {
				t.Fatalf("Abort: %v", err)
			}
			j.wantState(t, j.now(t, r), leads(op, ordering.OutcomeNotSent), ordering.OutcomeNotSent)
			j.wantKey(t, o.Key, "", 0)
		})
		s.test(t, "a "+string(op)+" of another opening stays", func(t *testing.T, j *journal) {
			o := create()
			if op != upstream.OpCreate {
				j.placed(t, "765")
				o = change(op, "765")
			}
			r := j.begun(t, o)
			twin := o // a second request with this key; its Begin found the key taken
			twin.ID, twin.Ref = id(), id()
			if err := j.Abort(t.Context(), twin); err != nil {
				t.Errorf("Abort of what opened nothing: %v", err)
			}
			same(t, "Record", j.now(t, r), r)
			j.wantKey(t, o.Key, r.Ref, len(r.Calls))
		})
	}
	s.test(t, "an adoption leaves the record", func(t *testing.T, j *journal) {
		o := change(upstream.OpPay, "765", adopt)
		r := j.begun(t, o)
		if err := j.Abort(t.Context(), o); err != nil {
			t.Fatalf("Abort: %v", err)
		}
		j.wantState(t, j.now(t, r), ordering.StatePlaced, ordering.OutcomeNotSent)
		j.begun(t, change(upstream.OpPay, "765"))
	})
	s.test(t, "nothing at all", func(t *testing.T, j *journal) {
		for _, o := range []ordering.CallSpec{create(), change(upstream.OpPay, "765"), change(upstream.OpPay, "765", adopt)} {
			if err := j.Abort(t.Context(), o); err != nil {
				t.Errorf("Abort of a %s that was never begun: %v", o.Operation, err)
			}
			_, err := j.Record(t.Context(), []string{conn}, o.Ref)
			wantIs(t, "Record", err, ordering.ErrNoOrder)
		}
	})
}
