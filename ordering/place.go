package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/upstream"
)

// Placer places orders. It is safe for concurrent use.
type Placer struct {
	validator *Validator
	services  func(connection string) (Service, bool)
	clock     func() time.Time
	newRef    func() string
}

// NewPlacer makes a Placer. services finds a connection's service; newRef
// gives a new order's reference, as Refs does.
func NewPlacer(
	validator *Validator, services func(connection string) (Service, bool), clock func() time.Time, newRef func() string,
) *Placer {
	return &Placer{validator: validator, services: services, clock: clock, newRef: newRef}
}

// PlaceRequest is one order to be placed.
type PlaceRequest struct {
	Request
	// Connection is the name of the connection whose service takes the order.
	Connection string
	// Client is who places it.
	Client string
	// Key is the client's idempotency key. It is never sent on (trap 1).
	Key string
}

// Placed is an order that the service has taken.
type Placed struct {
	// Ref is larder's own reference (policy O9).
	Ref string
	// OrderID is the service's.
	OrderID string
	// Total is in the restaurant's currency, exact.
	Total decimal.Decimal
	// State is StatePlaced.
	State string
	// CreatedAt is when the service had answered.
	CreatedAt time.Time
}

// Place validates the order and sends it, once. Errors: *menu.SyntaxError;
// *InvalidError; ErrUnknownConnection; *RefusedError and *NotSentError when
// the order certainly does not exist; *UnknownError when it may.
//
// When ctx ends while the call is under way, the call goes on to its own limit
// (policy O8): a client that hangs up must not leave an order half placed.
func (p *Placer) Place(ctx context.Context, req PlaceRequest) (Placed, error) {
	verdict, err := p.validator.Validate(req.Request)
	if err != nil {
		return Placed{}, err
	}
	if !verdict.Valid {
		return Placed{}, &InvalidError{Verdict: verdict}
	}
	service, ok := p.services(req.Connection)
	if !ok {
		return Placed{}, fmt.Errorf("%w %q", ErrUnknownConnection, req.Connection)
	}
	ref := p.newRef()
	if err := ctx.Err(); err != nil {
		return Placed{}, &NotSentError{Ref: ref, Err: err}
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.validator.cfg.PlaceTimeout)
	defer cancel()
	created, err := service.CreateOrder(call, verdict.Order)
	if err != nil {
		return Placed{}, outcome(ref, err)
	}
	if created.OrderID == "" {
		return Placed{}, &UnknownError{Ref: ref, Err: errors.New("the answer has no orderID")}
	}
	return Placed{
		Ref: ref, OrderID: created.OrderID, Total: verdict.Total.Decimal, State: string(StatePlaced), CreatedAt: p.clock(),
	}, nil
}

// outcome tells what is known of a call that failed. What is not certain is
// unknown.
func outcome(ref string, err error) error {
	var answer *upstream.Error
	switch {
	case !errors.As(err, &answer) || answer.Effect != upstream.EffectNone:
		return &UnknownError{Ref: ref, Err: err}
	case answer.Refused():
		return &RefusedError{Ref: ref, Upstream: answer}
	default:
		return &NotSentError{Ref: ref, RetryAfter: answer.RetryAfter, Err: err}
	}
}
