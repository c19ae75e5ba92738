package compat

import (
	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// Place answers POST /orders/api/v1/orders. It checks the order against the menu of the order's
// restaurant and passes the ordering service's response through. The body is read as JSON
// whatever its Content-Type, because existing clients send different ones.
func (h *Handlers) Place(c *gin.Context) error {
	request := ordering.PlaceRequest{RequestID: respond.RequestID(c)}
	err := h.readPlaceRequest(c, &request)
	call := respond.OrderCall{Operation: upstream.OpCreate, Connection: request.Connection, Restaurant: request.Restaurant}
	if err != nil {
		if respond.ProblemOf(err).Code == respond.CodeMalformedJSON { // as for an error of ordering
			h.deps.Note(c, call, ordering.Result{}, err)
		}
		return err
	}
	placed, err := h.deps.Orders.Place(c.Request.Context(), request)
	h.deps.Note(c, call, placed, err)
	return h.writeCompat(c, placed, err)
}

// readPlaceRequest reads the client and the order.
func (h *Handlers) readPlaceRequest(c *gin.Context, p *ordering.PlaceRequest) (err error) {
	who := auth.CallerOf(c)
	if p.Connection, err = visible.OnlyConnection(h.deps.Directory, who, visible.ByClient); err != nil {
		return err
	}
	p.Client = who.Client
	if p.Key, err = respond.IdempotencyKey(c, false, auth.IsGuest(c)); err != nil {
		return err
	}
	body, err := respond.ReadBody(c, respond.MaxBody)
	if err != nil {
		return err
	}
	input := validate.Input{Body: body, Language: respond.Language(c), FieldCase: h.deps.FieldCases[p.Connection]}
	if p.Order, err = validate.DecodeOrder(input, nil); err != nil {
		return err
	}
	p.Restaurant, err = visible.Menu(h.deps.Directory, p.Connection, p.Order.Restaurant())
	if list, more := p.Order.Violations(); err != nil && list != nil { // the restaurantID may be one of them
		return &ordering.InvalidError{Violations: list, More: more}
	}
	return err
}

// Change answers PUT /orders/api/v1/orders/{orderID}/pay, /complete and /reject. A change of an order that
// larder did not place is sent to the client's connection (policy O9a). A restaurantID in a rejection's query
// or body is accepted and not sent (policy O11). The body of a completion is not read.
func (h *Handlers) Change(operation ordering.Operation) respond.Handler {
	return func(c *gin.Context) error {
		who := auth.CallerOf(c)
		connection, err := visible.OnlyConnection(h.deps.Directory, who, visible.ByClient)
		if err != nil {
			return err
		}
		change := ordering.ChangeRequest{
			Operation:  operation,
			OrderID:    respond.Param(c, "orderID"),
			RequestID:  respond.RequestID(c),
			Connection: connection,
			Client:     who.Client,
			Input:      validate.Input{Language: respond.Language(c), FieldCase: h.deps.FieldCases[connection]},
		}
		if change.Key, err = respond.IdempotencyKey(c, false, auth.IsGuest(c)); err != nil {
			return err
		}
		if operation != upstream.OpComplete {
			if change.Body, err = respond.ReadBody(c, respond.MaxBody); err != nil {
				return err
			}
		}
		changed, err := h.deps.Orders.Change(c.Request.Context(), change)
		h.deps.Note(c, respond.OrderCall{Operation: operation, Connection: connection, OrderID: change.OrderID}, changed, err)
		return h.writeCompat(c, changed, err)
	}
}
