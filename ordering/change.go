package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
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
	from := requester{name: c.Client, arrived: time.Now()}
	var body []byte
	switch c.Operation {
	case upstream.OpPay, upstream.OpReject:
		var err error
		if body, err = canonical(c.Body); err != nil {
			return Result{}, err
		}
	case upstream.OpComplete: // has none
	default:
		return Result{}, fmt.Errorf("ordering: %q changes no order", c.Operation)
	}
	asked := scope{operation: c.Operation, connection: c.Connection, client: c.Client, key: c.Key, of: c.OrderID}
	result, err := o.once(ctx, from, asked, body, func() (CallSpec, error) { return o.prepareChange(ctx, &c) })
	if err == nil && !result.Replayed && c.Operation == upstream.OpReject && result.Call.Outcome == OutcomeRefused {
		o.refreshReasons(ctx, c.Connection) // perhaps they have changed (policy S5a)
	}
	return result, err
}

// prepareChange checks a change and returns its call, with what will be sent:
// what once does not fill in.
func (o *Orders) prepareChange(ctx context.Context, c *ChangeRequest) (CallSpec, error) {
	spec := CallSpec{RequestID: c.RequestID, OrderID: c.OrderID, Adopt: !c.V1}
	record, err := o.deps.Journal.Order(ctx, c.Connection, c.OrderID)
	if err != nil && (c.V1 || !errors.Is(err, ErrNoOrder)) {
		return CallSpec{}, err
	}
	notes := &violation.List{Language: c.Language, Limit: violation.Max + 1}
	switch c.Operation {
	case upstream.OpPay:
		payments := readPayments(c, notes)
		if c.V1 && !o.cfg.AllowUnderpayment {
			payments.cover(record.Total)
		}
		spec.Payments = payments.records()
		spec.Body = payments.upstreamBody(c.FieldCase)
	case upstream.OpReject:
		rejection := readRejection(c, notes)
		o.checkReason(ctx, c.Connection, rejection)
		spec.Body = rejection.upstreamBody(c.FieldCase)
	default: // a completion has no body
	}
	if violations, more := notes.Sorted(); violations != nil {
		return CallSpec{}, &InvalidError{Violations: violations, More: more}
	}
	return spec, nil
}

// changeReader returns a decoder of the body of a change, which canonical has
// accepted.
func changeReader(c *ChangeRequest, notes *violation.List) *decoder {
	return &decoder{Reader: jsontext.NewReader(string(c.Body), maxBodyDepth), violations: notes, v1: c.V1}
}

// require notes a value that is missing or empty.
func (d *decoder) require(v *value, base, name string, end int32) {
	if !v.blank() {
		return
	}
	d.violations.Add(v.posOr(end), member(base, v.nameOr(name)), violation.FieldRequired, violation.Params{"field": name}, "")
}
