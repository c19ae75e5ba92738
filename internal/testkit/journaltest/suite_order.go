package journaltest

import (
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// placedByPerson is an order whose orderID a person has entered.
func placedByPerson(t *testing.T, j *journal) ordering.Record {
	t.Helper()
	r, _ := j.unknown(t, upstream.OpCreate)
	return j.resolved(t, resolution(r, upstream.OpCreate, ordering.ResolvedDone, "765"))
}

func (s suite) orderID(t *testing.T) {
	s.test(t, "any text is an orderID", func(t *testing.T, j *journal) {
		for _, orderID := range []string{"765", "a:b{c}*?[d]", "заказ 7 — «суп» 🍲", "\x01 \\ \" '", "0", "9007199254740993"} {
			r := j.placed(t, orderID)
			got, err := j.Order(t.Context(), conn, orderID)
			if err != nil {
				t.Errorf("Order(%q): %v", orderID, err)
				continue
			}
			same(t, "Order", got, r)
		}
	})
	s.test(t, "a created order takes over an orderID", func(t *testing.T, j *journal) {
		old := j.placed(t, "765")
		r := j.placed(t, "765", elsewhere)
		if got, err := j.Order(t.Context(), conn, "765"); err != nil || got.Ref != r.Ref {
			t.Errorf("Order gives %q, %v; want the later %s", got.Ref, err, r.Ref)
		}
		j.now(t, old)
		if got := j.begun(t, change(upstream.OpPay, "765")); got.Ref != r.Ref {
			t.Errorf("the change is of %s, want %s", got.Ref, r.Ref)
		}
	})
	here := func(change ...func(*ordering.CallSpec)) func(t *testing.T, j *journal) ordering.Record {
		return func(t *testing.T, j *journal) ordering.Record { t.Helper(); return j.placed(t, "765", change...) }
	}
	for name, test := range map[string]struct {
		first   func(t *testing.T, j *journal) ordering.Record
		second  func(*ordering.CallSpec)
		repeats bool
	}{
		"of the same restaurant":    {here(), underKey("k"), true},
		"of another restaurant":     {here(elsewhere), underKey("k"), false},
		"that a person has entered": {placedByPerson, underKey("k"), false},
		"that was adopted": {func(t *testing.T, j *journal) ordering.Record {
			t.Helper()
			return j.ended(t, j.begun(t, change(upstream.OpPay, "765", adopt)), ordering.OutcomeDone, "")
		}, underKey("k"), false},
	} {
		s.test(t, "O17: a success with the orderID of an order "+name, func(t *testing.T, j *journal) {
			first := test.first(t, j)
			r, err := j.Finish(t.Context(), resultOf(j.begun(t, create(test.second)), ordering.OutcomeDone, "765"))
			if !test.repeats {
				if err != nil || r.OrderID != "765" || r.State != ordering.StatePlaced {
					t.Errorf("the order is %s with the orderID %q, %v; want it placed with its orderID", r.State, r.OrderID, err)
				}
				return
			}
			e := wantError[*ordering.IDRepeatedError](t, "Finish", err)
			if e.OrderID != "765" || e.Other != first.Ref || r.OrderID != "" {
				t.Errorf("the error is %+v, the orderID %q; want the first order %s, and no orderID", e, r.OrderID, first.Ref)
			}
			j.wantState(t, r, ordering.StateUnknown, ordering.OutcomeUnknown)
			if got, err := j.Order(t.Context(), conn, "765"); err != nil || got.Ref != first.Ref {
				t.Errorf("Order gives %q, %v; want the first order", got.Ref, err)
			}
			again, err := j.Finish(t.Context(), resultOf(r, ordering.OutcomeDone, "765")) // a late success is compared too
			wantType[*ordering.IDRepeatedError](t, "the second Finish", err)
			j.wantState(t, again, ordering.StateUnknown, ordering.OutcomeUnknown)
		})
	}
	s.test(t, "what was asked of the order that had the orderID is not answered of the one that has it", func(t *testing.T, j *journal) {
		old := j.placed(t, "765")
		own, made := change(upstream.OpPay, "765"), change(upstream.OpComplete, "765", derived)
		other := change(upstream.OpReject, "766", derived)
		j.ended(t, j.begun(t, own), ordering.OutcomeDone, "")
		j.ended(t, j.begun(t, made), ordering.OutcomeDone, "")
		j.placed(t, "766")
		j.ended(t, j.begun(t, other), ordering.OutcomeDone, "")
		r := j.placed(t, "765", elsewhere)
		j.wantKey(t, own.Key, old.Ref, 2) // the client chooses its own key
		j.wantKey(t, made.Key, "", 0)
		if _, _, found := j.lookup(t, other.Key); !found {
			t.Error("the key of another order's change is free, want it kept")
		}
		made.ID = id()
		if got := j.begun(t, made); got.Ref != r.Ref {
			t.Errorf("the same change is of %s, want the later order %s", got.Ref, r.Ref)
		}
	})
	s.test(t, "a change in flight of the order that had the orderID leaves its key to the one that has it", func(t *testing.T, j *journal) {
		j.placed(t, "765")
		made := change(upstream.OpComplete, "765", derived)
		old := j.begun(t, made)
		r := j.placed(t, "765", elsewhere)
		made.ID = id()
		now := j.begun(t, made)
		if now.Ref != r.Ref {
			t.Errorf("the same change is of %s, want the later order %s", now.Ref, r.Ref)
		}
		j.ended(t, old, ordering.OutcomeRefused, "") // does not free the key of another call
		j.wantKey(t, made.Key, r.Ref, 2)
	})
	for name, resolves := range map[string]bool{"its answer": false, "a person": true} {
		s.test(t, "paid and closed by its orderID before "+name+" has the orderID", func(t *testing.T, j *journal) {
			r := j.begun(t, create())
			j.pass(t, tick)
			pay, complete := change(upstream.OpPay, "765", adopt, derived), change(upstream.OpComplete, "765", adopt)
			j.ended(t, j.begun(t, pay), ordering.OutcomeDone, "")
			adopted := j.ended(t, j.begun(t, complete), ordering.OutcomeDone, "")
			if resolves {
				r = j.resolved(t, resolution(j.ended(t, r, ordering.OutcomeUnknown, ""), upstream.OpCreate, ordering.ResolvedDone, "765"))
			} else {
				r = j.ended(t, r, ordering.OutcomeDone, "765")
			}
			if !r.Paid || r.State != ordering.StateClosed {
				t.Errorf("the order is paid %t, %s; want it paid and closed: it is the same order", r.Paid, r.State)
			}
			same(t, "Record", j.now(t, r), r)
			_, err := j.Begin(t.Context(), change(upstream.OpPay, "765"))
			wantType[*ordering.StateError](t, "Begin of a second payment", err)
			j.wantKey(t, pay.Key, adopted.Ref, 1)
		})
	}
	s.test(t, "a call of the order that lost its orderID still ends", func(t *testing.T, j *journal) {
		j.placed(t, "765")
		old := j.begun(t, change(upstream.OpPay, "765"))
		r := j.placed(t, "765", elsewhere)
		if got := j.ended(t, old, ordering.OutcomeDone, ""); !got.Paid {
			t.Error("the old order is not paid, want it paid")
		}
		if got := j.now(t, r); got.Paid || len(got.Calls) != 1 {
			t.Errorf("the new order is paid %t with %d calls, want false with 1", got.Paid, len(got.Calls))
		}
	})
	s.test(t, "an adopted order gives its orderID up", func(t *testing.T, j *journal) {
		adopted := j.ended(t, j.begun(t, change(upstream.OpPay, "765", adopt)), ordering.OutcomeDone, "")
		r := j.placed(t, "765", elsewhere)
		if got, err := j.Order(t.Context(), conn, "765"); err != nil || got.Ref != r.Ref || got.Paid {
			t.Errorf("Order gives %q (paid %t), %v; want %s", got.Ref, got.Paid, err, r.Ref)
		}
		j.now(t, adopted)
	})
	s.test(t, "resolved with the orderID of another order", func(t *testing.T, j *journal) {
		has := j.placed(t, "765")
		r, _ := j.unknown(t, upstream.OpCreate)
		_, err := j.Resolve(t.Context(), resolution(r, upstream.OpCreate, ordering.ResolvedDone, "765"))
		e := wantError[*ordering.OrderIDTakenError](t, "Resolve", err)
		if e.OrderID != "765" || e.Ref != has.Ref {
			t.Errorf("%q is said to be of %s, want 765 of %s", e.OrderID, e.Ref, has.Ref)
		}
		same(t, "the unknown order", j.now(t, r), r)
		same(t, "the other order", j.now(t, has), has)
		got := j.resolved(t, resolution(r, upstream.OpCreate, ordering.ResolvedDone, "766"))
		if got.OrderID != "766" {
			t.Errorf("the orderID is %q, want 766", got.OrderID)
		}
	})
	s.test(t, "resolved with the orderID of an adopted order", func(t *testing.T, j *journal) {
		adopted := j.ended(t, j.begun(t, change(upstream.OpPay, "765", adopt)), ordering.OutcomeDone, "")
		r, _ := j.unknown(t, upstream.OpCreate)
		r = j.resolved(t, resolution(r, upstream.OpCreate, ordering.ResolvedDone, "765"))
		if got, err := j.Order(t.Context(), conn, "765"); err != nil || got.Ref != r.Ref {
			t.Errorf("Order gives %q, %v; want %s", got.Ref, err, r.Ref)
		}
		j.now(t, adopted)
	})
	s.test(t, "resolved with the orderID of an adopted order whose payment is unknown", func(t *testing.T, j *journal) {
		paying := j.begun(t, change(upstream.OpPay, "765", adopt))
		r, _ := j.unknown(t, upstream.OpCreate)
		said := resolution(r, upstream.OpCreate, ordering.ResolvedDone, "765")
		for _, outcome := range []ordering.Outcome{ordering.OutcomeOpen, ordering.OutcomeUnknown} {
			if outcome == ordering.OutcomeUnknown {
				paying = j.ended(t, paying, outcome, "")
			}
			_, err := j.Resolve(t.Context(), said)
			if busy := wantError[*ordering.BusyError](t, "Resolve", err); busy.Record.Ref != paying.Ref || busy.Call.Outcome != outcome {
				t.Errorf("busy is %s of %s, want the %s payment of %s", busy.Call.Outcome, busy.Record.Ref, outcome, paying.Ref)
			}
			same(t, "the unknown order", j.now(t, r), r)
		}
		j.resolved(t, resolution(paying, upstream.OpPay, ordering.ResolvedDone, ""))
		if r = j.resolved(t, said); r.OrderID != "765" {
			t.Errorf("the orderID is %q, want 765", r.OrderID)
		}
	})
}

// isolation: data of another connection is unknown here.
func (s suite) isolation(t *testing.T) {
	s.test(t, "the same ref, orderID and key twice", func(t *testing.T, j *journal) {
		here := create()
		there := here
		there.Connection, there.ID, there.Client, there.Body = other, id(), "stranger", []byte(`{"theirs":1}`)
		ours := j.begun(t, here)
		theirs := j.begun(t, there)
		ours = j.ended(t, ours, ordering.OutcomeDone, "765")
		same(t, "theirs after ours was placed", j.now(t, theirs), theirs)
		theirs = j.ended(t, theirs, ordering.OutcomeDone, "765")
		pay := j.begun(t, change(upstream.OpPay, "765"))
		same(t, "theirs after ours was changed", j.now(t, theirs), theirs)
		theirs = j.ended(t, j.begun(t, change(upstream.OpReject, "765", on(other))), ordering.OutcomeDone, "")
		same(t, "ours after theirs was rejected", j.now(t, ours), pay)

		for connection, want := range map[string]ordering.Record{conn: pay, other: theirs} {
			got, err := j.Order(t.Context(), connection, "765")
			if err != nil {
				t.Fatalf("Order on %s: %v", connection, err)
			}
			same(t, "Order on "+connection, got, want)
			found, call, err := j.Lookup(t.Context(), connection, here.Key)
			if err != nil || call != 1 {
				t.Fatalf("Lookup on %s gives call %d, %v; want 1", connection, call, err)
			}
			same(t, "Lookup on "+connection, found, want)
			page, _, err := j.List(t.Context(), ordering.Query{Connections: []string{connection}, Limit: 10})
			if err != nil {
				t.Fatalf("List of %s: %v", connection, err)
			}
			same(t, "List of "+connection, page, []ordering.Record{want})
		}
		body, err := j.Body(t.Context(), other, there.Ref, 1)
		if err != nil || string(body) != string(there.Body) {
			t.Errorf("Body = %q, %v; want theirs", body, err)
		}
	})
	s.test(t, "of another connection nothing is known", func(t *testing.T, j *journal) {
		o := create()
		r := j.ended(t, j.begun(t, o), ordering.OutcomeDone, "765")
		_, _, err := j.Lookup(t.Context(), other, o.Key)
		wantIs(t, "Lookup", err, ordering.ErrKeyFree)
		_, err = j.Order(t.Context(), other, "765")
		wantIs(t, "Order", err, ordering.ErrNoOrder)
		for _, connections := range [][]string{{other}, {}, nil} {
			_, err = j.Record(t.Context(), connections, r.Ref)
			wantIs(t, "Record", err, ordering.ErrNoOrder)
		}
		_, err = j.Body(t.Context(), other, r.Ref, 1)
		wantIs(t, "Body", err, ordering.ErrNoBody)
		e := resultOf(r, ordering.OutcomeRefused, "")
		e.Connection = other
		_, err = j.Finish(t.Context(), e)
		wantIs(t, "Finish", err, ordering.ErrNoOrder)
		_, err = j.Begin(t.Context(), change(upstream.OpPay, "765", on(other)))
		wantIs(t, "Begin", err, ordering.ErrNoOrder)
		w := resolution(r, upstream.OpCreate, ordering.ResolvedNotDone, "")
		w.Connection = other
		_, err = j.Resolve(t.Context(), w)
		wantIs(t, "Resolve", err, ordering.ErrNoOrder)
		o.Connection = other
		if err := j.Abort(t.Context(), o); err != nil {
			t.Errorf("Abort: %v", err)
		}
		same(t, "Record", j.now(t, r), r)
	})
}
