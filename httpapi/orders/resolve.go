package orders

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/audit"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/jsontext"
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
	if resolution.Connections, err = visible.Recorded(c, h.Directory, h.Journal); err != nil {
		return ordering.Result{}, err
	}
	resolution.By, resolution.RequestID = who.Client, respond.RequestID(c)
	resolved, err := h.Orders.Resolve(c.Request.Context(), resolution)
	if err != nil {
		return ordering.Result{}, resolutionProblem(err)
	}
	h.Log.WithFields(logrus.Fields{
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
	h.Audit.Add(c, audit.Entry{
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

// acceptance is the response of POST /v1/ops/journal/accept.
type acceptance struct {
	Connection string `json:"connection"`
	Accepted   bool   `json:"accepted"` // false: orders were not paused
}

// AcceptJournal answers POST /v1/ops/journal/accept. It ends the pause of orders after
// Redis was restored or has lost orders (policy O14a).
func (h *Handlers) AcceptJournal(c *gin.Context) error {
	connection, err := h.connectionToAccept(c)
	if err != nil {
		return err
	}
	accepted, err := h.Orders.AcceptRestore(c.Request.Context(), connection)
	if err != nil {
		return err
	}
	if accepted {
		h.Log.WithFields(logrus.Fields{
			"event":      "journal.accept",
			"requestId":  respond.RequestID(c),
			"client":     auth.CallerOf(c).Client,
			"connection": connection,
		}).Warn("restored journal accepted; orders and changes of orders are sent again")
		h.Audit.Add(c, audit.Entry{Action: audit.AcceptRestore, Connection: respond.OrNull(connection)})
	}
	return respond.JSON(c, http.StatusOK, respond.Result{Result: acceptance{connection, accepted}})
}

// connectionToAccept returns the connection in the query or the body, or the only one. Both may name it if they agree.
func (h *Handlers) connectionToAccept(c *gin.Context) (string, error) {
	name, given, err := readAcceptance(c)
	if err != nil {
		return "", err
	}
	asked, inQuery := c.GetQuery("connection")
	if inQuery && given && asked != name {
		return "", respond.InvalidParameter("connection", "differs between the query and the body; send it only once")
	}
	if inQuery {
		name, given = asked, true
	}
	return visible.Connection(c, h.Directory, name, given)
}

// readAcceptance reads the body of POST /v1/ops/journal/accept: empty, or an object whose only field is connection.
func readAcceptance(c *gin.Context) (connection string, given bool, err error) {
	body, err := respond.ReadBody(c, respond.MaxBody)
	if err != nil || len(body) == 0 {
		return "", false, err
	}
	if err := respond.RequireJSON(c.GetHeader("Content-Type")); err != nil {
		return "", false, err
	}
	err = respond.ReadObject(body, "", map[string]func(*jsontext.Reader) bool{
		"connection": func(r *jsontext.Reader) (ok bool) {
			twice := given
			connection, ok = r.Text()
			given = true
			return ok && !twice
		},
	})
	if _, wrong := errors.AsType[*respond.Problem](err); wrong {
		err = &respond.Problem{
			Code: respond.CodeMalformedJSON,
			Msg:  `the body must be empty or an object with the optional field connection, a string: {"connection": "main"}`,
		}
	}
	return connection, given, err
}
