package journaltest

import (
	"fmt"
	"slices"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

func (s suite) sweep(t *testing.T) {
	s.test(t, "only what is past its deadline, and open", func(t *testing.T, j *journal) {
		late := j.begun(t, create(within(brief)))
		j.begun(t, create(within(long)))
		j.ended(t, j.begun(t, create(within(brief))), ordering.OutcomeDone, "765")
		j.ended(t, j.begun(t, create(within(brief))), ordering.OutcomeNotSent, "")
		j.ended(t, j.begun(t, create(within(brief))), ordering.OutcomeUnknown, "")
		elsewhere := j.begun(t, create(within(brief), on(other)))
		j.pass(t, brief+slack)

		moved, err := j.Sweep(t.Context(), conn)
		if err != nil || !slices.Equal(refs(moved), []string{late.Ref}) {
			t.Fatalf("Sweep moved %v, %v; want %s alone", refs(moved), err, late.Ref)
		}
		j.wantState(t, moved[0], ordering.StateUnknown, ordering.OutcomeUnknown)
		if at := moved[0].Calls[0].EndedAt; !at.IsZero() {
			t.Errorf("EndedAt is %v, want none of a call that was only swept", at)
		}
		if moved, err := j.Sweep(t.Context(), conn); err != nil || len(moved) != 0 {
			t.Errorf("the next Sweep moved %v, %v; want nothing", refs(moved), err)
		}
		j.wantState(t, j.now(t, elsewhere), ordering.StatePlacing, ordering.OutcomeOpen)
		moved, err = j.Sweep(t.Context(), other)
		if err != nil || !slices.Equal(refs(moved), []string{elsewhere.Ref}) {
			t.Errorf("Sweep of the other connection moved %v, %v; want %s", refs(moved), err, elsewhere.Ref)
		}
	})
	s.test(t, "nothing of an empty connection", func(t *testing.T, j *journal) {
		if moved, err := j.Sweep(t.Context(), conn); err != nil || len(moved) != 0 {
			t.Errorf("Sweep moved %v, %v", refs(moved), err)
		}
	})
	s.test(t, "before the deadline nothing", func(t *testing.T, j *journal) {
		r := j.begun(t, create(within(long)))
		if moved, err := j.Sweep(t.Context(), conn); err != nil || len(moved) != 0 {
			t.Errorf("Sweep moved %v, %v; want nothing", refs(moved), err)
		}
		same(t, "Record", j.now(t, r), r)
	})
	for _, op := range operations() {
		s.test(t, "a "+string(op)+" becomes unknown and keeps its key", func(t *testing.T, j *journal) {
			o := create()
			if op != upstream.OpCreate {
				j.placed(t, "765")
				o = change(op, "765")
			}
			r := j.swept(t, o)
			j.wantState(t, r, leads(op, ordering.OutcomeUnknown), ordering.OutcomeUnknown)
			j.wantKey(t, o.Key, r.Ref, len(r.Calls))
		})
		for _, outcome := range outcomes() {
			s.late(t, op, outcome)
		}
	}
	s.test(t, "at most 100 at a time, and every one", func(t *testing.T, j *journal) {
		want := map[string]bool{}
		for range 230 {
			want[j.begun(t, create(within(brief))).Ref] = true
		}
		j.pass(t, brief+slack)
		for _, most := range []int{100, 100, 30, 0} {
			moved, err := j.Sweep(t.Context(), conn)
			if err != nil || len(moved) != most {
				t.Fatalf("Sweep moved %d, %v; want %d", len(moved), err, most)
			}
			for _, r := range moved {
				if !want[r.Ref] {
					t.Errorf("Sweep moved %s twice, or from nowhere", r.Ref)
				}
				delete(want, r.Ref)
			}
		}
	})
}

// late: a result that arrives after the call was swept.
func (s suite) late(t *testing.T, op ordering.Operation, outcome ordering.Outcome) {
	t.Helper()
	s.test(t, fmt.Sprintf("a late %s of a %s", outcome, op), func(t *testing.T, j *journal) {
		o := create()
		if op != upstream.OpCreate {
			j.placed(t, "765")
			o = change(op, "765")
		}
		r := j.swept(t, o)
		e := resultOf(r, outcome, givenID(op, outcome))
		e.Attempts, e.Answer = attempts(200, outcome), answer(200)
		got, err := j.Finish(t.Context(), e)
		if err != nil {
			t.Fatalf("Finish: %v", err)
		}
		j.wantState(t, got, leads(op, outcome), outcome)
		call := j.now(t, r).Calls[len(r.Calls)-1]
		same(t, "Tries", call.Attempts, e.Attempts)
		same(t, "Answer", call.Answer, e.Answer)
		if call.EndedAt.IsZero() || call.Contradicted != "" {
			t.Errorf("ended at %v, contradicted %q; want a time and no contradiction", call.EndedAt, call.Contradicted)
		}
		if outcome == ordering.OutcomeNotSent {
			j.wantKey(t, o.Key, "", 0)
		} else {
			j.wantKey(t, o.Key, r.Ref, call.Number)
		}
		if moved, err := j.Sweep(t.Context(), conn); err != nil || len(moved) != 0 {
			t.Errorf("Sweep moved %v, %v; want nothing", refs(moved), err)
		}
		if outcome == ordering.OutcomeDone && op == upstream.OpCreate {
			if found, err := j.Order(t.Context(), conn, "765"); err != nil || found.Ref != r.Ref {
				t.Errorf("Order gives %q, %v; want %s", found.Ref, err, r.Ref)
			}
		}
	})
}

// contradiction: a different outcome for a call with a certain outcome.
func (s suite) contradiction(t *testing.T) {
	for _, op := range operations() {
		for _, first := range outcomes()[:3] {
			for _, second := range outcomes()[:3] {
				if first == second {
					continue
				}
				s.test(t, fmt.Sprintf("%s %s after %s", op, second, first), func(t *testing.T, j *journal) {
					r := j.ended(t, j.opened(t, op), first, givenID(op, first))
					_, err := j.Finish(t.Context(), resultOf(r, second, givenID(op, second)))
					j.wantContradiction(t, err, r, second)
					got := j.now(t, r)
					j.wantState(t, got, leads(op, first), first)
					if got.Paid != r.Paid {
						t.Errorf("paid turned %t", got.Paid)
					}
					if op == upstream.OpPay && second == ordering.OutcomeDone { // another one would be a second payment
						_, err := j.Begin(t.Context(), change(op, r.OrderID))
						wantType[*ordering.StateError](t, "Begin of another payment", err)
					}
				})
			}
		}
	}
}

// wantContradiction checks the error and the record, whose last call is
// contradicted.
func (j *journal) wantContradiction(t *testing.T, err error, r ordering.Record, outcome ordering.Outcome) {
	t.Helper()
	e := wantError[*ordering.ContradictionError](t, "Finish", err)
	number := r.Calls[len(r.Calls)-1].Number
	if e.Record.Ref != r.Ref || e.Call != number || e.Outcome != outcome {
		t.Errorf("contradiction of call %d of %s: %s; want call %d of %s: %s", e.Call, e.Record.Ref, e.Outcome, number, r.Ref, outcome)
	}
	for what, r := range map[string]ordering.Record{"of the error": e.Record, "read anew": j.now(t, r)} {
		call, _ := r.Call(number)
		created := call.Operation == upstream.OpCreate && outcome == ordering.OutcomeDone
		if call.Contradicted != outcome || (call.FoundOrderID != "") != created {
			t.Errorf("the record %s: contradicted %q, found order %q; want %q", what, call.Contradicted, call.FoundOrderID, outcome)
		}
	}
}
