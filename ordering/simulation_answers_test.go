package ordering_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// checkAnswer checks the result of a request.
func (w *world) checkAnswer(a *simRequest, orders map[string]*shown) {
	if a.err != nil {
		w.checkError(a, orders)
		return
	}
	call, record := a.result.Call, a.result.Record
	if w.steady && !a.recorded {
		w.wrong("%s: result %s differs from the record of a healthy journal", a, call.Outcome)
	}
	w.seen(string(call.Operation) + " " + string(call.Outcome))
	if a.resolving != nil {
		return
	}
	if call.Operation != a.operation() || call.Outcome == ordering.OutcomeOpen {
		w.wrong("%s got a %s that is %s", a, call.Operation, call.Outcome)
	}
	if call.Outcome == ordering.OutcomeDone {
		id := record.OrderID
		if a.changing != nil {
			id = a.changing.OrderID // an adopted record may have lost its orderID
		}
		w.checkDone(a, orders[id])
	}
	if _, known := w.truth.records[record.Ref]; !known {
		w.wrong("%s got the record %s, which is not in the journal", a, record.Ref)
	}
	w.checkAgain(a)
}

// checkDone checks that a call reported as done was executed.
func (w *world) checkDone(a *simRequest, o *shown) {
	r := a.result.Record
	switch {
	case o == nil:
		w.wrong("%s: done, but the service has no order %q", a, r.OrderID)
	case a.placing != nil && (o.Body.Comment != a.label || !r.Total.Decimal.Equal(o.Total)):
		w.wrong("%s: the order %s is %q of %s", a, o.OrderID, o.Body.Comment, o.Total)
	case a.operation() == upstream.OpPay && !o.paidWith(a.label),
		a.operation() == upstream.OpComplete && o.State != "closed",
		a.operation() == upstream.OpReject && o.State != "rejected":
		w.wrong("%s: done, but the order at the service is %s, paid %t", a, o.State, o.Paid)
	}
}

// checkAgain checks that all results for one key are the same.
func (w *world) checkAgain(a *simRequest) {
	if a.identity == "" {
		return
	}
	if is := a.result.Call; is.Outcome == ordering.OutcomeNotSent || (is.Outcome == ordering.OutcomeRefused && !a.own) {
		if a.result.Replayed {
			w.wrong("%s: replayed, although %s frees the key", a, is.Outcome)
		}
		return // it freed the key, maybe long before its result
	}
	before := w.truth.answered[a.identity]
	w.truth.answered[a.identity] = a
	if before == nil || a.at.Sub(before.at) >= simKeyTTL || before.at.After(a.at) {
		return
	}
	was, is := before.result.Call, a.result.Call
	same := before.result.Record.Ref == a.result.Record.Ref && was.Number == is.Number
	kept := was.Outcome != ordering.OutcomeUnknown
	switch {
	case kept && before.recorded:
		was.EndedAt, is.EndedAt = time.Time{}, time.Time{} // by the instance's clock if the journal's reply was lost
		was.Attempts, is.Attempts = nil, nil               // may arrive late, after a person's resolution
		if d := cmp.Diff(was, is); !same || d != "" {
			w.wrong("%s: %s had the result %s, and now has %s of %s (-was +is):\n%s",
				a, before.result.Record.Ref, was.Outcome, is.Outcome, a.result.Record.Ref, d)
		}
	case kept && (!same || (is.Outcome.Certain() && is.Outcome != was.Outcome)):
		if again := w.truth.records[before.result.Record.Ref]; again.Calls[was.Number-1].Resolved == nil {
			w.wrong("%s: had the result %s of %s, and now has %s of %s", a, was.Outcome, before.result.Record.Ref, is.Outcome, a.result.Record.Ref)
		}
	case was.Outcome == ordering.OutcomeUnknown && !same:
		// An operator sent it again, or it was not sent.
		r := w.truth.records[before.result.Record.Ref]
		if r.Calls[was.Number-1].Outcome == ordering.OutcomeDone {
			w.wrong("%s: had the result unknown of %s, which was done, and now has %s of %s", a, r.Ref, is.Outcome, a.result.Record.Ref)
		}
	}
}

// checkError checks that no call was opened, and that the reason is valid.
func (w *world) checkError(a *simRequest, orders map[string]*shown) {
	var (
		invalid *ordering.InvalidError
		reused  *ordering.KeyReusedError
		flight  *ordering.InFlightError
		left    *ordering.NotSentError
		busy    *ordering.BusyError
		state   *ordering.StateError
		journal *ordering.JournalError
		taken   *ordering.OrderIDTakenError
	)
	ok := false
	switch err := a.err; {
	case errors.As(err, &invalid):
		w.seen("error invalid")
		before := w.truth.answered[a.identity]
		kept := before != nil && before.recorded && before.result.Call.Outcome != ordering.OutcomeUnknown && a.at.Sub(before.at) < simKeyTTL
		ok = a.invalid || (a.placing != nil && a.metStop && !kept)
	case errors.As(err, &reused):
		w.seen("error reused")
		ok = slices.ContainsFunc(w.requests, func(b *simRequest) bool { return b.identity == a.identity && b.label != a.label })
	case errors.As(err, &flight):
		w.seen("error in flight")
		ok = a.identity != ""
	case errors.As(err, &left):
		w.seen("error not sent")
		answer, refused := errors.AsType[*upstream.Error](err) // no slot, or no token (policy O8a)
		ok = a.left || refused && answer.Effect == upstream.EffectNone
	case errors.As(err, &journal):
		w.seen("error journal")
		if w.steady && !a.left {
			w.wrong("%s: %v, with a healthy journal", a, err)
		}
		ok = errors.Is(err, journaltest.ErrInjected) || errors.Is(err, context.DeadlineExceeded) || (a.left && errors.Is(err, context.Canceled))
	case a.placing != nil:
	case errors.Is(err, ordering.ErrNoOrder):
		w.seen("error no order")
		ok = a.changing != nil && a.changing.V1 && !a.known
	case errors.As(err, &busy):
		w.seen("error busy")
		ok = !busy.Call.Outcome.Certain()
	case errors.As(err, &state):
		w.seen("error state")
		o := orders[state.Record.OrderID]
		ok = a.resolving != nil || (o != nil && (o.ended() || (a.operation() == upstream.OpPay && o.Paid)))
	case errors.As(err, &taken), errors.Is(err, ordering.ErrNoBody):
		ok = a.resolving != nil
	}
	if !ok {
		w.wrong("%s: %v", a, a.err)
	}
}
