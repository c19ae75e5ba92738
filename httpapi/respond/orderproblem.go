package respond

import (
	"context"
	"errors"
	"strings"
	"time"

	"larder/internal/upstream"
	"larder/ordering"
)

const (
	retryInFlight = time.Second // until the same request may be finished
	retryJournal  = 2 * time.Second
	retryRestored = time.Minute // until an operator may have accepted the journal
)

// orderProblem is what an error of ordering becomes; nil for what is none of
// its errors. Nothing was begun by the request: what came of a call that was
// begun is told by outcomeProblem.
func orderProblem(err error) *Problem {
	var (
		invalid   *ordering.InvalidError
		reused    *ordering.KeyReusedError
		inFlight  *ordering.InFlightError
		notReady  *ordering.NotReadyError
		journal   *ordering.JournalError
		notSent   *ordering.NotSentError
		ambiguous *ordering.AmbiguousError
		restored  *ordering.RestoredError
	)
	switch {
	case errors.As(err, &invalid):
		return &Problem{
			Code: CodeValidationFailed, Msg: "the order breaks rules of the menu; see errors",
			Violations: invalid.Violations, More: invalid.More,
		}
	case errors.As(err, &reused):
		return &Problem{
			Code: CodeIdempotencyKeyReused, Ref: reused.Ref,
			Msg: "the Idempotency-Key was sent before with another request; nothing was sent, use a new one",
		}
	case errors.As(err, &inFlight):
		return &Problem{
			Code: CodeIdempotencyKeyInFlight, Ref: inFlight.Ref, RetryAfter: retryInFlight,
			Msg: "the first request with this Idempotency-Key is not finished; ask again with the same one",
		}
	case errors.As(err, &ambiguous):
		return &Problem{
			Code: CodeOrderAmbiguous, Params: map[string]any{"connections": ambiguous.Connections},
			Msg: "several connections have an order with this id; ask with ?connection= for one of: " + strings.Join(ambiguous.Connections, ", "),
		}
	case errors.Is(err, ordering.ErrNoOrder):
		return &Problem{Code: CodeOrderNotFound, Msg: "there is no such order here, or its record is no longer kept"}
	case errors.As(err, &notReady):
		return &Problem{Code: CodeJournalUnavailable, Msg: notReady.Msg, RetryAfter: max(notReady.RetryAfter, time.Second), Cause: err}
	case errors.As(err, &restored):
		return &Problem{
			Code: CodeJournalRestored, RetryAfter: retryRestored, Cause: err,
			Msg: "no new orders are placed at the moment: the record of earlier orders is being checked; try again later",
		}
	case errors.As(err, &notSent):
		return unsent(notSent)
	case errors.As(err, &journal) && !errors.Is(err, context.Canceled):
		return &Problem{
			Code: CodeJournalUnavailable, RetryAfter: retryJournal, Cause: err,
			Msg: "the journal of orders does not answer; nothing was changed, try again",
		}
	default:
		return Conflict(err)
	}
}

// Conflict is what keeps an order from being changed; nil for what is no such
// error (policy O9).
func Conflict(err error) *Problem {
	var (
		busy  *ordering.BusyError
		state *ordering.StateError
		taken *ordering.OrderIDTakenError
	)
	switch {
	case errors.As(err, &busy) && busy.Call.Outcome == ordering.OutcomeUnknown:
		return &Problem{
			Code: CodeOutcomeUnknown, Ref: busy.Record.Ref, Params: map[string]any{"operation": busy.Call.Operation},
			Msg: "it is not known what became of the order's last change; it takes no other before that is resolved",
		}
	case errors.As(err, &busy):
		return &Problem{
			Code: CodeOrderBusy, Ref: busy.Record.Ref, Params: map[string]any{"operation": busy.Call.Operation}, RetryAfter: retryInFlight,
			Msg: "another change of the order is not finished; try again",
		}
	case errors.As(err, &state):
		return &Problem{
			Code: CodeOrderState, Ref: state.Record.Ref, Params: map[string]any{"state": state.Record.State, "paid": state.Record.Paid},
			Msg: "the order is " + StateText(state.Record) + " and takes no such change",
		}
	case errors.As(err, &taken):
		return &Problem{
			Code: CodeOrderIDTaken, Params: map[string]any{"orderID": taken.OrderID, "ref": taken.Ref},
			Msg: "another order has this orderID",
		}
	default:
		return nil
	}
}

// StateText is how an order stands, in words.
func StateText(record ordering.Record) string {
	if record.Paid {
		return string(record.State) + " and paid"
	}
	return string(record.State) + " and not paid"
}

// unsent is a call that was not even begun.
func unsent(err *ordering.NotSentError) *Problem {
	if errors.Is(err, context.Canceled) {
		return &Problem{Code: CodeClientGone, Msg: "the client left before anything was sent", Cause: err}
	}
	p := &Problem{
		Code: CodeUpstreamUnavailable, Msg: "the request did not reach the ordering service; nothing was changed, try again",
		Ref: err.Ref, RetryAfter: time.Second, Cause: err,
	}
	if cause, ok := errors.AsType[*upstream.Error](err); ok {
		p.RetryAfter = max(p.RetryAfter, cause.RetryAfter)
	}
	if errors.Is(err, upstream.ErrBusy) { // policy O8a
		p.Code = CodeUpstreamBusy
		p.Msg = "too many requests wait for the ordering service; nothing was sent, try again after the time in Retry-After"
	}
	return p
}
