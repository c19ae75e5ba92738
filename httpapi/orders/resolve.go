package orders

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/audit"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/ordering"
)

// Resolve answers POST /v1/ops/orders/{ref}/resolve: an operator's resolution of an unknown outcome (policy O12).
func (h *Handlers) Resolve(c *gin.Context) error {
	resolution, _, err := readResolution(c, false)
	if err != nil {
		return err
	}
	resolution.Ref = respond.Param(c, "ref")
	resolved, err := h.resolve(c, resolution)
	return respond.Answer(c, newRecordView(resolved.Record), err)
}

// resolve resolves one order for the caller, and records who did it.
func (h *Handlers) resolve(c *gin.Context, resolution ordering.ResolveRequest) (ordering.Result, error) {
	who := auth.CallerOf(c)
	var err error
	if resolution.Connections, err = visible.Recorded(c, h.deps.Directory, h.deps.Journal); err != nil {
		return ordering.Result{}, err
	}
	resolution.By, resolution.RequestID = who.Client, respond.RequestID(c)
	resolved, err := h.deps.Orders.Resolve(c.Request.Context(), resolution)
	if err != nil {
		return ordering.Result{}, resolutionProblem(err)
	}
	h.deps.Log.WithFields(logrus.Fields{
		"event":      "order.resolved",
		"ref":        resolved.Record.Ref,
		"orderID":    resolved.Record.OrderID,
		"requestId":  respond.RequestID(c),
		"client":     who.Client,
		"connection": resolved.Record.Connection,
		"operation":  resolution.Operation,
		"resolution": resolution.Resolution,
		"outcome":    resolved.Call.Outcome,
		"state":      resolved.Record.State,
	}).Info("an order's unknown outcome was resolved")
	h.deps.Audit.Add(c, audit.Entry{
		Action:     audit.Resolve,
		Connection: respond.OrNull(resolved.Record.Connection),
		Restaurant: respond.OrNull(resolved.Record.Restaurant),
		Ref:        &resolved.Record.Ref,
		Detail:     audit.Detail(string(resolution.Operation) + ": " + string(resolution.Resolution)),
	})
	return resolved, nil
}

// resolvedOrder is the answer for one of several orders.
type resolvedOrder struct {
	Ref      string `json:"ref"`
	Resolved bool   `json:"resolved"`
	// State is the order's state if it was resolved. Otherwise Code and Msg say why it was skipped; they are those of
	// the problem that the route for one order returns.
	State *ordering.State `json:"state"`
	Code  *respond.Code   `json:"code"`
	Msg   *string         `json:"msg"`
}

// ResolveSeveral answers POST /v1/ops/orders/resolve: one resolution of several orders. Each order is resolved and
// audited by itself. An order whose outcome is not unknown any more is skipped.
func (h *Handlers) ResolveSeveral(c *gin.Context) error {
	resolution, orders, err := readResolution(c, true)
	if err == nil {
		err = onlyOneByOne(&resolution)
	}
	if err != nil {
		return err
	}
	all := make([]resolvedOrder, 0, len(orders.refs))
	var problem *respond.Problem
	for _, ref := range orders.refs {
		one := resolvedOrder{Ref: ref}
		resolution.Ref, resolution.Call = ref, orders.calls[ref]
		if problem == nil || !stops(problem) {
			resolved, err := h.resolve(c, resolution)
			if problem = nil; err != nil {
				problem = respond.ProblemOf(err)
			}
			one.Resolved, one.State = err == nil, respond.OrNull(resolved.Record.State)
		}
		if problem != nil {
			one.Code, one.Msg = &problem.Code, &problem.Msg
			if problem.Code == respond.CodeValidationFailed { // it is the same for each order, so none was resolved
				return problem
			}
		}
		all = append(all, one)
	}
	return respond.JSON(c, http.StatusOK, respond.Result{Result: all})
}

// stops reports whether the other orders are not tried after a problem: the journal does not answer, or nobody waits.
func stops(p *respond.Problem) bool {
	status, _ := p.Code.Status()
	return status >= http.StatusInternalServerError || p.Code == respond.CodeClientGone
}
