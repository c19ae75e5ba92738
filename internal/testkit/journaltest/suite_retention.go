package journaltest

import (
	"errors"
	"testing"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// outlive runs a test with a fixture whose retention it waits for.
func (s suite) outlive(t *testing.T, name string, body func(t *testing.T, j *journal, retention Retention)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		retention := shortRetention()
		body(t, newJournal(s.open(t, retention)), retention)
	})
}

// soon makes an order expected at once, so that its retention counts from its
// creation.
func soon(o *ordering.CallSpec) { o.ExpectedAt = time.Time{} }

func (s suite) retention(t *testing.T) {
	s.outlive(t, "a key lives from the outcome on", func(t *testing.T, j *journal, retention Retention) {
		began := time.Now()
		o := create(soon)
		r := j.ended(t, j.begun(t, o), ordering.OutcomeDone, "765")
		j.pass(t, retention.Key/2)
		got, call, _ := j.lookup(t, o.Key)
		if j.within(began, retention.Key) && (call != 1 || got.Ref != r.Ref) {
			t.Errorf("Lookup gives call %d of %q, want call 1 of %q", call, got.Ref, r.Ref)
		}
		j.pass(t, retention.Key/2+slack)
		j.wantKey(t, o.Key, "", 0)
		next := create(soon, underKey(o.Key))
		j.begun(t, next)
		j.wantKey(t, next.Key, next.Ref, 1)
		j.now(t, r)
	})
	s.outlive(t, "a key lives on while its call is open or unknown", func(t *testing.T, j *journal, retention Retention) {
		open, unknown := create(soon), create(soon)
		j.begun(t, open)
		r := j.ended(t, j.begun(t, unknown), ordering.OutcomeUnknown, "")
		j.pass(t, retention.Record+retention.Guest+slack)
		if _, err := j.Sweep(t.Context(), conn); err != nil {
			t.Errorf("Sweep: %v", err)
		}
		j.wantKey(t, open.Key, open.Ref, 1)
		j.wantKey(t, unknown.Key, unknown.Ref, 1)
		if body, err := j.Body(t.Context(), conn, r.Ref, 1); err != nil || len(body) == 0 {
			t.Errorf("Body of an unknown order = %q, %v; want it kept", body, err)
		}
		left := j.pages(t, ordering.Query{Connections: []string{conn}, Limit: 50}, nil)
		sameSet(t, "List", left, []string{open.Ref, unknown.Ref})
		// After the resolution it is kept for a while.
		r = j.resolved(t, resolution(r, upstream.OpCreate, ordering.ResolvedNotDone, ""))
		j.wantKey(t, unknown.Key, unknown.Ref, 1)
		j.now(t, r)
		j.resolvedOutcome(t, retention, r)
	})
	s.outlive(t, "guest data and answers live for customer_data_ttl", func(t *testing.T, j *journal, retention Retention) {
		began := time.Now()
		e := resultOf(j.begun(t, create(soon)), ordering.OutcomeRefused, "")
		e.Answer, e.Attempts = answer(422), attempts(422, ordering.OutcomeRefused)
		r, err := j.Finish(t.Context(), e)
		if err != nil {
			t.Fatalf("Finish: %v", err)
		}
		j.pass(t, retention.Guest/2)
		_, err = j.Body(t.Context(), conn, r.Ref, 1)
		kept := j.now(t, r).Calls[0].Answer
		if j.within(began, retention.Guest) {
			if err != nil {
				t.Errorf("Body within customer_data_ttl: %v", err)
			}
			same(t, "the answer within customer_data_ttl", kept, e.Answer)
		}
		j.pass(t, retention.Guest/2+slack)
		_, err = j.Body(t.Context(), conn, r.Ref, 1)
		wantIs(t, "Body after customer_data_ttl", err, ordering.ErrNoBody)
		call := j.now(t, r).Calls[0]
		same(t, "the answer after customer_data_ttl", call.Answer, &ordering.Answer{Status: 422, Code: e.Answer.Code})
		same(t, "the tries after customer_data_ttl", call.Attempts, e.Attempts)
	})
	s.outlive(t, "a record lives from its creation", func(t *testing.T, j *journal, retention Retention) {
		began := time.Now()
		r := j.placed(t, "765", soon)
		j.pass(t, retention.Record/2)
		if _, err := j.Record(t.Context(), []string{conn}, r.Ref); j.within(began, retention.Record) && err != nil {
			t.Errorf("Record within its retention: %v", err)
		}
		j.pass(t, retention.Record/2+slack)
		j.wantGone(t, r)
		j.begun(t, change(upstream.OpPay, "765", adopt)) // as an order that the journal does not know
	})
	s.outlive(t, "a record lives from expectedAt", func(t *testing.T, j *journal, retention Retention) {
		r := j.begun(t, create(soon))
		later := j.placed(t, "765", func(o *ordering.CallSpec) { o.ExpectedAt = r.CreatedAt.Add(24 * time.Hour) })
		j.pass(t, retention.Record+slack)
		if got := j.now(t, later); got.OrderID != "765" {
			t.Errorf("the order is %q, want 765", got.OrderID)
		}
		if got, err := j.Order(t.Context(), conn, "765"); err != nil || got.Ref != later.Ref {
			t.Errorf("Order gives %q, %v; want %s", got.Ref, err, later.Ref)
		}
	})
	s.outlive(t, "a record lives on while a change of it is unknown", func(t *testing.T, j *journal, retention Retention) {
		r := j.placed(t, "765", soon)
		o := change(upstream.OpPay, "765")
		j.ended(t, j.begun(t, o), ordering.OutcomeUnknown, "")
		j.pass(t, retention.Record+retention.Guest+slack)
		if _, err := j.Sweep(t.Context(), conn); err != nil {
			t.Errorf("Sweep: %v", err)
		}
		if got, err := j.Order(t.Context(), conn, "765"); err != nil || got.Ref != r.Ref {
			t.Fatalf("Order gives %q, %v; want %s", got.Ref, err, r.Ref)
		}
		j.wantKey(t, o.Key, r.Ref, 2)
		again := j.resolved(t, resolution(r, upstream.OpPay, ordering.ResolvedRetry, ""))
		body, err := j.Body(t.Context(), conn, r.Ref, again.Calls[2].Number)
		if err != nil || string(body) != string(o.Body) {
			t.Errorf("Body = %q, %v; want %q", body, err, o.Body)
		}
		j.resolvedOutcome(t, retention, j.ended(t, again, ordering.OutcomeDone, ""))
	})
	s.outlive(t, "a key of a record that is gone is free", func(t *testing.T, j *journal, retention Retention) {
		r := j.placed(t, "765", soon)
		j.pass(t, retention.Record-retention.Key/2)
		o := change(upstream.OpPay, "765", adopt, derived)
		got, err := j.Begin(t.Context(), o)
		if err != nil {
			t.Fatalf("Begin: %v", err)
		}
		j.ended(t, got, ordering.OutcomeDone, "")
		j.pass(t, retention.Key/2+slack)
		record, number, err := j.Lookup(t.Context(), conn, o.Key)
		if _, ok := record.Call(number); !errors.Is(err, ordering.ErrKeyFree) && (err != nil || !ok) {
			t.Errorf("Lookup gives call %d of %q, %v; want a call of a record, or a free key", number, record.Ref, err)
		}
		j.pass(t, retention.Record+retention.Guest+slack)
		j.wantKey(t, o.Key, "", 0)
		j.wantGone(t, r)
	})
}

// resolvedOutcome waits for the end of a record that was kept beyond its retention.
func (j *journal) resolvedOutcome(t *testing.T, retention Retention, r ordering.Record) {
	t.Helper()
	j.pass(t, retention.Record+retention.Guest+slack)
	j.wantGone(t, r)
}

// within reports whether what was just read was within a retention that began at a moment. In
// real time, a busy machine may have read later.
func (j *journal) within(began time.Time, retention time.Duration) bool {
	return j.fixture.Advance != nil || time.Since(began) < retention
}

// wantGone checks that nothing is left of a record.
func (j *journal) wantGone(t *testing.T, r ordering.Record) {
	t.Helper()
	_, err := j.Record(t.Context(), []string{conn}, r.Ref)
	wantIs(t, "Record of what has outlived its retention", err, ordering.ErrNoOrder)
	_, err = j.Order(t.Context(), conn, r.OrderID)
	wantIs(t, "Order of what has outlived its retention", err, ordering.ErrNoOrder)
	if moved, err := j.Sweep(t.Context(), conn); err != nil || len(moved) != 0 {
		t.Errorf("Sweep moved %v, %v; want nothing", refs(moved), err)
	}
	for _, ref := range j.pages(t, ordering.Query{Connections: []string{conn}, Limit: 50}, nil) {
		if ref == r.Ref {
			t.Errorf("%s has outlived its retention and is listed", ref)
		}
	}
}
