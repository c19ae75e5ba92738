package compat

import (
	"cmp"
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/directory"
	"larder.local/internal/jsontext"
	"larder.local/internal/setting"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// Path is the prefix of the compatible API: the ordering service's own interface, so that its
// clients only need another base URL. The token endpoint of both APIs is outside it.
const Path = "/orders/api/"

// RejectionReasons answers GET /orders/api/v1/RejectionReasons.
func (h *Handlers) RejectionReasons(c *gin.Context) error {
	connection, err := visible.OnlyConnection(h.Directory, auth.CallerOf(c), visible.ByClient)
	if err != nil {
		return err
	}
	return h.Reasons(c, connection)
}

// restaurantOfQuery returns the restaurantId of the query. The name ignores case and underscores.
func restaurantOfQuery(c *gin.Context) (string, error) {
	asked := ""
	for name, values := range c.Request.URL.Query() {
		if jsontext.FoldName(name) != "restaurantid" {
			continue
		}
		for _, value := range values {
			if asked != "" && value != "" && value != asked {
				return "", respond.InvalidParameter("restaurantId", "is sent twice with different values")
			}
			asked = cmp.Or(value, asked)
		}
	}
	return asked, nil
}

// Menu answers GET /orders/api/v1/menu/view: the menu view as the ordering service published it,
// including fields that larder does not know. A request body, which some clients send, is ignored.
func (h *Handlers) Menu(c *gin.Context) error {
	named, err := restaurantOfQuery(c)
	if err != nil {
		return err
	}
	return h.View(c, named)
}

// RefusalErrors selects the `errors` of an error on the compatible API.
type RefusalErrors string

// The values of http.compat.refusal_errors.
const (
	RefusalViolations RefusalErrors = "violations" // all violations with paths and codes
	RefusalNone       RefusalErrors = "none"       // null, as in all examples of the interface
)

// Config is `http.compat`: the format of larder's own errors on the compatible API. Errors of
// the ordering service are passed through unchanged (policy O15).
type Config struct {
	// RefusalStatus is the status for an order, payment or rejection with violations: 400 to
	// 499.
	RefusalStatus int `yaml:"refusal_status"`
	// RefusalErrors is violations or none. msg has the reason in both cases.
	RefusalErrors RefusalErrors `yaml:"refusal_errors"`
}

// SetDefaults sets the default values.
func (cfg *Config) SetDefaults() {
	cfg.RefusalStatus = cmp.Or(cfg.RefusalStatus, http.StatusUnprocessableEntity)
	cfg.RefusalErrors = cmp.Or(cfg.RefusalErrors, RefusalViolations)
}

// Check returns all faults of the section.
func (cfg Config) Check() (faults setting.Faults) {
	faults.If(cfg.RefusalStatus < 400 || cfg.RefusalStatus > 499, "http.compat.refusal_status",
		"%d is not between 400 and 499; sending a rejected order again does not help, so its status must be a client error",
		cfg.RefusalStatus)
	const key = "http.compat.refusal_errors"
	return append(faults, setting.OneOf(key, "value", cfg.RefusalErrors, RefusalViolations, RefusalNone))
}

// Handlers answer the compatible API. The caller sets all fields. The functions are shared with the v1 API, so that both
// behave the same.
type Handlers struct {
	Orders    Engine
	Directory *directory.Directory
	// FieldCases has the spelling of order fields for each connection.
	FieldCases map[string]upstream.FieldCase
	// View and Reasons answer with a menu view and with the rejection reasons of a connection.
	View    func(c *gin.Context, restaurant string) error
	Reasons func(c *gin.Context, connection string) error
	// Note counts and logs the result of placing or changing an order.
	Note func(c *gin.Context, call respond.OrderCall, result ordering.Result, err error)
}

// Engine places and changes orders; *ordering.Orders implements it.
type Engine interface {
	Place(ctx context.Context, order ordering.PlaceRequest) (ordering.Result, error)
	Change(ctx context.Context, change ordering.ChangeRequest) (ordering.Result, error)
}

// Place answers POST /orders/api/v1/orders. It checks the order against the menu of the order's
// restaurant and passes the ordering service's response through. The body is read as JSON
// whatever its Content-Type, because existing clients send different ones.
func (h *Handlers) Place(c *gin.Context) error {
	request := ordering.PlaceRequest{RequestID: respond.RequestID(c)}
	err := h.readPlaceRequest(c, &request)
	call := respond.OrderCall{Operation: upstream.OpCreate, Connection: request.Connection, Restaurant: request.Restaurant}
	if err != nil {
		if respond.ProblemOf(err).Code == respond.CodeMalformedJSON { // as for an error of ordering
			h.Note(c, call, ordering.Result{}, err)
		}
		return err
	}
	placed, err := h.Orders.Place(c.Request.Context(), request)
	h.Note(c, call, placed, err)
	return h.writeCompat(c, placed, err)
}

// readPlaceRequest reads the client and the order.
func (h *Handlers) readPlaceRequest(c *gin.Context, p *ordering.PlaceRequest) (err error) {
	who := auth.CallerOf(c)
	if p.Connection, err = visible.OnlyConnection(h.Directory, who, visible.ByClient); err != nil {
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
	input := validate.Input{Body: body, Language: respond.Language(c), FieldCase: h.FieldCases[p.Connection]}
	if p.Order, err = validate.DecodeOrder(input, nil); err != nil {
		return err
	}
	p.Restaurant, err = visible.Menu(h.Directory, p.Connection, p.Order.Restaurant())
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
		connection, err := visible.OnlyConnection(h.Directory, who, visible.ByClient)
		if err != nil {
			return err
		}
		change := ordering.ChangeRequest{
			Operation:  operation,
			OrderID:    respond.Param(c, "orderID"),
			RequestID:  respond.RequestID(c),
			Connection: connection,
			Client:     who.Client,
			Input:      validate.Input{Language: respond.Language(c), FieldCase: h.FieldCases[connection]},
		}
		if change.Key, err = respond.IdempotencyKey(c, false, auth.IsGuest(c)); err != nil {
			return err
		}
		if operation != upstream.OpComplete {
			if change.Body, err = respond.ReadBody(c, respond.MaxBody); err != nil {
				return err
			}
		}
		changed, err := h.Orders.Change(c.Request.Context(), change)
		h.Note(c, respond.OrderCall{Operation: operation, Connection: connection, OrderID: change.OrderID}, changed, err)
		return h.writeCompat(c, changed, err)
	}
}
