package orders

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/menu"
	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
	"larder.local/ordering"
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
		c.Writer.Header()["Location"] = []string{"/v1/orders/" + url.PathEscape(result.Record.OrderID)}
		return respond.JSON(c, http.StatusCreated, placedView(result.Record))
	default:
		return respond.JSON(c, http.StatusOK, changedView(result))
	}
}

// placedView returns the body of the 201 for a placed order. Later changes of the order do not change it.
func placedView(record ordering.Record) any {
	return respond.Result{Result: struct {
		Ref        string         `json:"ref"`
		OrderID    string         `json:"orderID"`
		Total      respond.Number `json:"total"`
		ExpectedAt *string        `json:"expectedAt"`
		State      ordering.State `json:"state"`
	}{record.Ref, record.OrderID, respond.Number(record.Total), menu.TimeOrNull(record.ExpectedAt), ordering.StatePlaced}}
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
	case err != nil && refusedRef(err) != "":
		outcome = string(ordering.OutcomeRefused)
	case err != nil:
		outcome = refusalOf(respond.ProblemOf(err).Code)
	case result.Call.Outcome == ordering.OutcomeDone:
		outcome = respond.TextOf(result.Call.Operation).Outcome
	}
	if result.Replayed && err == nil {
		h.Metrics.Replay(string(call.Operation))
	} else {
		h.Metrics.Order(string(call.Operation), outcome)
	}
	h.logOrder(c, call, outcome, result, err)
}

// logOrder logs the result, without keys, bodies and guests' data.
func (h *Handlers) logOrder(c *gin.Context, call respond.OrderCall, outcome string, result ordering.Result, err error) {
	record, made := result.Record, result.Call
	line := h.Log.WithFields(tracing.LogFields(c.Request.Context())).WithFields(logrus.Fields{
		"event":      "order." + outcome,
		"requestId":  respond.RequestID(c),
		"operation":  string(call.Operation),
		"client":     auth.CallerOf(c).Client,
		"connection": call.Connection,
		"restaurant": string(cmp.Or(record.Restaurant, call.Restaurant)),
		"orderID":    cmp.Or(record.OrderID, call.OrderID),
		"ref":        record.Ref,
		"replayed":   result.Replayed,
	})
	if err != nil {
		p := respond.ProblemOf(err)
		line = line.WithField("ref", p.Ref)
		if p.Violations != nil {
			line = line.WithField("violations", len(p.Violations))
		} else {
			line = line.WithField("error", err.Error())
		}
		if refusedRef(err) != "" {
			line.Warn("the ordering service refused an order, and its new menu has violations of it or other values")
		} else {
			line.Warn("order request failed before a call was made")
		}
		return
	}
	line = line.WithField("menuVersion", record.MenuVersion)
	if made.Outcome == ordering.OutcomeDone {
		line.Info("order call done")
		return
	}
	line = line.WithField("tries", len(made.Attempts))
	if said := made.Answer; said != nil {
		line = line.WithFields(logrus.Fields{"status": said.Status, "code": upstream.LogCode(said.Code)})
	}
	line.Warn("order call not done, or its outcome is unknown")
}

// refusedRef returns the ref of a refused order whose refusal a newer menu explains (policy O18), or "".
func refusedRef(err error) string {
	if invalid, ok := errors.AsType[*ordering.InvalidError](err); ok {
		return invalid.Ref
	}
	return ""
}

// refusalOf returns the reason why no call was made, from a short list for the metrics.
func refusalOf(code respond.Code) string {
	switch code {
	case respond.CodeValidationFailed, respond.CodeMalformedJSON:
		return "invalid"
	case respond.CodeIdempotencyKeyReused, respond.CodeIdempotencyKeyInFlight,
		respond.CodeOrderBusy, respond.CodeOutcomeUnknown, respond.CodeOrderState, respond.CodeOrderOfAnotherService:
		return "conflict"
	case respond.CodeOrderNotFound, respond.CodeOrderAmbiguous:
		return "not_found"
	case respond.CodeUpstreamUnavailable:
		return string(ordering.OutcomeNotSent)
	case respond.CodeUpstreamBusy:
		return "busy"
	case respond.CodeJournalUnavailable, respond.CodeJournalRestored, respond.CodeStorageUnavailable, respond.CodeNoCatalogue,
		respond.CodeJournalFormat, respond.CodeMenuOfAnotherService:
		return "unavailable"
	case respond.CodeClientGone:
		return "cancelled"
	default:
		return "failed"
	}
}
