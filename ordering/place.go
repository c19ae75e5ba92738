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
	spec, err := withKey(ctx, o.deps.Journal, spec, r, o.deps.Sources.Current(p.Connection))
	if err != nil {
		return Result{}, err
	}
	service, unknown := o.deps.service(p.Connection)
	if unknown != nil || !service.Free(ctx) { // a repeated order should not wait; otherwise call finds its key
		if first, err := replay(ctx, o.deps.Journal, spec); !errors.Is(err, ErrKeyFree) {
			return first, err
		}
	}
	if unknown != nil {
		return Result{}, unknown
	}
	checked, err := o.validateOrder(ctx, p)
	if err != nil {
		return o.notBegun(ctx, spec, err)
	}
	valid := checked.result
	spec.MenuVersion, spec.Total, spec.ExpectedAt, spec.Body = valid.Version, valid.Total, valid.ExpectedAt, valid.Order
	placed, err := o.call(ctx, plannedCall{spec: spec, share: cmp.Or(p.CapacityKey, p.Client), arrived: arrived, order: checked})
	if err != nil {
		return o.notBegun(ctx, spec, err)
	}
	return placed, nil
}

// notBegun returns the result of an order that was not begun, because of err: the result of the first request with its key
// (policy O7), which nearly always is new and so was not looked up before; *RestoredError while orders are paused,
// because Redis may have lost that result (policy O14a); otherwise err.
func (o *Orders) notBegun(ctx context.Context, spec CallSpec, err error) (Result, error) {
	invalid, is422 := errors.AsType[*InvalidError](err)
	keyFound := is422 && invalid.Ref != "" || is[*KeyReusedError](err) || is[*InFlightError](err)
	clientLeft := ctx.Err() != nil
	if spec.Key == "" || keyFound || clientLeft {
		return Result{}, err
	}
	failed := is[*JournalError](err)
	if failed { // Redis may still answer reads
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, abortLimit)
		defer cancel()
	}
	first, lookup := replay(ctx, o.deps.Journal, spec)
	switch {
	case failed && is[*JournalError](lookup):
		return Result{}, err
	case !errors.Is(lookup, ErrKeyFree):
		return first, lookup
	}
	pause := notFound(ctx, o.deps.Journal, spec.Connection)
	if errors.Is(pause, ErrNoOrder) || failed && is[*JournalError](pause) {
		return Result{}, err // no pause, or not known
	}
	return Result{}, pause
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
