package journaltest

import (
	"bytes"
	"fmt"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

func (s suite) key(t *testing.T) {
	s.test(t, "the secret is one for all", func(t *testing.T, j *journal) {
		one, err := j.Secret(t.Context(), conn)
		if err != nil || len(one) < 16 {
			t.Fatalf("the secret has %d bytes, %v; want 16 or more", len(one), err)
		}
		for what, other := range map[string]ordering.Journal{"again": j.Journal, "another replica": j.fixture.Again(t)} {
			if two, err := other.Secret(t.Context(), conn); err != nil || !bytes.Equal(one, two) {
				t.Errorf("the secret %s is %x, %v; want %x", what, two, err, one)
			}
		}
	})
	s.test(t, "a new store is ready", func(t *testing.T, j *journal) {
		if err := j.Ready(t.Context(), conn); err != nil {
			t.Errorf("Ready: %v", err)
		}
	})
	s.test(t, "a key that nobody took is free", func(t *testing.T, j *journal) {
		_, _, err := j.Lookup(t.Context(), conn, id())
		wantIs(t, "Lookup", err, ordering.ErrKeyFree)
	})
	s.test(t, "a taken key comes before everything else", func(t *testing.T, j *journal) {
		r := j.placed(t, "765")
		pay := change(upstream.OpPay, "765")
		j.begun(t, pay)
		for what, o := range map[string]ordering.CallSpec{
			"a create":                    create(underKey(pay.Key)),
			"a change of the busy order":  change(upstream.OpReject, "765", underKey(pay.Key)),
			"a change of an unknown one":  change(upstream.OpReject, "nobody's", underKey(pay.Key)),
			"an adoption under that key":  change(upstream.OpPay, "nobody's", underKey(pay.Key), adopt),
			"the very same thing, anew":   change(upstream.OpPay, "765", underKey(pay.Key)),
			"the opening itself, resent":  pay,
			"a derived key that is taken": change(upstream.OpPay, "765", underKey(pay.Key), derived),
		} {
			_, err := j.Begin(t.Context(), o)
			taken := wantError[*ordering.KeyTakenError](t, what, err)
			if taken.Record.Ref != r.Ref || taken.Call != 2 || len(taken.Record.Calls) != 2 {
				t.Errorf("%s: taken by call %d of %+v, want call 2 of %s", what, taken.Call, taken.Record, r.Ref)
			}
			if o.Ref != r.Ref {
				_, err := j.Record(t.Context(), []string{conn}, o.Ref)
				wantIs(t, what+" left a record", err, ordering.ErrNoOrder)
			}
		}
		_, err := j.Order(t.Context(), conn, "nobody's")
		wantIs(t, "Order", err, ordering.ErrNoOrder)
	})
	s.kept(t)
}

// kept: the state of a key after each outcome.
func (s suite) kept(t *testing.T) {
	t.Helper()
	for _, op := range operations() {
		for _, outcome := range []ordering.Outcome{
			ordering.OutcomeDone, ordering.OutcomeRefused, ordering.OutcomeNotSent, ordering.OutcomeUnknown,
		} {
			for _, own := range []bool{true, false} {
				free := outcome == ordering.OutcomeNotSent || (outcome == ordering.OutcomeRefused && !own)
				name := fmt.Sprintf("%s %s own=%t frees=%t", op, outcome, own, free)
				s.test(t, name, func(t *testing.T, j *journal) {
					o := create()
					if op != upstream.OpCreate {
						j.placed(t, "765")
						o = change(op, "765")
					}
					o.Derived = !own
					r := j.begun(t, o)
					n := len(r.Calls)
					j.wantKey(t, o.Key, r.Ref, n)
					orderID := ""
					if op == upstream.OpCreate && outcome == ordering.OutcomeDone {
						orderID = "766"
					}
					got := j.ended(t, r, outcome, orderID)
					if got.Calls[n-1].Derived == own {
						t.Errorf("Derived is %t, want %t", own, !own)
					}
					if !free {
						j.wantKey(t, o.Key, r.Ref, n)
						return
					}
					j.wantKey(t, o.Key, "", 0)
					next := create(underKey(o.Key))
					j.wantKey(t, next.Key, j.begun(t, next).Ref, 1)
					// Repeating the result of the call that had the key changes
					// nothing.
					if _, err := j.Finish(t.Context(), resultOf(r, outcome, orderID)); err != nil {
						t.Errorf("Finish again: %v", err)
					}
					j.wantKey(t, next.Key, next.Ref, 1)
				})
			}
		}
	}
}
