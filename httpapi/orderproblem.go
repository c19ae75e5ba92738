package httpapi

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
func orderProblem(err error) *problem {
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
		return &problem{
			code: CodeValidationFailed, msg: "the order breaks rules of the menu; see errors",
			violations: invalid.Violations, more: invalid.More,
		}
	case errors.As(err, &reused):
		return &problem{
			code: CodeIdempotencyKeyReused, ref: reused.Ref,
			msg: "the Idempotency-Key was sent before with another request; nothing was sent, use a new one",
		}
	case errors.As(err, &inFlight):
		return &problem{
			code: CodeIdempotencyKeyInFlight, ref: inFlight.Ref, retryAfter: retryInFlight,
			msg: "the first request with this Idempotency-Key is not finished; ask again with the same one",
		}
	case errors.As(err, &ambiguous):
		return &problem{
			code: CodeOrderAmbiguous, params: map[string]any{"connections": ambiguous.Connections},
			msg: "several connections have an order with this id; ask with ?connection= for one of: " + strings.Join(ambiguous.Connections, ", "),
		}
	case errors.Is(err, ordering.ErrNoOrder):
		return &problem{code: CodeOrderNotFound, msg: "there is no such order here, or its record is no longer kept"}
	case errors.As(err, &notReady):
		return &problem{code: CodeJournalUnavailable, msg: notReady.Msg, retryAfter: max(notReady.RetryAfter, time.Second), err: err}
	case errors.As(err, &restored):
		return &problem{
			code: CodeJournalRestored, retryAfter: retryRestored, err: err,
			msg: "no new orders are placed at the moment: the record of earlier orders is being checked; try again later",
		}
	case errors.As(err, &notSent):
		return unsent(notSent)
	case errors.As(err, &journal) && !errors.Is(err, context.Canceled):
		return &problem{
			code: CodeJournalUnavailable, retryAfter: retryJournal, err: err,
			msg: "the journal of orders does not answer; nothing was changed, try again",
		}
	default:
		return conflict(err)
	}
}

// conflict is what keeps an order from being changed; nil for what is no such
// error (policy O9).
func conflict(err error) *problem {
	var (
		busy  *ordering.BusyError
		state *ordering.StateError
		taken *ordering.OrderIDTakenError
	)
	switch {
	case errors.As(err, &busy) && busy.Call.Outcome == ordering.OutcomeUnknown:
		return &problem{
			code: CodeOutcomeUnknown, ref: busy.Record.Ref, params: map[string]any{"operation": busy.Call.Operation},
			msg: "it is not known what became of the order's last change; it takes no other before that is resolved",
		}
	case errors.As(err, &busy):
		return &problem{
			code: CodeOrderBusy, ref: busy.Record.Ref, params: map[string]any{"operation": busy.Call.Operation}, retryAfter: retryInFlight,
			msg: "another change of the order is not finished; try again",
		}
	case errors.As(err, &state):
		return &problem{
			code: CodeOrderState, ref: state.Record.Ref, params: map[string]any{"state": state.Record.State, "paid": state.Record.Paid},
			msg: "the order is " + stateWords(state.Record) + " and takes no such change",
		}
	case errors.As(err, &taken):
		return &problem{
			code: CodeOrderIDTaken, params: map[string]any{"orderID": taken.OrderID, "ref": taken.Ref},
			msg: "another order has this orderID",
		}
	default:
		return nil
	}
}

// stateWords is how an order stands, in words.
func stateWords(record ordering.Record) string {
	if record.Paid {
		return string(record.State) + " and paid"
	}
	return string(record.State) + " and not paid"
}

// unsent is a call that was not even begun.
func unsent(err *ordering.NotSentError) *problem {
	if errors.Is(err, context.Canceled) {
		return &problem{code: CodeClientGone, msg: "the client left before anything was sent", err: err}
	}
	p := &problem{
		code: CodeUpstreamUnavailable, msg: "the request did not reach the ordering service; nothing was changed, try again",
		ref: err.Ref, retryAfter: time.Second, err: err,
	}
	if cause, ok := errors.AsType[*upstream.Error](err); ok {
		p.retryAfter = max(p.retryAfter, cause.RetryAfter)
	}
	if errors.Is(err, upstream.ErrBusy) { // policy O8a
		p.code = CodeUpstreamBusy
		p.msg = "too many requests wait for the ordering service; nothing was sent, try again after the time in Retry-After"
	}
	return p
}
