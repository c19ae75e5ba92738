package orders

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/httpapi/audit"
	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/httpapi/visible"
	"larder/ordering"
)

// List answers GET /v1/ops/orders, the newest first; ?state= and
// ?connection= choose. State unknown lists every order with an operation whose
// outcome is not known.
func (h *Handlers) List(c *gin.Context) error {
	var query ordering.Query
	var err error
	if query.State, err = respond.OneOf(c, "state", ordering.States()); err != nil {
		return err
	}
	if query.Connections, err = visible.Connections(c, h.Directory); err != nil {
		return err
	}
	if query.Limit, query.Cursor, err = respond.PageOf(c); err != nil {
		return err
	}
	records, next, err := h.Journal.List(c.Request.Context(), query)
	if errors.Is(err, ordering.ErrCursor) {
		err = respond.BadCursor()
	}
	if err != nil {
		return err
	}
	list := respond.Page[listedOrder]{Result: make([]listedOrder, len(records)), Next: respond.NextPage(next)}
	for i, record := range records {
		list.Result[i] = listedOrder{newRecordView(record), visible.Name(h.Directory, h.Replica, record.Restaurant)}
	}
	return respond.JSON(c, http.StatusOK, list)
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

// Details answers GET /v1/ops/orders/{ref}: the record, and what was sent and
// answered, so that an operator can speak with the guest and the restaurant.
func (h *Handlers) Details(c *gin.Context) error {
	who, _ := auth.CallerOf(c)
	record, err := h.Journal.Record(c.Request.Context(), h.Directory.Connections(who.Viewer()), respond.Param(c, "ref"))
	if err != nil {
		return err
	}
	restaurant, _ := h.Directory.Restaurant(record.Restaurant)
	view := opsOrderView{
		listedOrder: listedOrder{newRecordView(record), visible.Name(h.Directory, h.Replica, record.Restaurant)}, Calls: make([]callView, len(record.Calls)),
		RestaurantPhone: respond.OrNull(restaurant.Phone), RestaurantAddress: respond.OrNull(restaurant.Address),
	}
	for i, call := range record.Calls {
		view.Calls[i] = newCallView(call)
		if view.Calls[i].Sent, err = h.sent(c.Request.Context(), record, call.Number); err != nil {
			return err
		}
	}
	return respond.JSON(c, http.StatusOK, respond.Result{Result: view})
}

// sent is what a call sent, nil when it is not kept.
func (h *Handlers) sent(ctx context.Context, record ordering.Record, call int) (json.RawMessage, error) {
	body, err := h.Journal.Body(ctx, record.Connection, record.Ref, call)
	if errors.Is(err, ordering.ErrNoBody) || err == nil && !json.Valid(body) {
		return nil, nil //nolint:nilnil // not kept is an answer here, shown as null
	}
	return body, err
}

func newCallView(call ordering.Call) callView {
	view := callView{
		Number: call.Number, Operation: call.Operation, Outcome: call.Outcome, Client: call.Client, RequestID: call.RequestID,
		StartedAt: respond.TimeOrNull(call.StartedAt), EndedAt: respond.TimeOrNull(call.EndedAt), Contradicted: respond.OrNull(call.Contradicted),
	}
	if said := call.Answer; said != nil {
		view.Answer = &answerView{Status: said.Status, Code: respond.OrNull(said.Code), Msg: respond.OrNull(said.Msg), RequestID: respond.OrNull(said.RequestID)}
	}
	if resolution := call.Resolved; resolution != nil {
		view.Resolved = &resolutionView{By: resolution.By, At: respond.TimeOrNull(resolution.At), Outcome: resolution.Resolution, Note: respond.OrNull(resolution.Note)}
	}
	return view
}

// Resolve answers POST /v1/ops/orders/{ref}/resolve: a person's resolution of
// an operation whose outcome is unknown (policy O12).
func (h *Handlers) Resolve(c *gin.Context) error {
	body, err := respond.ReadJSON(c, nil)
	if err != nil {
		return err
	}
	resolution, err := readResolution(body)
	if err != nil {
		return err
	}
	who, _ := auth.CallerOf(c)
	resolution.Connections, resolution.Ref, resolution.By, resolution.RequestID = h.Directory.Connections(who.Viewer()), respond.Param(c, "ref"), who.Client, respond.RequestID(c)
	resolved, err := h.Orders.Resolve(c.Request.Context(), resolution)
	if err != nil {
		return resolutionProblem(err)
	}
	h.Log.WithFields(logrus.Fields{
		"event": "order.resolved", "ref": resolved.Record.Ref, "orderID": resolved.Record.OrderID, "requestId": respond.RequestID(c),
		"client": who.Client, "connection": resolved.Record.Connection, "operation": resolution.Operation, "resolution": resolution.Resolution,
		"outcome": resolved.Call.Outcome, "state": resolved.Record.State,
	}).Info("an order's unknown outcome was resolved")
	h.Audit.Add(c, audit.Entry{
		Action: audit.Resolve, Connection: respond.OrNull(resolved.Record.Connection), Restaurant: respond.OrNull(resolved.Record.Restaurant),
		Ref: &resolved.Record.Ref, Detail: audit.Detail(string(resolution.Operation) + ": " + string(resolution.Resolution)),
	})
	return respond.JSON(c, http.StatusOK, respond.Result{Result: newRecordView(resolved.Record)})
}
