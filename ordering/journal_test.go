package ordering_test

import (
	"errors"
	"strings"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// An error of the journal contains its subject and its cause.
func TestErrorsNameSubjectAndCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	record := ordering.Record{Ref: "REF", State: ordering.StatePlaced, Paid: true}
	for _, tc := range []struct {
		err   error
		want  []string
		wraps bool
	}{
		{&ordering.JournalError{Err: cause}, []string{"journal", "cause"}, true},
		{&ordering.NotReadyError{Msg: "set appendonly", Err: cause}, []string{"set appendonly", "cause"}, true},
		{&ordering.NotReadyError{Msg: "set appendonly"}, []string{"set appendonly"}, false},
		{&ordering.NotSentError{Ref: "REF", Err: cause}, []string{"nothing sent", "cause"}, true},
		{&ordering.KeyTakenError{Record: record, Call: 2}, []string{"call 2", "REF"}, false},
		{&ordering.KeyReusedError{Ref: "REF"}, []string{"REF"}, false},
		{&ordering.InFlightError{Ref: "REF"}, []string{"REF"}, false},
		{&ordering.BusyError{Record: record, Call: ordering.Call{Operation: upstream.OpPay, Outcome: ordering.OutcomeOpen}}, []string{"pay", "REF", "open"}, false},
		{&ordering.StateError{Record: record, Operation: upstream.OpPay}, []string{"pay", "REF", "placed", "true"}, false},
		{&ordering.ContradictionError{Record: record, Call: 1, Outcome: ordering.OutcomeDone}, []string{"call 1", "REF", "done"}, false},
		{&ordering.OrderIDTakenError{OrderID: "765", Ref: "REF"}, []string{"765", "REF"}, false},
	} {
		for _, want := range tc.want {
			if got := tc.err.Error(); !strings.Contains(got, want) {
				t.Errorf("%T has the text %q, want %q in it", tc.err, got, want)
			}
		}
		if got := errors.Is(tc.err, cause); got != tc.wraps {
			t.Errorf("%T wraps its cause: %t, want %t", tc.err, got, tc.wraps)
		}
	}
}

func TestRecordsCalls(t *testing.T) {
	t.Parallel()
	call := func(n int, op ordering.Operation, outcome ordering.Outcome) ordering.Call {
		return ordering.Call{
			Number:    n,
			Operation: op,
			Outcome:   outcome,
			Payments:  []ordering.Payment{{Code: string(outcome)}},
		}
	}
	r := ordering.Record{Calls: []ordering.Call{
		call(1, upstream.OpCreate, ordering.OutcomeDone), call(2, upstream.OpPay, ordering.OutcomeRefused),
		call(3, upstream.OpPay, ordering.OutcomeDone), call(4, upstream.OpComplete, ordering.OutcomeUnknown),
	}}
	if last, ok := r.Last(upstream.OpPay); !ok || last.Number != 3 {
		t.Errorf("the last payment is call %d, %t; want 3", last.Number, ok)
	}
	if busy, ok := r.Busy(); !ok || busy.Number != 4 {
		t.Errorf("the busy call is %d, %t; want 4", busy.Number, ok)
	}
	if paid := r.Payments(); len(paid) != 1 || paid[0].Code != "done" {
		t.Errorf("paid with %+v, want the successful payment", paid)
	}
	unknown, _ := r.LastUnknown(upstream.OpComplete)
	if _, ok := r.LastUnknown(upstream.OpPay); ok || unknown.Number != 4 {
		t.Errorf("the unknown completion is call %d, want 4; an unknown payment: %t", unknown.Number, ok)
	}
	r.Calls = r.Calls[:2]
	if _, ok := r.Busy(); ok || r.Payments() != nil {
		t.Errorf("busy %t, paid with %+v; want neither", ok, r.Payments())
	}
	if _, ok := r.Last(upstream.OpReject); ok {
		t.Error("there is a last rejection without any rejection")
	}
	if all := ordering.States(); len(all) != 7 || all[0] != ordering.StatePlacing {
		t.Errorf("states are %v", all)
	}
}
