package journaltest

import (
	"bytes"
	"fmt"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// resolution returns a person's resolution of a record's operation.
func resolution(r ordering.Record, op ordering.Operation, how ordering.Resolution, orderID string) ordering.ResolveCall {
	return ordering.ResolveCall{
		ID:         id(),
		Connection: r.Connection,
		Ref:        r.Ref,
		Operation:  op,
		Resolution: how,
		OrderID:    orderID,
		By:         "ops",
		Note:       "asked the restaurant — «да»",
		RequestID:  "request-9",
		Deadline:   long,
	}
}

// resolved resolves a call; it must succeed.
func (j *journal) resolved(t *testing.T, w ordering.ResolveCall) ordering.Record {
	t.Helper()
	r, err := j.Resolve(t.Context(), w)
	if err != nil {
		t.Fatalf("Resolve(%s): %v", w.Resolution, err)
	}
	return r
}

// unknown begins a call, makes its outcome unknown, and returns its opening.
func (j *journal) unknown(t *testing.T, op ordering.Operation) (ordering.Record, ordering.CallSpec) {
	t.Helper()
	o := create()
	if op != upstream.OpCreate {
		j.placed(t, "765")
		o = change(op, "765")
	}
	return j.ended(t, j.begun(t, o), ordering.OutcomeUnknown, ""), o
}

func (s suite) resolve(t *testing.T) {
	for _, op := range operations() {
		for _, how := range []ordering.Resolution{ordering.ResolvedDone, ordering.ResolvedNotDone} {
			outcome := ordering.OutcomeRefused
			if how == ordering.ResolvedDone {
				outcome = ordering.OutcomeDone
			}
			s.test(t, fmt.Sprintf("a %s as %s", op, how), func(t *testing.T, j *journal) {
				r, o := j.unknown(t, op)
				got := j.resolved(t, resolution(r, op, how, givenID(op, outcome)))
				j.wantState(t, got, leads(op, outcome), outcome)
				if paid := op == upstream.OpPay && outcome == ordering.OutcomeDone; got.Paid != paid {
					t.Errorf("paid is %t, want %t", got.Paid, paid)
				}
				call := j.now(t, r).Calls[len(r.Calls)-1]
				if w := call.Resolved; w == nil || w.By != "ops" || w.Resolution != how ||
					w.Note != "asked the restaurant — «да»" || !w.At.Equal(got.UpdatedAt) {
					t.Errorf("resolved is %+v, want it kept", w)
				}
				j.wantKey(t, o.Key, r.Ref, call.Number)
				_, err := j.Resolve(t.Context(), resolution(r, op, how, givenID(op, outcome)))
				state := wantError[*ordering.StateError](t, "Resolve again", err)
				if state.Operation != op || state.Record.Ref != r.Ref {
					t.Errorf("StateError of a %s of %s", state.Operation, state.Record.Ref)
				}
				if op == upstream.OpCreate && how == ordering.ResolvedDone {
					if found, err := j.Order(t.Context(), conn, "765"); err != nil || found.Ref != r.Ref || found.OrderID != "765" {
						t.Errorf("Order gives %q %q, %v; want %s", found.Ref, found.OrderID, err, r.Ref)
					}
				}
			})
			s.afterwards(t, op, how)
		}
		s.again(t, op)
		s.test(t, "a "+string(op)+" that is not unknown", func(t *testing.T, j *journal) {
			r := j.opened(t, op)
			for _, end := range []ordering.Outcome{"", ordering.OutcomeRefused} {
				if end != "" {
					r = j.ended(t, r, end, "")
				}
				for _, how := range []ordering.Resolution{ordering.ResolvedDone, ordering.ResolvedNotDone, ordering.ResolvedRetry} {
					_, err := j.Resolve(t.Context(), resolution(r, op, how, givenID(op, ordering.OutcomeDone)))
					wantType[*ordering.StateError](t, string(how), err)
				}
			}
			same(t, "Record", j.now(t, r), r)
		})
	}
	s.test(t, "no such order", func(t *testing.T, j *journal) {
		unknown := ordering.Record{Connection: conn, Ref: id()}
		_, err := j.Resolve(t.Context(), resolution(unknown, upstream.OpCreate, ordering.ResolvedNotDone, ""))
		wantIs(t, "Resolve", err, ordering.ErrNoOrder)
	})
	s.test(t, "another operation than the unknown one", func(t *testing.T, j *journal) {
		r, _ := j.unknown(t, upstream.OpPay)
		for _, op := range []ordering.Operation{upstream.OpCreate, upstream.OpComplete, upstream.OpReject} {
			_, err := j.Resolve(t.Context(), resolution(r, op, ordering.ResolvedNotDone, ""))
			wantType[*ordering.StateError](t, string(op), err)
		}
		same(t, "Record", j.now(t, r), r)
	})
	for _, how := range []ordering.Resolution{ordering.ResolvedDone, ordering.ResolvedNotDone, ordering.ResolvedRetry} {
		s.test(t, "a derived key, "+string(how), func(t *testing.T, j *journal) {
			j.placed(t, "765")
			o := change(upstream.OpPay, "765", derived)
			r := j.ended(t, j.begun(t, o), ordering.OutcomeUnknown, "")
			r = j.resolved(t, resolution(r, upstream.OpPay, how, ""))
			if how == ordering.ResolvedNotDone { // otherwise no request could pay again
				j.wantKey(t, o.Key, "", 0)
				return
			}
			j.wantKey(t, o.Key, r.Ref, r.Calls[len(r.Calls)-1].Number)
		})
	}
	s.test(t, "a swept call", func(t *testing.T, j *journal) {
		r := j.swept(t, create())
		got := j.resolved(t, resolution(r, upstream.OpCreate, ordering.ResolvedDone, "765"))
		j.wantState(t, got, ordering.StatePlaced, ordering.OutcomeDone)
		if got.Calls[0].EndedAt.IsZero() {
			t.Error("EndedAt is not given")
		}
	})
}

// afterwards: a result that arrives after a person's resolution.
func (s suite) afterwards(t *testing.T, op ordering.Operation, how ordering.Resolution) {
	t.Helper()
	held := ordering.OutcomeRefused
	if how == ordering.ResolvedDone {
		held = ordering.OutcomeDone
	}
	for _, outcome := range outcomes() {
		agrees := outcome == ordering.OutcomeUnknown || (outcome == ordering.OutcomeDone) == (held == ordering.OutcomeDone)
		s.test(t, fmt.Sprintf("a %s as %s, then %s", op, how, outcome), func(t *testing.T, j *journal) {
			r, o := j.unknown(t, op)
			r = j.resolved(t, resolution(r, op, how, givenID(op, held)))
			e := resultOf(r, outcome, givenID(op, outcome))
			e.Attempts = attempts(201, outcome)
			_, err := j.Finish(t.Context(), e)
			got := j.now(t, r)
			if agrees {
				if err != nil {
					t.Errorf("Finish: %v", err)
				}
				if call := got.Calls[len(got.Calls)-1]; call.Contradicted != "" {
					t.Errorf("contradicted %q, want nothing", call.Contradicted)
				}
			} else {
				j.wantContradiction(t, err, r, outcome)
			}
			same(t, "Tries", got.Calls[len(got.Calls)-1].Attempts, e.Attempts)
			j.wantState(t, got, leads(op, held), held)
			if got.Paid != r.Paid || got.OrderID != r.OrderID {
				t.Errorf("paid %t, orderID %q; want %t, %q", got.Paid, got.OrderID, r.Paid, r.OrderID)
			}
			j.wantKey(t, o.Key, r.Ref, got.Calls[len(got.Calls)-1].Number)
		})
	}
	if op == upstream.OpCreate && how == ordering.ResolvedDone {
		s.test(t, "a create as done, then done with another orderID", func(t *testing.T, j *journal) {
			r, _ := j.unknown(t, op)
			r = j.resolved(t, resolution(r, op, how, "765"))
			_, err := j.Finish(t.Context(), resultOf(r, ordering.OutcomeDone, "766"))
			j.wantContradiction(t, err, r, ordering.OutcomeDone)
			if got := j.now(t, r); got.OrderID != "765" || got.State != ordering.StatePlaced {
				t.Errorf("the order is %q, %s; want 765, placed", got.OrderID, got.State)
			}
		})
	}
}

// again: larder sends the call again after a resolution.
func (s suite) again(t *testing.T, op ordering.Operation) {
	t.Helper()
	s.test(t, "a "+string(op)+" sent again", func(t *testing.T, j *journal) {
		r, o := j.unknown(t, op)
		first := len(r.Calls)
		w := resolution(r, op, ordering.ResolvedRetry, "")
		got := j.resolved(t, w)
		if len(got.Calls) != first+1 {
			t.Fatalf("the record has %d calls, want %d", len(got.Calls), first+1)
		}
		old, call := got.Calls[first-1], got.Calls[first]
		if !old.Outcome.Certain() || old.Outcome == ordering.OutcomeDone ||
			old.Resolved == nil || old.Resolved.Resolution != ordering.ResolvedRetry {
			t.Errorf("the first call is %s, resolved %+v; want it not done, resolved as sent again", old.Outcome, old.Resolved)
		}
		want := ordering.Call{
			Number:      first + 1,
			Operation:   op,
			Outcome:     ordering.OutcomeOpen,
			Client:      o.Client,
			RequestID:   "request-9",
			Fingerprint: o.Fingerprint,
			Key:         o.Key,
			SpecID:      w.ID,
			StartedAt:   got.UpdatedAt,
			Payments:    o.Payments,
			ForGuest:    o.ForGuest,
		}
		same(t, "the new call", call, want)
		same(t, "Record", j.now(t, r), got)
		state := ordering.StatePlaced
		if op == upstream.OpCreate {
			state = ordering.StatePlacing
		}
		j.wantState(t, got, state, ordering.OutcomeOpen)
		j.wantKey(t, o.Key, r.Ref, call.Number)
		if o.Body != nil {
			body, err := j.Body(t.Context(), conn, r.Ref, call.Number)
			if err != nil || !bytes.Equal(body, o.Body) {
				t.Errorf("Body of the new call = %q, %v; want %q", body, err, o.Body)
			}
		}
		// A done result of the first call contradicts; the second continues.
		_, err := j.Finish(t.Context(), ordering.CallResult{
			Connection: conn,
			Ref:        r.Ref,
			Call:       old.Number,
			Outcome:    ordering.OutcomeDone,
			OrderID:    givenID(op, ordering.OutcomeDone),
		})
		e := wantError[*ordering.ContradictionError](t, "done of the first call", err)
		if e.Call != old.Number || e.Outcome != ordering.OutcomeDone {
			t.Errorf("contradiction of call %d: %s; want call %d: done", e.Call, e.Outcome, old.Number)
		}
		j.wantState(t, j.now(t, r), state, ordering.OutcomeOpen)
		got = j.ended(t, got, ordering.OutcomeDone, givenID(op, ordering.OutcomeDone))
		j.wantState(t, got, leads(op, ordering.OutcomeDone), ordering.OutcomeDone)
		if got.Calls[first-1].Contradicted != ordering.OutcomeDone {
			t.Errorf("the first call is contradicted %q, want done", got.Calls[first-1].Contradicted)
		}
	})
	s.test(t, "a "+string(op)+" sent again that ends unknown is swept, sent and resolved again", func(t *testing.T, j *journal) {
		r, o := j.unknown(t, op)
		w := resolution(r, op, ordering.ResolvedRetry, "")
		w.Deadline = brief
		r = j.resolved(t, w)
		j.pass(t, brief+slack)
		if moved, err := j.Sweep(t.Context(), conn); err != nil || len(moved) != 1 {
			t.Fatalf("Sweep moved %v, %v; want one", refs(moved), err)
		}
		r = j.resolved(t, resolution(r, op, ordering.ResolvedRetry, ""))
		r = j.ended(t, r, ordering.OutcomeUnknown, "")
		r = j.resolved(t, resolution(r, op, ordering.ResolvedNotDone, ""))
		j.wantState(t, r, leads(op, ordering.OutcomeRefused), ordering.OutcomeRefused)
		j.wantKey(t, o.Key, r.Ref, r.Calls[len(r.Calls)-1].Number)
	})
	if op == upstream.OpPay {
		s.test(t, "a payment sent again is not sent a third time after the first took effect", func(t *testing.T, j *journal) {
			r, _ := j.unknown(t, op)
			old := r.Calls[len(r.Calls)-1].Number
			r = j.resolved(t, resolution(r, op, ordering.ResolvedRetry, ""))
			_, err := j.Finish(t.Context(), ordering.CallResult{Connection: conn, Ref: r.Ref, Call: old, Outcome: ordering.OutcomeDone})
			wantType[*ordering.ContradictionError](t, "done of the first payment", err)
			r = j.ended(t, j.now(t, r), ordering.OutcomeUnknown, "")
			_, err = j.Resolve(t.Context(), resolution(r, op, ordering.ResolvedRetry, ""))
			wantType[*ordering.StateError](t, "Resolve of the second payment", err)
		})
	}
	s.test(t, "a "+string(op)+" sent again and aborted", func(t *testing.T, j *journal) {
		r, o := j.unknown(t, op)
		w := resolution(r, op, ordering.ResolvedRetry, "")
		w.ID, w.Call = id(), r.Calls[len(r.Calls)-1].Number
		r = j.resolved(t, w)
		for range 2 {
			if err := j.Abort(t.Context(), ordering.CallSpec{
				ID:         w.ID,
				Operation:  op,
				Connection: conn,
				Ref:        r.Ref,
			}); err != nil {
				t.Fatalf("Abort: %v", err)
			}
		}
		j.wantState(t, j.now(t, r), leads(op, ordering.OutcomeNotSent), ordering.OutcomeNotSent)
		j.wantKey(t, o.Key, "", 0)
	})
	s.test(t, "a "+string(op)+" sent again, but another call is meant", func(t *testing.T, j *journal) {
		r, _ := j.unknown(t, op)
		for _, how := range []ordering.Resolution{ordering.ResolvedDone, ordering.ResolvedNotDone, ordering.ResolvedRetry} {
			w := resolution(r, op, how, givenID(op, ordering.OutcomeDone))
			last := r.Calls[len(r.Calls)-1].Number
			w.Call = last + 1
			_, err := j.Resolve(t.Context(), w)
			wantType[*ordering.StateError](t, string(how), err)
			w.Call, w.SpecID = last, id()
			_, err = j.Resolve(t.Context(), w)
			wantType[*ordering.StateError](t, string(how)+" of another opening", err)
		}
		same(t, "Record", j.now(t, r), r)
	})
	s.test(t, "a "+string(op)+" sent again and not sent frees the key", func(t *testing.T, j *journal) {
		r, o := j.unknown(t, op)
		r = j.resolved(t, resolution(r, op, ordering.ResolvedRetry, ""))
		j.ended(t, r, ordering.OutcomeNotSent, "")
		j.wantKey(t, o.Key, "", 0)
	})
}
