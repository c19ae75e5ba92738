package ordering

import (
	"cmp"
	"context"
	"time"

	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering/validate"
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
	return o.execute(ctx, request{
		operation:   upstream.OpCreate,
		connection:  p.Connection,
		client:      p.Client,
		key:         p.Key,
		of:          string(p.Restaurant),
		body:        p.Order.Canonical(),
		capacityKey: cmp.Or(p.CapacityKey, p.Client),
		arrived:     time.Now(),
		place:       &p,
	})
}

// validateOrder validates an order and completes the call that places it.
func (o *Orders) validateOrder(ctx context.Context, e *execution) error {
	p, spec := e.place, &e.spec
	ctx, span := tracing.Start(ctx, "order.validate")
	defer span.End()
	version, catalogue, err := o.deps.Catalogues.Current(ctx, p.Restaurant, p.Connection)
	if err != nil {
		return err
	}
	e.recheck.checked = validate.Request{Restaurant: p.Restaurant, Version: version, Catalogue: catalogue, At: o.deps.Clock()}
	result, err := o.deps.Validator.Check(p.Order, e.recheck.checked)
	if err != nil {
		return err
	}
	span.Number("larder.menu_version", int(version))
	span.Number("larder.violations", len(result.Violations))
	if !result.Valid {
		return &InvalidError{Violations: result.Violations, More: result.More}
	}
	spec.RequestID, spec.Restaurant, spec.MenuVersion = p.RequestID, p.Restaurant, result.Version
	spec.Total, spec.ExpectedAt, spec.Body = result.Total, result.ExpectedAt, result.Order
	return nil
}
