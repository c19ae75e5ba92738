package orders

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// lookupTimeout limits the search for an order's connection.
const lookupTimeout = time.Second

// Change answers PUT /v1/orders/{orderID}/pay, /complete and /reject. A restaurantID in a
// rejection's query or body is accepted and not sent (policy O11). A completion has no body.
func (h *Handlers) Change(operation ordering.Operation) respond.Handler {
	return func(c *gin.Context) error {
		key, err := respond.IdempotencyKey(c, false, auth.IsGuest(c))
		if err != nil {
			return err
		}
		var body []byte
		if operation != upstream.OpComplete {
			if body, err = respond.ReadJSON(c); err != nil {
				return err
			}
		}
		orderID := respond.Param(c, "orderID")
		connection, err := h.connectionOfOrder(c, orderID)
		if err != nil {
			return err
		}
		changed, err := h.deps.Orders.Change(c.Request.Context(), ordering.ChangeRequest{
			Operation:  operation,
			OrderID:    orderID,
			Connection: connection,
			Client:     auth.CallerOf(c).Client,
			Key:        key,
			RequestID:  respond.RequestID(c),
			Input:      h.input(c, connection, body),
		})
		call := respond.OrderCall{Operation: operation, Connection: connection, OrderID: orderID}
		return h.answerOrder(c, call, changed, changeProblem(operation, err))
	}
}

// connectionOfOrder returns the connection of the order, among those that the request selects.
func (h *Handlers) connectionOfOrder(c *gin.Context, orderID string) (string, error) {
	connections, err := visible.Connections(c, h.deps.Directory)
	if err != nil {
		return "", err
	}
	if len(connections) == 1 {
		return connections[0], nil
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), lookupTimeout)
	defer cancel()
	record, err := h.deps.Orders.ByOrderID(ctx, connections, orderID)
	return record.Connection, err
}

// changeProblem returns the problem for a payment or rejection with violations, and err in other cases.
func changeProblem(operation ordering.Operation, err error) error {
	var invalid *ordering.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return respond.Invalid(respond.TextOf(operation).It+" is not valid; see errors", invalid.Violations, invalid.More, err)
}
