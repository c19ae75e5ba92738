package journaltest

import (
	"errors"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// restored tests policy O14a: a store that has lost data of the journal begins no
// calls until an operator accepts that. Calls in progress end.
func (s suite) restored(t *testing.T) {
	t.Helper()
	s.test(t, "calls are paused until an operator accepts", func(t *testing.T, j *journal) {
		j.placed(t, "765")
		other := j.fixture.Again(t)
		if _, err := other.Watch(t.Context(), conn); err != nil {
			t.Fatalf("Watch: %v", err)
		}
		j.fixture.Lose(t, conn)
		for name, instance := range map[string]ordering.Journal{"this one": j, "another": other} {
			_, err := instance.Begin(t.Context(), create())
			wantType[*ordering.RestoredError](t, name+": Begin", err)
			health, err := instance.Watch(t.Context(), conn)
			if err != nil || health.PausedAt.IsZero() {
				t.Errorf("%s: Watch = %+v, %v; want it paused", name, health, err)
			}
		}
		if accepted, err := other.Accept(t.Context(), conn); err != nil || !accepted {
			t.Errorf("Accept = %t, %v; want it accepted", accepted, err)
		}
		if accepted, err := j.Accept(t.Context(), conn); err != nil || accepted {
			t.Errorf("Accept again = %t, %v; want nothing to accept", accepted, err)
		}
		for name, instance := range map[string]ordering.Journal{"this one": j, "another": other} {
			if _, err := instance.Begin(t.Context(), create()); err != nil {
				t.Errorf("%s: Begin after the acceptance: %v", name, err)
			}
			if health, err := instance.Watch(t.Context(), conn); err != nil || !health.PausedAt.IsZero() {
				t.Errorf("%s: Watch after the acceptance = %+v, %v; want no pause", name, health, err)
			}
		}
	})
	s.test(t, "changes are paused", func(t *testing.T, j *journal) {
		j.ended(t, j.begun(t, change(upstream.OpPay, "765", adopt)), ordering.OutcomeDone, "")
		j.fixture.Lose(t, conn)
		o := create()
		_, err := j.Begin(t.Context(), o)
		wantType[*ordering.RestoredError](t, "Begin of a create", err)
		for _, op := range changes() {
			_, err := j.Begin(t.Context(), change(op, "765", adopt))
			wantType[*ordering.RestoredError](t, "Begin of "+string(op), err)
		}
		if r, err := j.Order(t.Context(), conn, "765"); !errors.Is(err, ordering.ErrNoOrder) {
			t.Errorf("Order = %+v, %v; want none", r, err)
		}
		j.accepted(t)
		j.begun(t, change(upstream.OpPay, "765", adopt))
	})
	s.test(t, "an unknown create is resolved, but not sent again", func(t *testing.T, j *journal) {
		known, o := j.unknown(t, upstream.OpCreate)
		other, _ := j.unknown(t, upstream.OpCreate)
		j.fixture.Lose(t, conn)
		for _, r := range []ordering.Record{known, other} {
			if _, _, err := j.Recreate(t.Context(), r, 1, o.Body); err != nil {
				t.Fatalf("Recreate: %v", err)
			}
		}
		again := resolution(known, upstream.OpCreate, ordering.ResolvedRetry, "")
		again.ID = id()
		_, err := j.Resolve(t.Context(), again)
		wantType[*ordering.RestoredError](t, "Resolve as send_again while paused", err)
		if r, err := j.Record(t.Context(), []string{conn}, o.Ref); err != nil || r.State != ordering.StateUnknown || len(r.Calls) != 1 {
			t.Errorf("Record = %+v, %v; want it unknown as before", r, err)
		}
		j.resolved(t, resolution(other, upstream.OpCreate, ordering.ResolvedNotDone, ""))
		if _, err := j.Accept(t.Context(), conn); err != nil {
			t.Errorf("Accept: %v", err)
		}
		if r := j.resolved(t, again); r.State != ordering.StatePlacing || len(r.Calls) != 2 {
			t.Errorf("Resolve after the acceptance = %+v, want a second call", r)
		}
	})
	s.test(t, "another connection goes on", func(t *testing.T, j *journal) {
		j.placed(t, "765")
		j.placed(t, "765", on("other"))
		j.fixture.Lose(t, conn)
		j.begun(t, create(on("other")))
	})
	s.test(t, "a call in progress is written again", func(t *testing.T, j *journal) {
		o := create()
		known := j.begun(t, o)
		j.fixture.Lose(t, conn)
		e := resultOf(known, ordering.OutcomeDone, "765")
		e.SpecID = o.ID
		_, err := j.Finish(t.Context(), e)
		wantIs(t, "Finish of what was lost", err, ordering.ErrNoOrder)
		known.State, known.OrderID = ordering.StatePlaced, "765"
		known.Calls[0].Outcome, known.Calls[0].EndedAt = ordering.OutcomeDone, known.UpdatedAt
		for range 2 {
			got, call, err := j.Recreate(t.Context(), known, 1, o.Body)
			if err != nil || call != 1 {
				t.Fatalf("Recreate = call %d, %v; want 1", call, err)
			}
			known.UpdatedAt = got.UpdatedAt
			same(t, "the record", got, known)
		}
		j.wantKey(t, o.Key, o.Ref, 1)
		if body, err := j.Body(t.Context(), conn, o.Ref, 1); err != nil || string(body) != string(o.Body) {
			t.Errorf("Body = %q, %v; want what was sent", body, err)
		}
		_, err = j.Begin(t.Context(), change(upstream.OpPay, "765"))
		wantType[*ordering.RestoredError](t, "Begin of a payment", err)
		j.accepted(t)
		paid := j.ended(t, j.begun(t, change(upstream.OpPay, "765")), ordering.OutcomeDone, "")
		if !paid.Paid || paid.Ref != o.Ref {
			t.Errorf("the order is %+v, want it paid", paid)
		}
	})
	s.test(t, "a create whose order was completed meanwhile", func(t *testing.T, j *journal) {
		for _, there := range []bool{true, false} { // whether Redis has the record, without the end of the create
			o := create()
			known := j.begun(t, o)
			if !there {
				j.fixture.Lose(t, conn)
				j.accepted(t)
			}
			j.pass(t, slack) // the adopted order is later
			orderID := id()
			adopted := j.ended(t, j.begun(t, change(upstream.OpComplete, orderID, adopt)), ordering.OutcomeDone, "")
			known.State, known.OrderID = ordering.StatePlaced, orderID
			known.Calls[0].Outcome, known.Calls[0].EndedAt = ordering.OutcomeDone, known.UpdatedAt
			if there {
				j.ended(t, known, ordering.OutcomeDone, orderID)
			} else if _, _, err := j.Recreate(t.Context(), known, 1, o.Body); err != nil {
				t.Fatalf("Recreate: %v", err)
			}
			j.wantState(t, j.now(t, known), ordering.StateClosed, ordering.OutcomeDone)
			if other := j.now(t, adopted); other.OrderID != "" {
				t.Errorf("the adopted record has the orderID %s", other.OrderID)
			}
			_, err := j.Begin(t.Context(), change(upstream.OpReject, orderID))
			wantType[*ordering.StateError](t, "a rejection of the completed order", err)
		}
	})
	s.test(t, "a call after one whose resolution was lost", func(t *testing.T, j *journal) {
		for _, resolution := range []ordering.Outcome{ordering.OutcomeRefused, ordering.OutcomeDone} {
			orderID := id()
			j.placed(t, orderID)
			stored := j.ended(t, j.begun(t, change(upstream.OpPay, orderID)), ordering.OutcomeUnknown, "")
			known := clone(stored)
			pay := &known.Calls[1]
			pay.Outcome, pay.EndedAt = resolution, known.UpdatedAt
			pay.Resolved = &ordering.ResolvedBy{By: "ops", At: known.UpdatedAt, Resolution: ordering.ResolvedNotDone}
			later := cloneCall(*pay)
			later.Number, later.SpecID, later.Key, later.Resolved, later.Outcome = 3, id(), id(), nil, ordering.OutcomeRefused
			known.Calls = append(known.Calls, later)
			got, call, err := j.Recreate(t.Context(), known, 3, nil)
			if err != nil || call != 3 || len(got.Calls) != 3 {
				t.Fatalf("Recreate = call %d of %+v, %v; want call 3 of 3", call, got, err)
			}
			paid := resolution == ordering.OutcomeDone
			if first := got.Calls[1]; first.Outcome != resolution || first.Resolved == nil || got.Paid != paid {
				t.Errorf("the resolved call is %+v of an order with paid %t", first, got.Paid)
			}
			j.wantKey(t, later.Key, stored.Ref, 3)
			unknown := ordering.Query{Connections: []string{conn}, State: ordering.StateUnknown, Limit: 10}
			if page, _, err := j.List(t.Context(), unknown); err != nil || len(page) != 0 {
				t.Errorf("%d unknown orders, %v; want none", len(page), err)
			}
			j.ended(t, j.begun(t, change(upstream.OpComplete, orderID)), ordering.OutcomeDone, "")
		}
	})
	s.test(t, "calls before the one that is written again", func(t *testing.T, j *journal) {
		orderID := id()
		stored := j.placed(t, orderID)
		known := clone(stored)
		for n, op := range []ordering.Operation{upstream.OpPay, upstream.OpComplete} {
			call := cloneCall(stored.Calls[0])
			call.Number, call.Operation, call.SpecID, call.Key, call.Outcome = n+2, op, id(), id(), ordering.OutcomeDone
			known.Calls = append(known.Calls, call)
		}
		known.Paid, known.State = true, ordering.StateClosed
		got, call, err := j.Recreate(t.Context(), known, 3, nil)
		if err != nil || call != 3 || len(got.Calls) != 3 || !got.Paid || got.State != ordering.StateClosed {
			t.Fatalf("Recreate = call %d of %+v, %v; want call 3 of a paid and closed order", call, got, err)
		}
		for n := range 3 {
			j.wantKey(t, known.Calls[n].Key, stored.Ref, n+1)
		}
	})
	s.test(t, "a call beside one whose outcome is unknown", func(t *testing.T, j *journal) {
		orderID := id()
		j.placed(t, orderID)
		stored := j.ended(t, j.begun(t, change(upstream.OpPay, orderID)), ordering.OutcomeUnknown, "")
		unknown := func() int {
			page, _, err := j.List(t.Context(), ordering.Query{Connections: []string{conn}, State: ordering.StateUnknown, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			return len(page)
		}
		for n, outcome := range []ordering.Outcome{ordering.OutcomeRefused, ordering.OutcomeUnknown} {
			lost := clone(stored)
			lost.Calls[1].SpecID, lost.Calls[1].Key, lost.Calls[1].Outcome = id(), id(), outcome
			if _, call, err := j.Recreate(t.Context(), lost, 2, nil); err != nil || call != n+3 || unknown() != 1 {
				t.Fatalf("Recreate = call %d, %v, and %d unknown orders; want call %d of one", call, err, unknown(), n+3)
			}
		}
		for left := 1; left >= 0; left-- { // the last unknown one first
			r := j.resolved(t, resolution(stored, upstream.OpPay, ordering.ResolvedNotDone, ""))
			if _, busy := r.Busy(); busy != (left > 0) || unknown() != left {
				t.Errorf("resolved: busy %t and %d unknown orders, want %d left", busy, unknown(), left)
			}
		}
		j.begun(t, change(upstream.OpComplete, orderID))
	})
	s.test(t, "a call whose key another call of the order has", func(t *testing.T, j *journal) {
		orderID := id()
		j.placed(t, orderID)
		o := change(upstream.OpPay, orderID)
		lost := clone(j.begun(t, o))
		paid := j.ended(t, lost, ordering.OutcomeDone, "")
		lost.Calls[1].SpecID, lost.Calls[1].Outcome = id(), ordering.OutcomeRefused
		if _, call, err := j.Recreate(t.Context(), lost, 2, nil); err != nil || call != 3 {
			t.Fatalf("Recreate = call %d, %v; want 3", call, err)
		}
		j.wantKey(t, o.Key, paid.Ref, 2)
	})
	s.test(t, "a create whose order has a change with an uncertain outcome", func(t *testing.T, j *journal) {
		for _, outcome := range []ordering.Outcome{ordering.OutcomeOpen, ordering.OutcomeUnknown} {
			o := create()
			known := j.begun(t, o)
			j.pass(t, slack) // the adopted order is later
			orderID := id()
			adopted := j.begun(t, change(upstream.OpComplete, orderID, adopt))
			if outcome == ordering.OutcomeUnknown {
				j.ended(t, adopted, outcome, "")
			}
			got := j.ended(t, known, ordering.OutcomeDone, orderID)
			if call, busy := got.Busy(); !busy || call.Operation != upstream.OpComplete || call.Outcome != ordering.OutcomeUnknown {
				t.Errorf("the order's change is %+v, want an unknown completion", call)
			}
			_, err := j.Begin(t.Context(), change(upstream.OpReject, orderID))
			wantType[*ordering.BusyError](t, "a rejection", err)
			again := resolution(known, upstream.OpComplete, ordering.ResolvedRetry, "")
			again.ID = id()
			_, err = j.Resolve(t.Context(), again) // the first one may still be in progress
			wantIs(t, "send_again", err, ordering.ErrNoBody)
			if r := j.resolved(t, resolution(known, upstream.OpComplete, ordering.ResolvedDone, "")); r.State != ordering.StateClosed {
				t.Errorf("after the resolution: %s, want closed", r.State)
			}
		}
	})
	s.test(t, "what another call has done is not sent again", func(t *testing.T, j *journal) {
		orderID := id()
		j.placed(t, orderID)
		o := change(upstream.OpPay, orderID)
		stored := j.ended(t, j.begun(t, o), ordering.OutcomeUnknown, "")
		again := resolution(stored, upstream.OpPay, ordering.ResolvedRetry, "")
		for _, outcome := range []ordering.Outcome{ordering.OutcomeUnknown, ordering.OutcomeDone} {
			lost := clone(stored)
			lost.Calls[1].SpecID, lost.Calls[1].Key, lost.Calls[1].Outcome = id(), id(), outcome
			if _, _, err := j.Recreate(t.Context(), lost, 2, o.Body); err != nil {
				t.Fatalf("Recreate: %v", err)
			}
			again.ID = id()
			_, err := j.Resolve(t.Context(), again)
			wantType[*ordering.BusyError](t, "send_again beside another unknown payment", err)
		}
		j.resolved(t, resolution(stored, upstream.OpPay, ordering.ResolvedNotDone, ""))
		again.ID = id()
		_, err := j.Resolve(t.Context(), again)
		wantType[*ordering.StateError](t, "send_again of a payment of a paid order", err)
		if r := j.now(t, stored); len(r.Calls) != 4 || !r.Paid {
			t.Errorf("the order is %+v; want it paid, with 4 calls", r)
		}
	})
	s.test(t, "a call beside one in progress", func(t *testing.T, j *journal) {
		orderID := id()
		j.placed(t, orderID)
		running := j.begun(t, change(upstream.OpPay, orderID))
		for _, outcome := range []ordering.Outcome{ordering.OutcomeRefused, ordering.OutcomeUnknown} {
			lost := clone(running)
			lost.Calls[1].SpecID, lost.Calls[1].Key, lost.Calls[1].Outcome = id(), id(), outcome
			if _, _, err := j.Recreate(t.Context(), lost, 2, []byte("{}")); err != nil {
				t.Fatalf("Recreate: %v", err)
			}
		}
		unknown := ordering.Query{Connections: []string{conn}, State: ordering.StateUnknown, Limit: 10}
		if page, _, err := j.List(t.Context(), unknown); err != nil || len(page) != 1 {
			t.Errorf("%d unknown orders, %v; want this one", len(page), err)
		}
		j.resolved(t, resolution(running, upstream.OpPay, ordering.ResolvedNotDone, ""))
		if paid := j.ended(t, running, ordering.OutcomeDone, ""); !paid.Paid {
			t.Errorf("the order is %+v, want it paid", paid)
		}
	})
	s.test(t, "a call whose key an earlier lost call had freed", func(t *testing.T, j *journal) {
		orderID := id()
		j.placed(t, orderID)
		o := change(upstream.OpPay, orderID)
		known := clone(j.begun(t, o))
		known.Calls[1].Outcome = ordering.OutcomeNotSent
		paid := cloneCall(known.Calls[1])
		paid.Number, paid.SpecID, paid.Outcome = 3, id(), ordering.OutcomeDone
		known.Calls = append(known.Calls, paid)
		if got, call, err := j.Recreate(t.Context(), known, 3, o.Body); err != nil || call != 3 || !got.Paid {
			t.Fatalf("Recreate = call %d of %+v, %v; want call 3 of a paid order", call, got, err)
		}
		j.wantKey(t, o.Key, known.Ref, 3)
	})
	s.test(t, "a call beside one that has taken its number", func(t *testing.T, j *journal) {
		j.placed(t, "765")
		known := j.begun(t, change(upstream.OpPay, "765"))
		lost := clone(known)
		j.ended(t, known, ordering.OutcomeRefused, "")
		lost.Calls[1].SpecID, lost.Calls[1].Key, lost.Calls[1].Outcome = id(), id(), ordering.OutcomeDone
		e := resultOf(lost, ordering.OutcomeDone, "")
		e.SpecID = lost.Calls[1].SpecID
		_, err := j.Finish(t.Context(), e)
		wantIs(t, "Finish of another opening's call", err, ordering.ErrNoOrder)
		got, call, err := j.Recreate(t.Context(), lost, 2, nil)
		if err != nil || call != 3 || !got.Paid || len(got.Calls) != 3 {
			t.Fatalf("Recreate = call %d of %+v, %v; want call 3 of a paid order", call, got, err)
		}
		j.wantKey(t, lost.Calls[1].Key, known.Ref, 3)
	})
}

// accepted ends a pause as an operator does.
func (j *journal) accepted(t *testing.T) {
	t.Helper()
	if _, err := j.Watch(t.Context(), conn); err != nil { // the store notices its loss
		t.Fatalf("Watch: %v", err)
	}
	if accepted, err := j.Accept(t.Context(), conn); err != nil || !accepted {
		t.Fatalf("Accept = %t, %v; want it accepted", accepted, err)
	}
}
