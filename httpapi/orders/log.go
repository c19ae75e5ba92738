package orders

import (
	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/internal/menu"
	"larder/internal/tracing"
	"larder/ordering"
)

// Call is what a request wants of an order, for the log and the metrics.
type Call struct {
	Operation  ordering.Operation
	Connection string
	Restaurant menu.RestaurantID // of a placing request
	OrderID    string            // of a changing one
}

// Note counts and logs what came of placing or changing an order.
func (h *Handlers) Note(c *gin.Context, call Call, result ordering.Result, err error) {
	outcome := string(result.Call.Outcome)
	switch {
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

// logOrder writes the order's line: never a key, a body, or what is a guest's.
func (h *Handlers) logOrder(c *gin.Context, call Call, outcome string, result ordering.Result, err error) {
	who, _ := auth.CallerOf(c)
	entry := h.Log.WithFields(tracing.LogFields(c.Request.Context()))
	fields := logrus.Fields{
		"event": "order." + outcome, "operation": call.Operation, "requestId": respond.RequestID(c), "client": who.Client,
		"connection": call.Connection, "restaurant": call.Restaurant, "orderID": call.OrderID, "replayed": result.Replayed,
	}
	if err != nil {
		p := respond.ProblemOf(err)
		fields["ref"] = p.Ref
		if p.Violations != nil {
			fields["violations"] = len(p.Violations)
		} else {
			fields["error"] = err.Error()
		}
		entry.WithFields(fields).Warn("order: nothing was begun")
		return
	}
	record, made := result.Record, result.Call
	fields["ref"], fields["orderID"] = record.Ref, record.OrderID
	fields["restaurant"], fields["menuVersion"] = record.Restaurant, record.MenuVersion
	if made.Outcome == ordering.OutcomeDone {
		entry.WithFields(fields).Info("order: done")
		return
	}
	fields["tries"] = len(made.Attempts)
	if said := made.Answer; said != nil {
		fields["status"], fields["code"] = said.Status, said.Code
	}
	entry.WithFields(fields).Warn("order: not done, or not known to be")
}

// refusalOf names why nothing was begun; the names are few, for the metrics.
func refusalOf(code respond.Code) string {
	switch code {
	case respond.CodeValidationFailed, respond.CodeMalformedJSON:
		return "invalid"
	case respond.CodeIdempotencyKeyReused, respond.CodeIdempotencyKeyInFlight, respond.CodeOrderBusy, respond.CodeOutcomeUnknown, respond.CodeOrderState:
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
