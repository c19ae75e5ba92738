package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"larder/internal/upstream"
	"larder/ordering/validate"
)

// Change pays, completes or rejects an order, once. A repeated key returns the result of the first request.
// Without a key, an equal change counts as a repetition unless it was refused (policies O7, O9).
//
// Change returns the errors of Place except those of a menu, and also: *jsontext.SyntaxError; ErrNoOrder on
// the v1 API for orders that larder does not know (policy O9a); *BusyError while another call of the order is
// open or unknown; *SourceError if it belongs to another service (policy O16); *StateError if the state of the order
// does not allow the change.
func (o *Orders) Change(ctx context.Context, c ChangeRequest) (Result, error) {
	if !upstream.InPath(c.OrderID) {
		return Result{}, ErrNoOrder
	}
	r := request{
		operation:   c.Operation,
		connection:  c.Connection,
		client:      c.Client,
		key:         c.Key,
		of:          c.OrderID,
		capacityKey: c.Client,
		arrived:     time.Now(),
		change:      &c,
	}
	var err error
	switch c.Operation {
	case upstream.OpPay:
		r.payments, err = validate.ReadPayments(c.Input)
		r.body = r.payments.Canonical()
	case upstream.OpReject:
		r.rejection, err = validate.ReadRejection(c.Input)
		r.body = r.rejection.Canonical()
	case upstream.OpComplete: // no body to decode
	default:
		err = fmt.Errorf("ordering: %q is not a change of an order", c.Operation)
	}
	if err != nil {
		return Result{}, err
	}
	result, err := o.execute(ctx, r)
	if _, ended := errors.AsType[*StateError](err); ended || errors.As(err, new(*BusyError)) {
		if first, found := firstOfFormer(ctx, o, r); found {
			return first, nil
		}
	}
	if err == nil && !result.Replayed && c.Operation == upstream.OpReject && result.Call.Outcome == OutcomeRefused {
		o.refreshReasons(ctx, c.Connection) // the list may have changed (policy S5a)
	}
	return result, err
}

// firstOfFormer returns the result of the first equal change without a key, if the connection had a former source then,
// or larder did not know sources (policy O16).
func firstOfFormer(ctx context.Context, o *Orders, r request) (result Result, found bool) {
	names := o.deps.Sources.Names(r.connection)
	if r.key != "" || len(names) == 0 {
		return Result{}, false
	}
	for _, source := range append([]string{""}, names[1:]...) {
		result, found, err := o.lookUp(ctx, &execution{request: r, source: source})
		if found && err == nil {
			return result, true
		}
	}
	return Result{}, false
}

// validateChange validates a change and completes the call.
func (o *Orders) validateChange(ctx context.Context, r *request, spec *CallSpec) error {
	c := r.change
	spec.RequestID, spec.OrderID, spec.Adopt = c.RequestID, c.OrderID, !c.V1
	record, err := o.deps.Journal.Order(ctx, c.Connection, c.OrderID)
	if err != nil && (c.V1 || !errors.Is(err, ErrNoOrder)) {
		return err
	}
	if record.Foreign { // the journal checks it again; here, before the amounts are compared with its total
		return &SourceError{Record: record}
	}
	var invalid InvalidError
	switch {
	case r.payments != nil:
		if c.V1 && !o.cfg.AllowUnderpayment {
			r.payments.Cover(record.Total)
		}
		for _, paid := range r.payments.List() {
			spec.Payments = append(spec.Payments, Payment{Code: paid.Code, Amount: paid.Amount, PaidAt: paid.PaidAt})
		}
		spec.Body = r.payments.Upstream()
		invalid.Violations, invalid.More = r.payments.Violations()
	case r.rejection != nil:
		o.checkReason(ctx, c.Connection, r.rejection)
		spec.Body = r.rejection.Upstream()
		invalid.Violations, invalid.More = r.rejection.Violations()
	default: // a completion has no body
	}
	if invalid.Violations != nil {
		return &invalid
	}
	return nil
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
	if r.Check(reasons) || !o.refreshReasons(ctx, connection) {
		return
	}
	if reasons, err = o.deps.Reasons(ctx, connection); err == nil {
		r.Check(reasons)
	}
}

func (o *Orders) refreshReasons(ctx context.Context, connection string) bool {
	return o.deps.RefreshReasons != nil && o.deps.RefreshReasons(ctx, connection)
}
