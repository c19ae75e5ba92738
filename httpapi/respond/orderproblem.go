package respond

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

const (
	retryInFlight = time.Second // until the same request may have finished
	retryJournal  = 2 * time.Second
	retryRestored = time.Minute // until an operator may have accepted the journal
)

// orderProblem returns the problem for an error of package ordering, or nil for other errors.
// In these cases the request made no call; OutcomeProblem handles calls.
func orderProblem(err error) *Problem {
	if invalid, ok := errors.AsType[*ordering.InvalidError](err); ok {
		p := Invalid("the order is not valid; see errors", invalid.Violations, invalid.More, nil)
		if p.Ref = invalid.Ref; p.Ref != "" { // policy O18
			p.Msg = "the ordering service refused the order, and its menu has changed since; nothing was placed; see errors, or send the order again"
			if invalid.Answer != nil {
				p.upstream = upstreamSaid(invalid.Answer)
			}
		}
		return p
	}
	if reused, ok := errors.AsType[*ordering.KeyReusedError](err); ok {
		return conflictProblem(CodeIdempotencyKeyReused, reused.Ref, 0, nil,
			"the Idempotency-Key was already used for another request; nothing was sent; use a new key")
	}
	if inFlight, ok := errors.AsType[*ordering.InFlightError](err); ok {
		return conflictProblem(CodeIdempotencyKeyInFlight, inFlight.Ref, retryInFlight, nil,
			"the first request with this Idempotency-Key is in progress; retry with the same key")
	}
	if ambiguous, ok := errors.AsType[*ordering.AmbiguousError](err); ok {
		return &Problem{
			Code: CodeOrderAmbiguous, Params: map[string]any{"connections": ambiguous.Connections},
			Msg: "several connections have an order with this id; add ?connection= with one of: " + strings.Join(ambiguous.Connections, ", "),
		}
	}
	if notSent, ok := errors.AsType[*ordering.NotSentError](err); ok {
		return unsent(notSent)
	}
	return cmp.Or(journalProblem(err), Conflict(err))
}

// journalProblem returns the problem of an order that the journal does not take, or nil for other errors.
func journalProblem(err error) *Problem {
	const nothingSent = "; this request was not sent to the ordering service"
	const public = "orders are not accepted at the moment" + nothingSent + "; try again later"
	if format, ok := errors.AsType[*ordering.FormatError](err); ok {
		p := temporaryProblem(CodeJournalFormat, retryRestored, err, format.Msg()) // policy O20
		p.Params, p.public = map[string]any{"unreadable": append([]ordering.Unreadable{}, format.Unreadable...)}, public
		return p
	}
	if notReady, ok := errors.AsType[*ordering.NotReadyError](err); ok {
		p := temporaryProblem(CodeJournalUnavailable, max(notReady.RetryAfter, time.Second), err, notReady.Msg)
		p.public = public
		return p
	}
	if _, restored := errors.AsType[*ordering.RestoredError](err); restored {
		return temporaryProblem(CodeJournalRestored, retryRestored, err,
			"records of earlier orders or payments may be missing, so orders and changes of orders are paused until an operator has checked this"+
				nothingSent+"; try again later with the same key")
	}
	if _, failed := errors.AsType[*ordering.JournalError](err); failed && !errors.Is(err, context.Canceled) {
		p := temporaryProblem(CodeJournalUnavailable, retryJournal, err, "the order journal does not answer"+nothingSent+"; try again")
		if text := redisdb.SafeText(err); !strings.HasPrefix(text, "does not answer") {
			p.Msg, p.public = "Redis "+text+nothingSent, public
		}
		return p
	}
	return nil
}

// Conflict returns the problem of an error that prevents a change of an order, or nil for other errors (policy O9).
func Conflict(err error) *Problem {
	if other, ok := errors.AsType[*ordering.SourceError](err); ok {
		address, client := upstream.SourceParts(other.Record.Source)
		return conflictProblem(CodeOrderOfAnotherService, other.Record.Ref, 0, map[string]any{"address": address, "clientID": client},
			"larder knows this order from the ordering service at "+address+" (client "+client+"), which its connection does not use; "+
				"nothing was sent; change it there; if it is the same service, an operator can set former_urls or former_client_ids")
	}
	if busy, ok := errors.AsType[*ordering.BusyError](err); ok {
		params := map[string]any{"operation": busy.Call.Operation}
		if busy.Call.Outcome == ordering.OutcomeUnknown {
			return conflictProblem(CodeOutcomeUnknown, busy.Record.Ref, 0, params,
				"the outcome of the order's last change is unknown; no other change is possible until it is resolved")
		}
		return conflictProblem(CodeOrderBusy, busy.Record.Ref, retryInFlight, params,
			"another change of the order is in progress; try again")
	}
	if state, ok := errors.AsType[*ordering.StateError](err); ok {
		record := state.Record
		return conflictProblem(CodeOrderState, record.Ref, 0, map[string]any{"state": record.State, "paid": record.Paid},
			"the order is "+StateText(record)+"; its state does not allow this change")
	}
	if taken, ok := errors.AsType[*ordering.OrderIDTakenError](err); ok {
		return conflictProblem(CodeOrderIDTaken, "", 0, map[string]any{"orderID": taken.OrderID, "ref": taken.Ref},
			"another order already has this orderID; check it")
	}
	return nil
}

// conflictProblem returns the problem of a request that contradicts the order ref, or another request for it. wait
// is the time until a retry; 0 if a retry does not help.
func conflictProblem(code Code, ref string, wait time.Duration, params map[string]any, msg string) *Problem {
	return &Problem{Code: code, Msg: msg, Params: params, Ref: ref, RetryAfter: wait}
}

// StateText returns the state of an order as text.
func StateText(record ordering.Record) string {
	if record.Paid {
		return string(record.State) + " and paid"
	}
	if record.PaidAfterAll() {
		return string(record.State) + ", and a payment that was recorded as not done took effect after all"
	}
	return string(record.State) + " and not paid"
}

// unsent returns the problem of a call that was not started.
func unsent(err *ordering.NotSentError) *Problem {
	if errors.Is(err, context.Canceled) {
		return &Problem{Code: CodeClientGone, Msg: "the client disconnected before the request was sent", Cause: err}
	}
	p := temporaryProblem(CodeUpstreamUnavailable, time.Second, err,
		"the request did not reach the ordering service; nothing was changed; try again")
	p.Ref = err.Ref
	if cause, ok := errors.AsType[*upstream.Error](err); ok {
		p.RetryAfter = max(p.RetryAfter, cause.RetryAfter)
	}
	if errors.Is(err, upstream.ErrBusy) { // policy O8a
		p.Code = CodeUpstreamBusy
		p.Msg = "too many requests are waiting for the ordering service; nothing was sent; try again after the time in Retry-After"
	}
	return p
}

// HeaderReplayed marks a response that repeats an earlier one.
const HeaderReplayed = "Idempotent-Replayed"

// OrderCall is the operation of a request, for the log and the metrics.
type OrderCall struct {
	Operation  ordering.Operation
	Connection string
	Restaurant menu.RestaurantID // for placing
	OrderID    string            // for changing
}

// OperationText has the texts of an operation for messages, its outcome in metrics and the log,
// and its resulting state.
type OperationText struct {
	It, done string
	Outcome  string
	State    ordering.State
}

// TextOf returns the texts of an operation.
func TextOf(operation ordering.Operation) OperationText { return operationTexts[operation] }

var operationTexts = map[ordering.Operation]OperationText{ //nolint:gochecknoglobals // constant
	upstream.OpCreate:   {"the order", "placed", "placed", ordering.StatePlaced},
	upstream.OpPay:      {"the payment", "paid", "paid", ordering.StatePlaced},
	upstream.OpComplete: {"the completion", "completed", "closed", ordering.StateClosed},
	upstream.OpReject:   {"the rejection", "rejected", "rejected", ordering.StateRejected},
}

// OutcomeProblem returns the problem of a call that was not done.
func OutcomeProblem(result ordering.Result) *Problem {
	call, words := result.Call, operationTexts[result.Call.Operation]
	p := &Problem{Ref: result.Record.Ref, RequestID: call.RequestID, instance: instanceOf(result)}
	switch call.Outcome {
	case ordering.OutcomeRefused:
		p.Code, p.Msg = CodeUpstreamRefused, "the ordering service refused "+words.It
		if call.Resolved != nil {
			if call.Contradicted == ordering.OutcomeDone {
				p.Code = CodeOrderOutcomeUnknown
				p.Msg = "an operator recorded that " + words.It + " did not take effect, but the ordering service has confirmed it since; " +
					"do not send it again; ask the restaurant"
				return p
			}
			p.Msg = words.It + " did not take effect: the ordering service had not confirmed it, and an operator recorded this outcome"
			return p
		}
		if said := call.Answer; said != nil {
			p.upstream = upstreamSaid(said)
			if said.Msg != "" {
				p.Msg += ": " + said.Msg
			}
		}
	case ordering.OutcomeNotSent:
		p.Code, p.Msg = CodeUpstreamUnavailable, words.It+" did not reach the ordering service; nothing was "+words.done+"; try again"
		p.RetryAfter = max(time.Second, result.RetryAfter)
	default:
		p.Code = CodeOrderOutcomeUnknown
		p.Msg = "the ordering service did not confirm " + words.It +
			", so its outcome is unknown; do not send it again with another key until it is resolved"
	}
	return p
}

// instanceOf returns the path of the request that started the call.
func instanceOf(result ordering.Result) string {
	if result.Call.Operation == upstream.OpCreate {
		return "/v1/restaurants/" + url.PathEscape(string(result.Record.Restaurant)) + "/orders"
	}
	return "/v1/orders/" + url.PathEscape(result.Record.OrderID) + "/" + string(result.Call.Operation)
}

// upstreamSaid returns the ordering service's response for the client (policy O15). It includes
// the errors member if the body has one.
func upstreamSaid(said *ordering.Answer) *upstreamAnswer {
	passed := &upstreamAnswer{Status: said.Status, Code: said.Code, Msg: said.Msg, RequestID: said.RequestID}
	var shape struct {
		Errors json.RawMessage `json:"errors"`
	}
	if !said.Cut && json.Unmarshal(said.Body, &shape) == nil && string(shape.Errors) != "null" {
		passed.Errors = shape.Errors
	}
	return passed
}
