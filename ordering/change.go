package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// Change pays, completes or rejects an order, once. A repeated key returns the result of the first request.
// Without a key, an equal change counts as a repetition unless it was refused (policies O7, O9).
//
// Change returns the errors of Place except those of a menu, and also: *jsontext.SyntaxError; ErrNoOrder on
// the v1 API for orders that larder does not know (policy O9a); *RestoredError while Redis may have lost an equal change
// (policy O14a); *BusyError while another call of the order is open or unknown; *SourceError if the order belongs to
// another service (policy O16); *StateError if the state of the order does not allow the change.
func (o *Orders) Change(ctx context.Context, c ChangeRequest) (Result, error) {
	if !upstream.InPath(c.OrderID) {
		return Result{}, ErrNoOrder
	}
	arrived := time.Now()
	body, err := readChange(c)
	if err != nil {
		return Result{}, err
	}
	spec := CallSpec{
		Operation: c.Operation, Connection: c.Connection, Client: c.Client, RequestID: c.RequestID, OrderID: c.OrderID, Adopt: !c.V1,
		ForGuest: c.V1 && c.Operation == upstream.OpReject,
	}
	r := request{key: c.Key, of: c.OrderID, body: body.Canonical()}
	result, err := o.change(ctx, spec, r, c, body, arrived)
	if errors.Is(err, ErrNoOrder) {
		return Result{}, notFound(ctx, o.deps.Journal, c.Connection)
	}
	if _, ended := errors.AsType[*StateError](err); ended || errors.As(err, new(*BusyError)) {
		if first, found := o.firstOfFormer(ctx, spec, r); found {
			return first, nil
		}
	}
	if ctx.Err() == nil && (is[*InvalidError](err) || is[*BusyError](err) || is[*NotSentError](err)) {
		if missing := notFound(ctx, o.deps.Journal, c.Connection); !errors.Is(missing, ErrNoOrder) { // an equal request may be lost
			return Result{}, missing
		}
	}
	if err == nil && !result.Replayed && c.Operation == upstream.OpReject && result.Call.Outcome == OutcomeRefused {
		o.deps.refreshReasons(ctx, c.Connection) // the list may have changed (policy S5a)
	}
	return result, err
}

func (o *Orders) change(
	ctx context.Context, spec CallSpec, r request, c ChangeRequest, body changeBody, arrived time.Time,
) (Result, error) {
	spec, err := withKey(ctx, o.deps.Journal, spec, r, o.deps.Sources.Current(c.Connection))
	if err != nil {
		return Result{}, err
	}
	if first, err := replay(ctx, o.deps.Journal, spec); !errors.Is(err, ErrKeyFree) {
		return first, err
	}
	if _, err := o.deps.service(c.Connection); err != nil {
		return Result{}, err
	}
	if spec.Body, spec.Payments, err = o.validateChange(ctx, c, body); err != nil {
		return Result{}, err
	}
	return o.call(ctx, plannedCall{spec: spec, share: c.Client, arrived: arrived})
}

// changeBody is the body of a change: *validate.Payments, *validate.Rejection or, of a completion, noBody.
type changeBody interface {
	Canonical() []byte
	Upstream() []byte
	Violations() (list []violation.Violation, more bool)
}

type noBody struct{}

func (noBody) Canonical() []byte                                   { return nil }
func (noBody) Upstream() []byte                                    { return nil }
func (noBody) Violations() (list []violation.Violation, more bool) { return nil, false }

func readChange(c ChangeRequest) (changeBody, error) {
	switch c.Operation {
	case upstream.OpPay:
		return validate.ReadPayments(c.Input)
	case upstream.OpReject:
		return validate.ReadRejection(c.Input)
	case upstream.OpComplete:
		return noBody{}, nil
	default:
		return nil, fmt.Errorf("ordering: %q is not a change of an order", c.Operation)
	}
}

// firstOfFormer returns the result of the first equal change without a key, if the connection had a former source then,
// or larder did not know sources (policy O16).
func (o *Orders) firstOfFormer(ctx context.Context, spec CallSpec, r request) (result Result, found bool) {
	names := o.deps.Sources.Names(spec.Connection)
	if r.key != "" || len(names) == 0 {
		return Result{}, false
	}
	for _, source := range append([]string{""}, names[1:]...) {
		former, err := withKey(ctx, o.deps.Journal, spec, r, source)
		if err != nil {
			return Result{}, false
		}
		if result, err := replay(ctx, o.deps.Journal, former); err == nil {
			return result, true
		}
	}
	return Result{}, false
}

// validateChange validates a change and returns the body for the service and the payments.
func (o *Orders) validateChange(ctx context.Context, c ChangeRequest, change changeBody) (body []byte, payments []Payment, err error) {
	record, err := o.deps.Journal.Order(ctx, c.Connection, c.OrderID)
	if err != nil && (c.V1 || !errors.Is(err, ErrNoOrder)) {
		return nil, nil, err
	}
	if record.Foreign { // the journal checks it again; here, before the amounts are compared with its total
		return nil, nil, &SourceError{Record: record}
	}
	switch change := change.(type) {
	case *validate.Payments:
		if c.V1 && !o.cfg.AllowUnderpayment {
			change.Cover(record.Total)
		}
		for _, paid := range change.List() {
			payments = append(payments, Payment{Code: paid.Code, Amount: paid.Amount, PaidAt: paid.PaidAt})
		}
	case *validate.Rejection:
		o.checkReason(ctx, c.Connection, change)
	}
	if violations, more := change.Violations(); violations != nil {
		return nil, nil, &InvalidError{Violations: violations, More: more}
	}
	return change.Upstream(), payments, nil
}

// checkReason checks the reason of a rejection against the service's list. If the cached list does not
// contain it, the list is refreshed first. If the refresh fails, the cached list applies (policy S5a).
func (o *Orders) checkReason(ctx context.Context, connection string, r *validate.Rejection) {
	if o.deps.Reasons == nil {
		return
	}
	reasons, err := o.deps.Reasons(ctx, connection)
	if err != nil {
		return // the list is not known
	}
	if r.Check(reasons) || !o.deps.refreshReasons(ctx, connection) {
		return
	}
	if reasons, err = o.deps.Reasons(ctx, connection); err == nil {
		r.Check(reasons)
	}
}

func (d *Deps) refreshReasons(ctx context.Context, connection string) bool {
	return d.RefreshReasons != nil && d.RefreshReasons(ctx, connection)
}
