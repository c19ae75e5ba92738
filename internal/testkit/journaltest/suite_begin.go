package journaltest

import (
	"bytes"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// changes returns the operations that change an order.
func changes() []ordering.Operation {
	return []ordering.Operation{upstream.OpPay, upstream.OpComplete, upstream.OpReject}
}

// operations returns all operations of the journal.
func operations() []ordering.Operation {
	return append([]ordering.Operation{upstream.OpCreate}, changes()...)
}

func (s suite) begin(t *testing.T) {
	s.test(t, "a creating call makes a record that has everything", func(t *testing.T, j *journal) {
		o := create()
		r := j.begun(t, o)
		want := ordering.Record{
			Ref:         o.Ref,
			Connection:  conn,
			Client:      o.Client,
			Restaurant:  o.Restaurant,
			State:       ordering.StatePlacing,
			Total:       o.Total,
			MenuVersion: o.MenuVersion,
			ExpectedAt:  o.ExpectedAt,
			CreatedAt:   r.CreatedAt,
			UpdatedAt:   r.CreatedAt,
			Calls: []ordering.Call{{
				Number: 1, Operation: upstream.OpCreate, Outcome: ordering.OutcomeOpen, Client: o.Client,
				RequestID: o.RequestID, Fingerprint: o.Fingerprint, Key: o.Key, SpecID: o.ID, StartedAt: r.CreatedAt,
			}},
		}
		same(t, "Begin", r, want)
		same(t, "Record", j.now(t, r), want)
		same(t, "Record of another replica", newJournal(Fixture{Journal: j.fixture.Again(t)}).now(t, r), want)
		if at := r.CreatedAt; at.Location() != time.UTC || at.Nanosecond()%int(time.Millisecond) != 0 {
			t.Errorf("CreatedAt is %v, want whole milliseconds in UTC", at)
		}
		body, err := j.Body(t.Context(), conn, r.Ref, 1)
		if err != nil || !bytes.Equal(body, o.Body) {
			t.Errorf("Body = %q, %v; want what was to be sent, %q", body, err, o.Body)
		}
	})
	s.test(t, "an order without total or expectedAt has none", func(t *testing.T, j *journal) {
		r := j.begun(t, create(func(o *ordering.CallSpec) {
			o.Total, o.ExpectedAt, o.MenuVersion = decimal.NullDecimal{}, time.Time{}, 0
		}))
		if r := j.now(t, r); r.Total.Valid || !r.ExpectedAt.IsZero() || r.MenuVersion != 0 {
			t.Errorf("total %v, expectedAt %v, menu version %d; want none", r.Total, r.ExpectedAt, r.MenuVersion)
		}
	})
	s.test(t, "without a key no key is taken", func(t *testing.T, j *journal) {
		j.begun(t, create(underKey("")))
		j.begun(t, create(underKey("")))
		j.wantKey(t, "", "", 0)
	})
	for _, op := range changes() {
		s.test(t, "a "+string(op)+" is a call of the order's record", func(t *testing.T, j *journal) {
			j.placed(t, "765")
			o := change(op, "765")
			r := j.begun(t, o)
			want := ordering.Call{
				Number:      2,
				Operation:   op,
				Outcome:     ordering.OutcomeOpen,
				Client:      o.Client,
				RequestID:   o.RequestID,
				Fingerprint: o.Fingerprint,
				Key:         o.Key,
				SpecID:      o.ID,
				StartedAt:   r.UpdatedAt,
				Payments:    o.Payments,
				ForGuest:    o.ForGuest,
			}
			same(t, "the call", r.Calls[1], want)
			same(t, "the call, read anew", j.now(t, r).Calls[1], want)
			j.wantKey(t, o.Key, r.Ref, 2)
			body, err := j.Body(t.Context(), conn, r.Ref, 2)
			if op == upstream.OpComplete {
				wantIs(t, "Body of a completion", err, ordering.ErrNoBody)
			} else if err != nil || !bytes.Equal(body, o.Body) {
				t.Errorf("Body = %q, %v; want %q", body, err, o.Body)
			}
		})
		s.test(t, "a "+string(op)+" of an unknown order", func(t *testing.T, j *journal) {
			o := change(op, "765")
			_, err := j.Begin(t.Context(), o)
			wantIs(t, "Begin", err, ordering.ErrNoOrder)
			j.wantKey(t, o.Key, "", 0)
		})
		s.test(t, "a "+string(op)+" adopts an unknown order", func(t *testing.T, j *journal) {
			o := change(op, "765", adopt)
			r := j.begun(t, o)
			if !r.Adopted || r.Ref != o.Ref || r.OrderID != "765" || r.State != ordering.StatePlaced || r.Client != o.Client ||
				r.Total.Valid || r.Restaurant != "" || r.MenuVersion != 0 || len(r.Calls) != 1 {
				t.Errorf("the record is %+v, want an adopted one", r)
			}
			got, err := j.Order(t.Context(), conn, "765")
			if err != nil {
				t.Fatalf("Order: %v", err)
			}
			same(t, "Order", got, r)
			again := change(op, "765", adopt)
			j.ended(t, r, ordering.OutcomeRefused, "")
			if r := j.begun(t, again); r.Ref != o.Ref || len(r.Calls) != 2 {
				t.Errorf("the next change is call %d of %s, want 2 of %s", len(r.Calls), r.Ref, o.Ref)
			}
		})
	}
	s.busy(t)
	s.states(t)
}

// busy: no call while another of the order is open or unknown.
func (s suite) busy(t *testing.T) {
	t.Helper()
	for _, open := range changes() {
		for _, next := range changes() {
			for _, outcome := range []ordering.Outcome{ordering.OutcomeOpen, ordering.OutcomeUnknown} {
				s.test(t, "a "+string(next)+" while a "+string(open)+" is "+string(outcome), func(t *testing.T, j *journal) {
					j.placed(t, "765")
					r := j.begun(t, change(open, "765"))
					if outcome == ordering.OutcomeUnknown {
						j.ended(t, r, outcome, "")
					}
					o := change(next, "765", adopt)
					_, err := j.Begin(t.Context(), o)
					busy := wantError[*ordering.BusyError](t, "Begin", err)
					if busy.Record.Ref != r.Ref || busy.Call.Number != 2 || busy.Call.Operation != open || busy.Call.Outcome != outcome {
						t.Errorf("busy by call %+v of %s, want call 2 of %s", busy.Call, busy.Record.Ref, r.Ref)
					}
					j.wantKey(t, o.Key, "", 0)
					if now := j.now(t, r); len(now.Calls) != 2 {
						t.Errorf("the record has %d calls, want 2", len(now.Calls))
					}
				})
			}
		}
	}
	s.test(t, "a busy order that is paid is busy first", func(t *testing.T, j *journal) {
		j.placed(t, "765")
		j.ended(t, j.begun(t, change(upstream.OpPay, "765")), ordering.OutcomeDone, "")
		j.begun(t, change(upstream.OpComplete, "765"))
		_, err := j.Begin(t.Context(), change(upstream.OpPay, "765"))
		wantType[*ordering.BusyError](t, "Begin", err)
	})
}

// states: a closed or rejected order accepts no change, a paid one no payment.
func (s suite) states(t *testing.T) {
	t.Helper()
	for _, test := range []struct {
		name  string
		done  ordering.Operation
		state ordering.State
		takes map[ordering.Operation]bool
	}{
		{"paid", upstream.OpPay, ordering.StatePlaced, map[ordering.Operation]bool{
			upstream.OpComplete: true, upstream.OpReject: true,
		}},
		{"closed", upstream.OpComplete, ordering.StateClosed, nil},
		{"rejected", upstream.OpReject, ordering.StateRejected, nil},
	} {
		for _, op := range changes() {
			s.test(t, "a "+string(op)+" of a "+test.name+" order", func(t *testing.T, j *journal) {
				j.placed(t, "765")
				r := j.ended(t, j.begun(t, change(test.done, "765")), ordering.OutcomeDone, "")
				j.wantState(t, r, test.state, ordering.OutcomeDone)
				if paid := test.done == upstream.OpPay; r.Paid != paid {
					t.Errorf("paid is %t, want %t", r.Paid, paid)
				}
				o := change(op, "765", adopt)
				if test.takes[op] {
					j.begun(t, o)
					return
				}
				_, err := j.Begin(t.Context(), o)
				state := wantError[*ordering.StateError](t, "Begin", err)
				if state.Operation != op || state.Record.Ref != r.Ref || state.Record.State != test.state {
					t.Errorf("StateError of a %s of %+v", state.Operation, state.Record)
				}
				j.wantKey(t, o.Key, "", 0)
				same(t, "the record", j.now(t, r), r)
			})
		}
	}
}
