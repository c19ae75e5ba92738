package ordering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"larder/internal/tracing"
	"larder/internal/upstream"
)

// Place validates an order and sends it, once. A key that was used already
// gives what became of that request, whatever the menu says by now (policy O7).
//
// Errors when nothing was begun: *jsontext.SyntaxError; *KeyReusedError and
// *InFlightError; ErrUnknownConnection; *InvalidError; *NotReadyError;
// *RestoredError; *JournalError; *NotSentError when the client has left, or the
// service has no capacity or gives no token (policy O8a); those of the
// Catalogues. Once the call was begun there is a Result, whatever became of it.
func (o *Orders) Place(ctx context.Context, p PlaceRequest) (Result, error) {
	from := requester{name: cmp.Or(p.CapacityKey, p.Client), arrived: time.Now()}
	body, err := canonical(p.Body)
	if err != nil {
		return Result{}, err
	}
	asked, err := o.hashRequest(ctx, scope{
		operation: upstream.OpCreate, connection: p.Connection, client: p.Client, key: p.Key, of: string(p.Restaurant),
	}, body)
	if err != nil {
		return Result{}, err
	}
	if result, taken, err := o.replay(ctx, p.Connection, asked); taken || err != nil {
		return result, err
	}
	service, ok := o.deps.Services(p.Connection)
	if !ok {
		return Result{}, fmt.Errorf("%w %q", ErrUnknownConnection, p.Connection)
	}
	verdict, err := o.validateOrder(ctx, &p)
	if err != nil {
		return Result{}, err
	}
	if err := o.deps.Journal.Ready(ctx, p.Connection); err != nil {
		return Result{}, err
	}
	return o.begin(ctx, service, from, asked, CallSpec{
		Operation: upstream.OpCreate, Connection: p.Connection, Client: p.Client, RequestID: p.RequestID,
		Restaurant: p.Restaurant, MenuVersion: verdict.Version, Total: verdict.Total, ExpectedAt: verdict.ExpectedAt,
		Body: verdict.Order,
	})
}

// validateOrder returns the result of an order that may be placed.
func (o *Orders) validateOrder(ctx context.Context, p *PlaceRequest) (*ValidationResult, error) {
	ctx, span := tracing.Start(ctx, "order.validate")
	defer span.End()
	version, catalogue, err := o.deps.Catalogues.Catalogue(ctx, p.Restaurant)
	if err != nil {
		return nil, err
	}
	verdict, err := o.deps.Validator.Validate(Request{
		Restaurant: p.Restaurant, V1: p.V1, Version: version, Catalogue: catalogue,
		Body: p.Body, Language: p.Language, FieldCase: p.FieldCase,
	})
	if err != nil {
		return nil, err
	}
	span.Number("larder.menu_version", int(version))
	span.Number("larder.violations", len(verdict.Violations))
	if !verdict.Valid {
		return nil, &InvalidError{Violations: verdict.Violations, More: verdict.More}
	}
	return verdict, nil
}

// begin makes the call of an opening that lacks only what every opening has. A
// request that took the key in the meantime is replayed.
func (o *Orders) begin(ctx context.Context, service Service, from requester, a requestKey, opening CallSpec) (Result, error) {
	opening.ID, opening.Ref = o.deps.NewRef(), o.deps.NewRef()
	opening.Key, opening.Derived, opening.Fingerprint = a.key, a.derived, a.fingerprint
	opening.Deadline = o.deadline()
	result, err := o.execute(ctx, service, from, opening)
	if taken, ok := errors.AsType[*KeyTakenError](err); ok {
		return replayed(taken.Record, taken.Call, a.fingerprint)
	}
	return result, err
}

// deadline is how long a call may be open before it counts as unknown (policy
// O12).
func (o *Orders) deadline() time.Duration { return o.cfg.PlaceTimeout + o.cfg.InFlightGrace }
