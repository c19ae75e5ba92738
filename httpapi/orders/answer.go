package orders

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"larder/httpapi/respond"
	"larder/internal/upstream"
	"larder/ordering"
)

// answerOrder counts, logs and answers what came of placing or changing an
// order: by this request, by an earlier one, or err where nothing was begun.
// Everything in the body comes from the record, so that a replay is equal byte
// for byte (policy O7).
func (h *Handlers) answerOrder(c *gin.Context, call Call, result ordering.Result, err error) error {
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
	}{record.Ref, record.OrderID, respond.TextOf(operation).State, record.Paid || operation == upstream.OpPay}}
}
