package ordering

import (
	"cmp"
	"context"
	"errors"
	"time"

	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// Place validates an order and sends it, once. A repeated key returns the result of the first
// request, whatever the current menu contains (policy O7).
//
// If no call was begun, Place returns *KeyReusedError, *InFlightError,
// *InvalidError, *NotReadyError, *RestoredError, *JournalError, an error of the Catalogues, another
// error if the connection is not configured, or *NotSentError if the client has disconnected or the
// service has no capacity or issues no token (policy O8a). Once the call was begun, Place returns a Result, whatever
// the outcome, except for a refusal that a newer menu explains: *InvalidError with a Ref, and the key is free (policy O18).
func (o *Orders) Place(ctx context.Context, p PlaceRequest) (Result, error) {
	arrived := time.Now()
	spec := CallSpec{
		Operation: upstream.OpCreate, Connection: p.Connection, Client: p.Client, RequestID: p.RequestID, Restaurant: p.Restaurant,
	}
	r := request{key: p.Key, of: string(p.Restaurant), body: p.Order.Canonical()}
	spec, first, found, err := o.replay(ctx, spec, r, o.deps.Sources.Current(p.Connection))
	if found || err != nil {
		return first, err
	}
	var placed Result
	checked, err := o.validateOrder(ctx, p)
	if err == nil {
		valid := checked.result
		spec.MenuVersion, spec.Total, spec.ExpectedAt, spec.Body = valid.Version, valid.Total, valid.ExpectedAt, valid.Order
		placed, err = o.call(ctx, plannedCall{spec: spec, share: cmp.Or(p.CapacityKey, p.Client), arrived: arrived, order: checked})
	}
	if err != nil && spec.Key != "" {
		return Result{}, orLost(ctx, o.deps.Journal, p.Connection, err)
	}
	return placed, err
}

// orLost returns the error with which nothing was begun, or *RestoredError while new orders are paused: the first request
// with this key may have placed the order, and Redis may have lost that (policy O14a).
func orLost(ctx context.Context, journal Journal, connection string, err error) error {
	invalid, is422 := errors.AsType[*InvalidError](err)
	if is422 && invalid.Ref != "" || is[*KeyReusedError](err) || is[*InFlightError](err) || ctx.Err() != nil {
		return err // the key is known, or the client has left
	}
	if lost := notFound(ctx, journal, connection); !errors.Is(lost, ErrNoOrder) {
		return lost
	}
	return err
}

// checkedOrder is a valid order and the menu against which it was checked.
type checkedOrder struct {
	PlaceRequest

	menu   validate.Request
	result *validate.Result
}

// validateOrder checks an order against the current menu.
func (o *Orders) validateOrder(ctx context.Context, p PlaceRequest) (*checkedOrder, error) {
	ctx, span := tracing.Start(ctx, "order.validate")
	defer span.End()
	version, catalogue, err := o.deps.Catalogues.Current(ctx, p.Restaurant, p.Connection)
	if err != nil {
		return nil, err
	}
	menu := validate.Request{Restaurant: p.Restaurant, Version: version, Catalogue: catalogue, At: o.deps.Clock()}
	result, err := o.deps.Validator.Check(p.Order, menu)
	if err != nil {
		return nil, err
	}
	span.Number("larder.menu_version", int(version))
	span.Number("larder.violations", len(result.Violations))
	if !result.Valid {
		return nil, &InvalidError{Violations: result.Violations, More: result.More}
	}
	return &checkedOrder{p, menu, result}, nil
}
