package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"larder/internal/upstream"
	"larder/ordering/validate"
)

// Change pays, completes or rejects an order, once. A key that was used
// already returns what became of that request; so does, without a key, the same
// change asked for again, unless it was refused (policies O7, O9).
//
// Errors are Place's but those of a menu, and: ErrNoOrder, on the v1 API
// for orders that larder does not know (policy O9a); *BusyError while another
// call of the order is open or unknown; *StateError when it takes no such
// change any more.
func (o *Orders) Change(ctx context.Context, c ChangeRequest) (Result, error) {
	if !upstream.InPath(c.OrderID) {
		return Result{}, ErrNoOrder
	}
	r := request{
		operation: c.Operation, connection: c.Connection, client: c.Client, key: c.Key, of: c.OrderID, capacityKey: c.Client,
		arrived: time.Now(), change: &c,
	}
	switch c.Operation {
	case upstream.OpPay, upstream.OpReject:
		var err error
		if r.body, err = canonical(c.Body); err != nil {
			return Result{}, err
		}
	case upstream.OpComplete: // has none
	default:
		return Result{}, fmt.Errorf("ordering: %q changes no order", c.Operation)
	}
	result, err := o.execute(ctx, &r)
	if err == nil && !result.Replayed && c.Operation == upstream.OpReject && result.Call.Outcome == OutcomeRefused {
		o.refreshReasons(ctx, c.Connection) // perhaps they have changed (policy S5a)
	}
	return result, err
}

// validateChange checks a change and fills in what its call has of its own.
func (o *Orders) validateChange(ctx context.Context, c *ChangeRequest, spec *CallSpec) error {
	spec.RequestID, spec.OrderID, spec.Adopt = c.RequestID, c.OrderID, !c.V1
	record, err := o.deps.Journal.Order(ctx, c.Connection, c.OrderID)
	if err != nil && (c.V1 || !errors.Is(err, ErrNoOrder)) {
		return err
	}
	body := validate.Change{Body: c.Body, V1: c.V1, Language: c.Language, FieldCase: c.FieldCase}
	var invalid InvalidError
	switch c.Operation {
	case upstream.OpPay:
		payments := validate.ReadPayments(body)
		if c.V1 && !o.cfg.AllowUnderpayment {
			payments.Cover(record.Total)
		}
		for _, paid := range payments.List() {
			spec.Payments = append(spec.Payments, Payment{Code: paid.Code, Amount: paid.Amount, PaidAt: paid.PaidAt})
		}
		spec.Body = payments.Upstream()
		invalid.Violations, invalid.More = payments.Violations()
	case upstream.OpReject:
		rejection := validate.ReadRejection(body)
		o.checkReason(ctx, c.Connection, rejection)
		spec.Body = rejection.Upstream()
		invalid.Violations, invalid.More = rejection.Violations()
	default: // a completion has no body
	}
	if invalid.Violations != nil {
		return &invalid
	}
	return nil
}

// checkReason checks the rejection by the reasons that the service lists.
// Where it contradicts those that are cached, they are refreshed first; if that
// fails the cached ones apply (policy S5a).
func (o *Orders) checkReason(ctx context.Context, connection string, r *validate.Rejection) {
	if o.deps.Reasons == nil {
		return
	}
	reasons, err := o.deps.Reasons(ctx, connection)
	if err != nil {
		return // none is known
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
