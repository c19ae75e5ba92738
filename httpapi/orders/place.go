package orders

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// Validate answers POST …/orders/validate with the violations and the total of an order. It places nothing.
func (h *Handlers) Validate(c *gin.Context) error {
	restaurant, err := visible.Restaurant(c, h.Directory)
	if err != nil {
		return err
	}
	body, err := respond.ReadJSON(c)
	if err != nil {
		return err
	}
	h.chargeOrder(c, h.ValidateLimit, body)
	version, catalogue, err := h.Replica.Current(c.Request.Context(), restaurant.ID, restaurant.Connection)
	if err != nil {
		return err
	}
	room := make([]byte, 0, min(2*len(body), 16<<10)+1<<10) // for most results
	text, err := h.Validator.AppendResult(append(room, `{"result":`...), validate.Request{
		Restaurant: restaurant.ID,
		Version:    version,
		Catalogue:  catalogue,
		Input:      h.input(c, restaurant.Connection, body),
	})
	if err != nil {
		return err
	}
	c.Header("Content-Language", respond.Language(c))
	c.Header(respond.HeaderMenuVersion, strconv.FormatInt(version, 10))
	respond.JSONText(c, http.StatusOK, append(text, '}'))
	return nil
}

// Place answers POST …/orders.
func (h *Handlers) Place(c *gin.Context) error {
	restaurant, err := visible.Restaurant(c, h.Directory)
	if err != nil {
		return err
	}
	key, err := respond.IdempotencyKey(c, !h.AllowMissingKey, auth.IsGuest(c))
	if err != nil {
		return err
	}
	body, err := respond.ReadJSON(c)
	if err != nil {
		return err
	}
	who, connection := auth.CallerOf(c), restaurant.Connection
	input := h.input(c, connection, body)
	request := ordering.PlaceRequest{
		Restaurant:  restaurant.ID,
		Connection:  connection,
		Client:      who.Client,
		CapacityKey: who.Client,
		Key:         key,
		RequestID:   respond.RequestID(c),
		Order:       new(validate.Order),
	}
	if auth.IsGuest(c) {
		h.chargeOrder(c, h.PublicLimit, body)
		if err = h.decodePublicOrder(request.Order, input); err != nil {
			return respond.WithLanguage(c, err) // not noted: guests could fill the log
		}
		// Guests share one client, so each address has its own share of the capacity (policy O8a).
		request.CapacityKey = auth.PublicClient + " " + ratelimit.AddressKey(h.Auth.ClientIP(c))
	} else {
		err = request.Order.Decode(input, nil)
	}
	// Orders does not cancel a call in progress when the client disconnects (policy O8).
	var placed ordering.Result
	if err == nil {
		placed, err = h.Orders.Place(c.Request.Context(), request)
	}
	return h.answerOrder(c, respond.OrderCall{Operation: upstream.OpCreate, Connection: connection, Restaurant: restaurant.ID}, placed, err)
}

// Order answers GET /v1/orders/{orderID} with the journal's record. Orders of connections that
// the caller does not see are answered as unknown.
func (h *Handlers) Order(c *gin.Context) error {
	connections, err := visible.Connections(c, h.Directory)
	if err != nil {
		return err
	}
	record, err := h.current(h.Orders.ByOrderID(c.Request.Context(), connections, respond.Param(c, "orderID")))
	return respond.Answer(c, newRecordView(record), err)
}

// ByKey answers GET /v1/orders with the record of the caller's order. Its key is in ?key= or in the header
// Idempotency-Key. Guests get only a guestView (policy H3).
func (h *Handlers) ByKey(c *gin.Context) error {
	connections, key, err := h.connectionsAndKey(c, c.Query("key"))
	if err != nil {
		return err
	}
	record, err := h.current(h.Orders.ByKey(c.Request.Context(), connections, auth.CallerOf(c).Client, key))
	if auth.IsGuest(c) && err == nil {
		view, err := h.guestView(c.Request.Context(), record)
		return respond.Answer(c, view, err)
	}
	return respond.Answer(c, newRecordView(record), err)
}

// connectionsAndKey returns the connections that a request selects, and the idempotency key in its query or else in its header.
func (h *Handlers) connectionsAndKey(c *gin.Context, inQuery string) (connections []string, key string, err error) {
	if connections, err = visible.Connections(c, h.Directory); err != nil {
		return nil, "", err
	}
	key, wrong := respond.BareKey(cmp.Or(inQuery, c.GetHeader("Idempotency-Key")), auth.IsGuest(c))
	if wrong != "" {
		return nil, "", respond.InvalidParameter("key", "must be the Idempotency-Key of an order, which "+wrong)
	}
	return connections, key, nil
}

// Follow returns an id and a reader for the order with the request's Idempotency-Key. A stream of its
// states uses them. Requests of one client for one order have the same id.
func (h *Handlers) Follow(c *gin.Context) (id string, read func(context.Context) ([]byte, bool, error), err error) {
	connections, key, err := h.connectionsAndKey(c, "")
	if err != nil {
		return "", nil, err
	}
	client := auth.CallerOf(c).Client
	return strings.Join(append([]string{client, key}, connections...), "\n"), func(ctx context.Context) ([]byte, bool, error) {
		record, err := h.current(h.Orders.ByKey(ctx, connections, client, key))
		if err != nil {
			return nil, false, err
		}
		view, err := h.guestView(ctx, record)
		if err != nil {
			return nil, false, err
		}
		data, err := json.Marshal(view)
		return data, isFinal(record.State), err
	}, nil
}

// current returns *ordering.RestoredError instead of a record that may be older than the order (policy O14a).
func (h *Handlers) current(record ordering.Record, err error) (ordering.Record, error) {
	if err == nil && !isFinal(record.State) && h.Paused(record.Connection) {
		return ordering.Record{}, &ordering.RestoredError{Connection: record.Connection}
	}
	return record, err
}

func isFinal(state ordering.State) bool {
	return !slices.Contains([]ordering.State{ordering.StatePlacing, ordering.StatePlaced, ordering.StateUnknown}, state)
}

// An order uses one token of its rate limit, and another one for each of these. Usual orders are far below both.
const (
	bytesPerToken = 8 << 10
	linesPerToken = 500
)

// Tokens returns the tokens that an order uses. They depend on the size of the body and the number
// of dishes and ingredients (policy H7), which is counted by opening brackets before decoding.
func Tokens(body []byte) int {
	return 1 + len(body)/bytesPerToken + bytes.Count(body, []byte("{"))/linesPerToken
}

// chargeOrder takes the tokens of an order's size. The middleware has taken the first token.
func (h *Handlers) chargeOrder(c *gin.Context, l *ratelimit.Limiter, body []byte) {
	if more := Tokens(body) - 1; more > 0 {
		l.Charge(ratelimit.AddressKey(h.Auth.ClientIP(c)), more)
	}
}

// decodePublicOrder decodes an order without a token, and rejects payment types that are not configured for guests
// (policy H3). It reports only the first violation, because a body can repeat the field thousands of times (policy H7).
func (h *Handlers) decodePublicOrder(order *validate.Order, in validate.Input) error {
	allowed := h.GuestPayments
	err := order.Decode(in, allowed)
	name := order.RefusedPayment()
	if err != nil || name == "" {
		return err
	}
	refused := violation.New("/"+name, violation.ValueNotAllowed, violation.Params{"allowed": allowed}, in.Language)
	msg := "requests without a token can only use these payment types: " + strings.Join(allowed, ", ") + "; see errors"
	return respond.Invalid(msg, []violation.Violation{refused}, false, nil)
}

// guestView has the fields of an order that guests may read (policy H3).
type guestView struct {
	State   ordering.State `json:"state"`
	Total   respond.Number `json:"total"`
	OrderID *string        `json:"orderID"`
	Paid    bool           `json:"paid"`
	Reason  string         `json:"reason,omitempty"` // of a rejection, if it has a text for the guest and that is still kept
	// UnknownChange is the payment, completion or rejection whose outcome is unknown: the state may have changed.
	UnknownChange upstream.Operation `json:"unknownChange,omitempty"`
}

func (h *Handlers) guestView(ctx context.Context, record ordering.Record) (guestView, error) {
	view := guestView{State: record.State, Total: respond.Number(record.Total), OrderID: respond.OrNull(record.OrderID), Paid: record.Paid}
	if unknown, ok := record.UnknownCall(); ok && unknown.Operation != upstream.OpCreate {
		view.UnknownChange = unknown.Operation
	}
	if create, _ := record.Last(upstream.OpCreate); create.Contradicted == ordering.OutcomeDone {
		view.State = ordering.StateUnknown // placed after all (policy O12)
	}
	last, _ := record.Last(upstream.OpReject)
	if record.State != ordering.StateRejected || !last.ForGuest {
		return view, nil
	}
	body, err := h.sent(ctx, record, last.Number)
	var rejection struct{ RejectionReasonText string }
	_ = json.Unmarshal(body, &rejection)
	view.Reason = strings.TrimSpace(rejection.RejectionReasonText)
	return view, err
}

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
		changed, err := h.Orders.Change(c.Request.Context(), ordering.ChangeRequest{
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
	connections, err := visible.Connections(c, h.Directory)
	if err != nil {
		return "", err
	}
	if len(connections) == 1 {
		return connections[0], nil
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), lookupTimeout)
	defer cancel()
	record, err := h.Orders.ByOrderID(ctx, connections, orderID)
	return record.Connection, err
}

// changeProblem returns the problem for a payment or rejection with violations, and err in other cases.
func changeProblem(operation ordering.Operation, err error) error {
	invalid, ok := errors.AsType[*ordering.InvalidError](err)
	if !ok {
		return err
	}
	return respond.Invalid(respond.TextOf(operation).It+" is not valid; see errors", invalid.Violations, invalid.More, err)
}
