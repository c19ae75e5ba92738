package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/internal/menu"
	"larder/ordering"
)

// listOrders answers GET /v1/ops/orders, the newest first; ?state= and
// ?connection= choose. State unknown lists every order with an operation whose
// outcome is not known.
func (s *Server) listOrders(c *gin.Context) error {
	var query ordering.Query
	var err error
	if query.State, err = oneOf(c, "state", ordering.States()); err != nil {
		return err
	}
	if query.Connections, err = s.requestedConnections(c); err != nil {
		return err
	}
	if query.Limit, query.Cursor, err = pageOf(c); err != nil {
		return err
	}
	records, next, err := s.journal.List(c.Request.Context(), query)
	if errors.Is(err, ordering.ErrCursor) {
		err = badCursor()
	}
	if err != nil {
		return err
	}
	list := page[listedOrder]{Result: make([]listedOrder, len(records)), Next: nextPage(next)}
	for i, record := range records {
		list.Result[i] = listedOrder{newRecordView(record), s.nameOf(record.Restaurant)}
	}
	return answer(c, http.StatusOK, list)
}

// listedOrder is a record in the operators' list.
type listedOrder struct {
	recordView
	// RestaurantName is what people call the restaurant; null when it is no
	// longer configured, and of an order that larder did not place.
	RestaurantName *string `json:"restaurantName"`
}

// opsOrderView is a record with everything that resolving it takes.
type opsOrderView struct {
	listedOrder
	// RestaurantPhone and RestaurantAddress are as configured; null where they
	// are not.
	RestaurantPhone   *string    `json:"restaurantPhone"`
	RestaurantAddress *string    `json:"restaurantAddress"`
	Calls             []callView `json:"calls"`
}

// callView is one call of an order as an operator sees it.
type callView struct {
	Number       int                `json:"number"`
	Operation    ordering.Operation `json:"operation"`
	Outcome      ordering.Outcome   `json:"outcome"`
	Client       string             `json:"client"`
	RequestID    string             `json:"requestId"`
	StartedAt    *string            `json:"startedAt"`
	EndedAt      *string            `json:"endedAt"`
	Answer       *answerView        `json:"answer"`
	Resolved     *resolutionView    `json:"settled"`
	Contradicted *ordering.Outcome  `json:"contradicted"`
	// Sent is the body that the ordering service got; null of a completion,
	// and when it is no longer kept.
	Sent json.RawMessage `json:"sent"`
}

// answerView is the ordering service's last answer.
type answerView struct {
	Status    int     `json:"status"`
	Code      *string `json:"code"`
	Msg       *string `json:"msg"`
	RequestID *string `json:"requestId"`
}

// resolutionView is a person's resolution.
type resolutionView struct {
	By      string              `json:"by"`
	At      *string             `json:"at"`
	Outcome ordering.Resolution `json:"outcome"`
	Note    *string             `json:"note"`
}

// opsOrder answers GET /v1/ops/orders/{ref}: the record, and what was sent and
// answered, so that an operator can speak with the guest and the restaurant.
func (s *Server) opsOrder(c *gin.Context) error {
	who, _ := callerOf(c)
	record, err := s.journal.Record(c.Request.Context(), s.visibleConnections(who), param(c, "ref"))
	if err != nil {
		return err
	}
	restaurant, _ := s.runner.Known(record.Restaurant)
	view := opsOrderView{
		listedOrder: listedOrder{newRecordView(record), s.nameOf(record.Restaurant)}, Calls: make([]callView, len(record.Calls)),
		RestaurantPhone: orNull(restaurant.Phone), RestaurantAddress: orNull(restaurant.Address),
	}
	for i, call := range record.Calls {
		view.Calls[i] = newCallView(call)
		if view.Calls[i].Sent, err = s.sent(c.Request.Context(), record, call.Number); err != nil {
			return err
		}
	}
	return answer(c, http.StatusOK, result{view})
}

// nameOf is the restaurant's name: as configured, else its menu's; nil for a
// restaurant that is not configured.
func (s *Server) nameOf(id menu.RestaurantID) *string {
	restaurant, known := s.runner.Known(id)
	if !known {
		return nil
	}
	name := restaurant.Name
	if version, known := s.replica.Version(id); name == "" && known {
		name = version.Name
	}
	return orNull(name)
}

// sent is what a call sent, nil when it is not kept.
func (s *Server) sent(ctx context.Context, record ordering.Record, call int) (json.RawMessage, error) {
	body, err := s.journal.Body(ctx, record.Connection, record.Ref, call)
	if errors.Is(err, ordering.ErrNoBody) || err == nil && !json.Valid(body) {
		return nil, nil //nolint:nilnil // not kept is an answer here, shown as null
	}
	return body, err
}

func newCallView(call ordering.Call) callView {
	view := callView{
		Number: call.Number, Operation: call.Operation, Outcome: call.Outcome, Client: call.Client, RequestID: call.RequestID,
		StartedAt: timeOrNull(call.StartedAt), EndedAt: timeOrNull(call.EndedAt), Contradicted: orNull(call.Contradicted),
	}
	if said := call.Answer; said != nil {
		view.Answer = &answerView{Status: said.Status, Code: orNull(said.Code), Msg: orNull(said.Msg), RequestID: orNull(said.RequestID)}
	}
	if resolution := call.Resolved; resolution != nil {
		view.Resolved = &resolutionView{By: resolution.By, At: timeOrNull(resolution.At), Outcome: resolution.Resolution, Note: orNull(resolution.Note)}
	}
	return view
}

// resolveOrder answers POST /v1/ops/orders/{ref}/resolve: a person's resolution of
// an operation whose outcome is unknown (policy O12).
func (s *Server) resolveOrder(c *gin.Context) error {
	body, err := readJSON(c, nil)
	if err != nil {
		return err
	}
	resolution, err := readResolution(body)
	if err != nil {
		return err
	}
	who, _ := callerOf(c)
	resolution.Connections, resolution.Ref, resolution.By, resolution.RequestID = s.visibleConnections(who), param(c, "ref"), who.Client, idOf(c)
	resolved, err := s.orders.Resolve(c.Request.Context(), resolution)
	if err != nil {
		return resolutionProblem(err)
	}
	s.log.WithFields(logrus.Fields{
		"event": "order.resolved", "ref": resolved.Record.Ref, "orderID": resolved.Record.OrderID, "requestId": idOf(c),
		"client": who.Client, "connection": resolved.Record.Connection, "operation": resolution.Operation, "resolution": resolution.Resolution,
		"outcome": resolved.Call.Outcome, "state": resolved.Record.State,
	}).Info("an order's unknown outcome was resolved")
	s.audit(c, auditEntry{
		Action: actionResolve, Connection: orNull(resolved.Record.Connection), Restaurant: orNull(resolved.Record.Restaurant),
		Ref: &resolved.Record.Ref, Detail: truncateDetail(string(resolution.Operation) + ": " + string(resolution.Resolution)),
	})
	return answer(c, http.StatusOK, result{newRecordView(resolved.Record)})
}
