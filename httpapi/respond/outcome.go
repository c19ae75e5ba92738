package respond

import (
	"encoding/json"
	"net/url"
	"time"

	"larder/internal/upstream"
	"larder/ordering"
)

// HeaderReplayed tells that an answer is one that was given before.
const HeaderReplayed = "Idempotent-Replayed"

// OperationText is how an operation reads: in a sentence, in the metrics and the
// log, and the state that it leads to.
type OperationText struct {
	It, done string
	Outcome  string
	State    ordering.State
}

// TextOf returns how an operation reads.
func TextOf(operation ordering.Operation) OperationText { return operationTexts[operation] }

var operationTexts = map[ordering.Operation]OperationText{ //nolint:gochecknoglobals // constant
	upstream.OpCreate:   {"the order", "placed", "placed", ordering.StatePlaced},
	upstream.OpPay:      {"the payment", "paid", "paid", ordering.StatePlaced},
	upstream.OpComplete: {"the completion", "completed", "closed", ordering.StateClosed},
	upstream.OpReject:   {"the rejection", "rejected", "rejected", ordering.StateRejected},
}

// OutcomeProblem is what became of a call that was not done.
func OutcomeProblem(result ordering.Result) *Problem {
	call, words := result.Call, operationTexts[result.Call.Operation]
	p := &Problem{Ref: result.Record.Ref, RequestID: call.RequestID, Instance: instanceOf(result)}
	switch call.Outcome {
	case ordering.OutcomeRefused:
		p.Code, p.Msg = CodeUpstreamRefused, "the ordering service refused "+words.It
		if call.Resolved != nil {
			p.Msg = words.It + " did not take effect: a person found that out, for the ordering service had not said"
			return p
		}
		if said := call.Answer; said != nil {
			p.Upstream = upstreamSaid(said)
			if said.Msg != "" {
				p.Msg += ": " + said.Msg
			}
		}
	case ordering.OutcomeNotSent:
		p.Code, p.Msg = CodeUpstreamUnavailable, words.It+" did not reach the ordering service; nothing was "+words.done+", try again"
		p.RetryAfter = max(time.Second, result.RetryAfter)
	default:
		p.Code = CodeOrderOutcomeUnknown
		p.Msg = "the ordering service did not say whether it took " + words.It + "; do not send it again under another key before this is resolved"
	}
	return p
}

// instanceOf is the path of the request that began the call.
func instanceOf(result ordering.Result) string {
	if result.Call.Operation == upstream.OpCreate {
		return "/v1/restaurants/" + url.PathEscape(string(result.Record.Restaurant)) + "/orders"
	}
	return "/v1/orders/" + url.PathEscape(result.Record.OrderID) + "/" + string(result.Call.Operation)
}

// upstreamSaid passes on what the ordering service said (policy O15), with the
// errors member of the document's error shape if the body has one.
func upstreamSaid(said *ordering.Answer) *UpstreamAnswer {
	passed := &UpstreamAnswer{Status: said.Status, Code: said.Code, Msg: said.Msg, RequestID: said.RequestID}
	var shape struct {
		Errors json.RawMessage `json:"errors"`
	}
	if !said.Cut && json.Unmarshal(said.Body, &shape) == nil && string(shape.Errors) != "null" {
		passed.Errors = shape.Errors
	}
	return passed
}
