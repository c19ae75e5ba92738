package ordering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering/validate"
)

// Place validates an order and sends it, once. A key that was used already
// returns what became of that request, whatever the menu says by now (policy O7).
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
	asked := scope{
		operation: upstream.OpCreate, connection: p.Connection, client: p.Client, key: p.Key, of: string(p.Restaurant),
	}
	return o.once(ctx, from, asked, body, func() (CallSpec, error) {
		checked, err := o.validateOrder(ctx, &p)
		if err != nil {
			return CallSpec{}, err
		}
		return CallSpec{
			RequestID: p.RequestID, Restaurant: p.Restaurant, MenuVersion: checked.Version,
			Total: checked.Total, ExpectedAt: checked.ExpectedAt, Body: checked.Order,
		}, nil
	})
}

// validateOrder returns the result of an order that may be placed.
func (o *Orders) validateOrder(ctx context.Context, p *PlaceRequest) (*validate.Result, error) {
	ctx, span := tracing.Start(ctx, "order.validate")
	defer span.End()
	version, catalogue, err := o.deps.Catalogues.Catalogue(ctx, p.Restaurant)
	if err != nil {
		return nil, err
	}
	result, err := o.deps.Validator.Order(validate.Request{
		Restaurant: p.Restaurant, V1: p.V1, Version: version, Catalogue: catalogue,
		Body: p.Body, Language: p.Language, FieldCase: p.FieldCase,
	})
	if err != nil {
		return nil, err
	}
	span.Number("larder.menu_version", int(version))
	span.Number("larder.violations", len(result.Violations))
	if !result.Valid {
		return nil, &InvalidError{Violations: result.Violations, More: result.More}
	}
	return result, nil
}

// once makes the call that a request asks for, unless its key was used before:
// then it returns what became of that call. body is canonical. prepare checks
// the request and returns the call without what every call has.
func (o *Orders) once(
	ctx context.Context, from requester, asked scope, body []byte, prepare func() (CallSpec, error),
) (Result, error) {
	key, err := o.hashRequest(ctx, asked, body)
	if err != nil {
		return Result{}, err
	}
	if result, taken, err := o.replay(ctx, asked.connection, key); taken || err != nil {
		return result, err
	}
	service, ok := o.deps.Services(asked.connection)
	if !ok {
		return Result{}, fmt.Errorf("%w %q", ErrUnknownConnection, asked.connection)
	}
	spec, err := prepare()
	if err != nil {
		return Result{}, err
	}
	if err := o.deps.Journal.Ready(ctx, asked.connection); err != nil {
		return Result{}, err
	}
	spec.ID, spec.Ref = o.deps.NewRef(), o.deps.NewRef()
	spec.Operation, spec.Connection, spec.Client = asked.operation, asked.connection, asked.client
	spec.Key, spec.Derived, spec.Fingerprint = key.key, key.derived, key.fingerprint
	spec.Deadline = o.deadline()
	result, err := o.execute(ctx, service, from, spec)
	if taken, ok := errors.AsType[*KeyTakenError](err); ok { // in the meantime
		return replayed(taken.Record, taken.Call, key.fingerprint)
	}
	return result, err
}

// deadline is how long a call may be open before it counts as unknown (policy
// O12).
func (o *Orders) deadline() time.Duration { return o.cfg.PlaceTimeout + o.cfg.InFlightGrace }
