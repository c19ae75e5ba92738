package orders

import (
	"cmp"
	"maps"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering"
)

// answerOrder counts, logs and answers the result of placing or changing an order, or err if no call was
// made. The body comes only from the record, so that a replay has the same bytes (policy O7).
func (h *Handlers) answerOrder(c *gin.Context, call respond.OrderCall, result ordering.Result, err error) error {
	h.Note(c, call, result, err)
	if err != nil {
		return respond.WithLanguage(c, err)
	}
	if result.Replayed {
		c.Writer.Header()[respond.HeaderReplayed] = []string{"true"}
	}
	switch {
	case result.Call.Outcome != ordering.OutcomeDone:
		return respond.OutcomeProblem(result)
	case result.Call.Operation == upstream.OpCreate:
		return respond.JSON(c, http.StatusCreated, placedView(result.Record))
	default:
		return respond.JSON(c, http.StatusOK, changedView(result))
	}
}

// placedView returns the body of the 201 for a placed order. Later changes of the order do not change it.
func placedView(record ordering.Record) any {
	return respond.Result{Result: struct {
		Ref     string         `json:"ref"`
		OrderID string         `json:"orderID"`
		Total   respond.Number `json:"total"`
		State   ordering.State `json:"state"`
	}{record.Ref, record.OrderID, respond.Number(record.Total), ordering.StatePlaced}}
}

// changedView returns the body of the 200 for a change: the order directly after it.
func changedView(changed ordering.Result) any {
	record, operation := changed.Record, changed.Call.Operation
	return respond.Result{Result: struct {
		Ref     string         `json:"ref"`
		OrderID string         `json:"orderID"`
		State   ordering.State `json:"state"`
		Paid    bool           `json:"paid"`
	}{record.Ref, record.OrderID, respond.TextOf(operation).State, record.Paid || operation == upstream.OpPay}}
}

// Note counts and logs the result of placing or changing an order.
func (h *Handlers) Note(c *gin.Context, call respond.OrderCall, result ordering.Result, err error) {
	outcome := string(result.Call.Outcome)
	switch {
	case err != nil:
		outcome = refusalOf(respond.ProblemOf(err).Code)
	case result.Call.Outcome == ordering.OutcomeDone:
		outcome = respond.TextOf(result.Call.Operation).Outcome
	}
	if result.Replayed && err == nil {
		h.deps.Metrics.Replay(string(call.Operation))
	} else {
		h.deps.Metrics.Order(string(call.Operation), outcome)
	}
	h.logOrder(c, call, outcome, result, err)
}

// logOrder logs the result, without keys, bodies and guests' data.
func (h *Handlers) logOrder(c *gin.Context, call respond.OrderCall, outcome string, result ordering.Result, err error) {
	fields := logrus.Fields{
		"event":      "order." + outcome,
		"operation":  string(call.Operation),
		"requestId":  respond.RequestID(c),
		"client":     auth.CallerOf(c).Client,
		"connection": call.Connection,
		"restaurant": string(cmp.Or(result.Record.Restaurant, call.Restaurant)),
		"orderID":    cmp.Or(result.Record.OrderID, call.OrderID),
		"replayed":   result.Replayed,
	}
	maps.Copy(fields, tracing.LogFields(c.Request.Context()))
	if err != nil {
		p := respond.ProblemOf(err)
		fields["ref"] = p.Ref
		if p.Violations != nil {
			fields["violations"] = len(p.Violations)
		} else {
			fields["error"] = err.Error()
		}
		h.deps.Log.WithFields(fields).Warn("order request failed before a call was made")
		return
	}
	record, made := result.Record, result.Call
	fields["ref"], fields["menuVersion"] = record.Ref, record.MenuVersion
	if made.Outcome == ordering.OutcomeDone {
		h.deps.Log.WithFields(fields).Info("order call done")
		return
	}
	fields["tries"] = len(made.Attempts)
	if said := made.Answer; said != nil {
		fields["status"], fields["code"] = said.Status, said.Code
	}
	h.deps.Log.WithFields(fields).Warn("order call not done, or its outcome is unknown")
}

// refusalOf returns the reason why no call was made, from a short list for the metrics.
func refusalOf(code respond.Code) string {
	switch code {
	case respond.CodeValidationFailed, respond.CodeMalformedJSON:
		return "invalid"
	case respond.CodeIdempotencyKeyReused, respond.CodeIdempotencyKeyInFlight,
		respond.CodeOrderBusy, respond.CodeOutcomeUnknown, respond.CodeOrderState:
		return "conflict"
	case respond.CodeOrderNotFound, respond.CodeOrderAmbiguous:
		return "not_found"
	case respond.CodeUpstreamUnavailable:
		return string(ordering.OutcomeNotSent)
	case respond.CodeUpstreamBusy:
		return "busy"
	case respond.CodeJournalUnavailable, respond.CodeJournalRestored, respond.CodeStorageUnavailable, respond.CodeNoCatalogue:
		return "unavailable"
	case respond.CodeClientGone:
		return "cancelled"
	default:
		return "failed"
	}
}
