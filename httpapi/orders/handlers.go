package orders

import (
	"context"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/audit"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// Handlers check, place, change and return orders, and resolve unknown outcomes. The caller sets all fields.
type Handlers struct {
	visible.Served

	Orders  Engine
	Journal ordering.Journal

	Auth      *auth.Auth
	Audit     *audit.Log
	Validator *validate.Validator
	Metrics   *metrics.Metrics
	Log       logrus.FieldLogger

	// ValidateLimit limits the order checks of an address, PublicLimit the orders of guests.
	ValidateLimit, PublicLimit *ratelimit.Limiter
	// Paused reports whether orders of a connection are paused, because Redis may have lost orders (policy O14a).
	Paused func(connection string) bool
	// FieldCases has the spelling of order fields for each connection.
	FieldCases map[string]upstream.FieldCase
	// AllowMissingKey accepts orders without Idempotency-Key, except from guests (policy O7).
	AllowMissingKey bool
	// GuestPayments are the payment types that guests may use (policy H3).
	GuestPayments []string
}

// Engine places and changes orders; *ordering.Orders implements it.
type Engine interface {
	Place(ctx context.Context, order ordering.PlaceRequest) (ordering.Result, error)
	Change(ctx context.Context, change ordering.ChangeRequest) (ordering.Result, error)
	Resolve(ctx context.Context, resolution ordering.ResolveRequest) (ordering.Result, error)
	ByOrderID(ctx context.Context, connections []string, orderID string) (ordering.Record, error)
	ByKey(ctx context.Context, connections []string, client, key string) (ordering.Record, error)
	ByRef(ctx context.Context, connections []string, ref string) (ordering.Record, error)
	AcceptRestore(ctx context.Context, connection string) (bool, error)
}

// input returns a body for package validate.
func (h *Handlers) input(c *gin.Context, connection string, body []byte) validate.Input {
	return validate.Input{
		Body:      body,
		V1:        true,
		Guest:     h.Auth.FromGuest(c.Request),
		Language:  respond.Language(c),
		FieldCase: h.FieldCases[connection],
	}
}
