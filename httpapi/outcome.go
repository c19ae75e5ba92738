package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"larder/httpapi/respond"
	"larder/internal/upstream"
	"larder/ordering"
)

const headerReplayed = "Idempotent-Replayed"

// answerOrder counts, logs and answers what came of placing or changing an
// order: by this request, by an earlier one, or err where nothing was begun.
// Everything in the body comes from the record, so that a replay is equal byte
// for byte (policy O7).
func (s *Server) answerOrder(c *gin.Context, call orderCall, result ordering.Result, err error) error {
	s.noteOrder(c, call, result, err)
	if err != nil {
		return respond.WithLanguage(c, err)
	}
	if result.Replayed {
		c.Writer.Header()[headerReplayed] = []string{"true"}
	}
	switch {
	case result.Call.Outcome != ordering.OutcomeDone:
		return outcomeProblem(result)
	case result.Call.Operation == upstream.OpCreate:
		return respond.JSON(c, http.StatusCreated, placedView(result.Record))
	default:
		return respond.JSON(c, http.StatusOK, changedView(result))
	}
}

// operationText is how an operation reads: in a sentence, in the metrics and the
// log, and the state that it leads to.
type operationText struct {
	it, done string
	outcome  string
	state    ordering.State
}

var operationTexts = map[ordering.Operation]operationText{ //nolint:gochecknoglobals // constant
	upstream.OpCreate:   {"the order", "placed", "placed", ordering.StatePlaced},
	upstream.OpPay:      {"the payment", "paid", "paid", ordering.StatePlaced},
	upstream.OpComplete: {"the completion", "completed", "closed", ordering.StateClosed},
	upstream.OpReject:   {"the rejection", "rejected", "rejected", ordering.StateRejected},
}

// placedView is the 201 of a placed order: what was answered first, whatever
// became of the order since.
func placedView(record ordering.Record) any {
	return respond.Result{Result: struct {
		Ref     string         `json:"ref"`
		OrderID string         `json:"orderID"`
		Total   respond.Number `json:"total"`
		State   ordering.State `json:"state"`
	}{record.Ref, record.OrderID, respond.Number(record.Total), ordering.StatePlaced}}
}

// changedView is the 200 of a change: the order as it was after it. Nothing
// follows a completion or a rejection, and a payment only pays.
func changedView(changed ordering.Result) any {
	record, operation := changed.Record, changed.Call.Operation
	return respond.Result{Result: struct {
		Ref     string         `json:"ref"`
		OrderID string         `json:"orderID"`
		State   ordering.State `json:"state"`
		Paid    bool           `json:"paid"`
	}{record.Ref, record.OrderID, operationTexts[operation].state, record.Paid || operation == upstream.OpPay}}
}

// outcomeProblem is what became of a call that was not done.
func outcomeProblem(result ordering.Result) *respond.Problem {
	call, words := result.Call, operationTexts[result.Call.Operation]
	p := &respond.Problem{Ref: result.Record.Ref, RequestID: call.RequestID, Instance: instanceOf(result)}
	switch call.Outcome {
	case ordering.OutcomeRefused:
		p.Code, p.Msg = respond.CodeUpstreamRefused, "the ordering service refused "+words.it
		if call.Resolved != nil {
			p.Msg = words.it + " did not take effect: a person found that out, for the ordering service had not said"
			return p
		}
		if said := call.Answer; said != nil {
			p.Upstream = upstreamSaid(said)
			if said.Msg != "" {
				p.Msg += ": " + said.Msg
			}
		}
	case ordering.OutcomeNotSent:
		p.Code, p.Msg = respond.CodeUpstreamUnavailable, words.it+" did not reach the ordering service; nothing was "+words.done+", try again"
		p.RetryAfter = max(time.Second, result.RetryAfter)
	default:
		p.Code = respond.CodeOrderOutcomeUnknown
		p.Msg = "the ordering service did not say whether it took " + words.it + "; do not send it again under another key before this is resolved"
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
func upstreamSaid(said *ordering.Answer) *respond.UpstreamAnswer {
	passed := &respond.UpstreamAnswer{Status: said.Status, Code: said.Code, Msg: said.Msg, RequestID: said.RequestID}
	var shape struct {
		Errors json.RawMessage `json:"errors"`
	}
	if !said.Cut && json.Unmarshal(said.Body, &shape) == nil && string(shape.Errors) != "null" {
		passed.Errors = shape.Errors
	}
	return passed
}
