package ordering_test

import (
	"context"
	"testing"

	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// If it is unknown whether the journal opened the new call, nothing is sent, and the call
// does not stay open.
func TestRetryThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		how   journaltest.Failure
		state ordering.State
		calls int
	}{
		{"the journal got nothing", journaltest.FailBefore, ordering.StateUnknown, 1},
		{"the reply was lost", journaltest.FailAfter, ordering.StateNotSent, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h, was := unknown(t, upstream.OpCreate)
			h.failing(tc.how, journaltest.MethodResolve)
			_, err := h.Resolve(t.Context(), resolution(was.Record.Ref, upstream.OpCreate, ordering.ResolvedRetry))
			if !is[*ordering.JournalError](err) {
				t.Errorf("Resolve() = %v, want a *JournalError", err)
			}
			h.wantSent(t, 1)
			got := h.record(t, was.Record.Ref)
			if call, busy := got.Busy(); got.State != tc.state || len(got.Calls) != tc.calls || busy && call.Outcome == ordering.OutcomeOpen {
				t.Errorf("record %+v, want it %s with %d calls, none open", got, tc.state, tc.calls)
			}
		})
	}
}

// between is a journal that calls a function after reading a body.
type between struct {
	ordering.Journal
	happens *func()
}

func (b between) Body(ctx context.Context, connection, ref string, call int) ([]byte, error) {
	body, err := b.Journal.Body(ctx, connection, ref, call)
	if happens := *b.happens; happens != nil {
		*b.happens = nil
		happens()
	}
	return body, err
}

// A resolution applies to the call that the operator saw. If another call has become unknown
// since then, that call is not resolved, and the body of the first one is not sent for it.
func TestRetryAppliesToOneCall(t *testing.T) {
	t.Parallel()
	var happens func()
	h := newHarness(t, ordering.DefaultConfig(), func(h *harness, d *ordering.Deps) { d.Journal = between{h.journal, &happens} })
	h.placed(t)
	h.service.fails(lostAnswer())
	was := h.changed(t, ordering.OutcomeUnknown, changing(upstream.OpPay, fullPayment))
	happens = func() {
		if _, err := h.Resolve(t.Context(), resolution(was.Record.Ref, upstream.OpPay, ordering.ResolvedNotDone)); err != nil {
			t.Errorf("Resolve() by another operator: %v", err)
		}
		h.changed(t, ordering.OutcomeUnknown, changing(upstream.OpPay, otherPayment))
	}
	_, err := h.Resolve(t.Context(), resolution(was.Record.Ref, upstream.OpPay, ordering.ResolvedRetry))
	if !is[*ordering.StateError](err) {
		t.Errorf("Resolve() = %v, want a *StateError", err)
	}
	h.wantSent(t, 3)
	got := h.record(t, was.Record.Ref)
	if call, busy := got.Busy(); !busy || call.Number != 3 || call.Outcome != ordering.OutcomeUnknown {
		t.Errorf("call %+v, want the third one, still unknown", call)
	}
}
