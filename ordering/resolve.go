package ordering

import (
	"context"
	"errors"
	"slices"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering/violation"
)

// Resolve records an operator's resolution of an operation whose outcome is unknown (policy O12).
// With ResolvedRetry the call is sent again with the same body and key, and the Result contains the
// new call; otherwise nothing is sent, and the Result contains the resolved call.
//
// If nothing was changed, Resolve returns the errors of ByRef; *SourceError for ResolvedRetry of a foreign order;
// *InvalidError with pointers into the operator's body; *StateError if the operation is not unknown, or the order does
// not allow it any more; *OrderIDTakenError; *BusyError (see Journal.Resolve); *JournalError; or, if the call cannot be
// sent again, ErrNoBody, *NotReadyError, *RestoredError, *NotSentError, or another error if the connection is not
// configured.
func (o *Orders) Resolve(ctx context.Context, r ResolveRequest) (Result, error) {
	arrived := time.Now()
	if err := r.check(); err != nil {
		return Result{}, err
	}
	record, err := o.ByRef(ctx, r.Connections, r.Ref)
	if err != nil {
		return Result{}, err
	}
	call, unknown := record.LastUnknown(r.Operation)
	if r.Call != 0 {
		call, _ = record.Call(r.Call)
		unknown = call.Outcome == OutcomeUnknown && call.Operation == r.Operation
	}
	if !unknown { // the journal would resolve a call that has become unknown since
		return Result{}, &StateError{Record: record, Operation: r.Operation}
	}
	resolve := ResolveCall{
		Connection: record.Connection,
		Ref:        record.Ref,
		Operation:  r.Operation,
		Call:       call.Number,
		SpecID:     call.SpecID,
		Resolution: r.Resolution,
		OrderID:    r.OrderID,
		By:         r.By,
		Note:       r.Note,
	}
	if r.Resolution == ResolvedRetry {
		resolve.ID, resolve.RequestID, resolve.Deadline = o.deps.NewRef(), r.RequestID, o.cfg.deadline()
		return o.sendAgain(ctx, record, resolve, arrived)
	}
	o.inFlight.Add(1)
	defer o.inFlight.Add(-1)
	record, err = o.deps.Journal.Resolve(ctx, resolve)
	if err != nil && !errors.Is(err, ErrUnreplicated) {
		return Result{}, err
	}
	call, _ = record.Call(call.Number)
	if err != nil { // policy O14
		result := CallResult{
			Connection: record.Connection,
			Ref:        record.Ref,
			Call:       call.Number,
			SpecID:     call.SpecID,
			Outcome:    call.Outcome,
			OrderID:    r.OrderID,
		}
		o.pending.add(o, pendingWrite{result: &result, record: record, resolution: &resolve, written: true})
	}
	return Result{Record: record, Call: call}, nil
}

// resolveAgain repeats a resolution that too few replicas have, because a failover may have undone
// it (policy O14). It reports whether the resolution is complete. If it returns false and no error,
// the call is still resolved or its record is lost, and the caller writes the result as usual.
func (o *Orders) resolveAgain(ctx context.Context, w pendingWrite) (bool, error) {
	switch _, err := o.deps.Journal.Resolve(ctx, *w.resolution); {
	case is[*StateError](err), errors.Is(err, ErrNoOrder):
		return false, nil
	case is[*OrderIDTakenError](err), is[*BusyError](err): // another order has got the orderID since
		o.reportLost(&w.record, w.result.Call, err)
		return true, nil
	default:
		return err == nil, err
	}
}

// sendAgain sends a call with an unknown outcome again. It reads the body of the call before anything is resolved.
func (o *Orders) sendAgain(ctx context.Context, record Record, again ResolveCall, arrived time.Time) (Result, error) {
	if _, ok := record.LastUnknown(again.Operation); !ok {
		return Result{}, &StateError{Record: record, Operation: again.Operation}
	}
	if record.Foreign {
		return Result{}, &SourceError{Record: record}
	}
	spec := CallSpec{
		ID: again.ID, Operation: again.Operation, Connection: record.Connection, Ref: record.Ref, OrderID: record.OrderID,
		Client: record.Client, Restaurant: record.Restaurant, MenuVersion: record.MenuVersion,
	}
	if again.Operation != upstream.OpComplete {
		var err error
		if spec.Body, err = o.deps.Journal.Body(ctx, record.Connection, record.Ref, again.Call); err != nil {
			return Result{}, err
		}
	}
	return o.call(ctx, plannedCall{spec: spec, again: &again, share: again.By, arrived: arrived})
}

func (r *ResolveRequest) check() error {
	var violations []violation.Violation
	refuse := func(path string, code violation.Code, params violation.Params) {
		violations = append(violations, violation.New(path, code, params, violation.English))
	}
	oneOf := func(path, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			refuse(path, violation.ValueNotAllowed, violation.Params{"allowed": allowed})
		}
	}
	oneOf("/operation", string(r.Operation),
		string(upstream.OpCreate), string(upstream.OpPay), string(upstream.OpComplete), string(upstream.OpReject))
	oneOf("/outcome", string(r.Resolution), string(ResolvedDone), string(ResolvedNotDone), string(ResolvedRetry))
	switch {
	case r.Operation != upstream.OpCreate || r.Resolution != ResolvedDone:
	case r.OrderID == "":
		refuse("/orderID", violation.FieldRequired, violation.Params{"field": "orderID"})
	case !upstream.InPath(r.OrderID): // no change of the order could ever be sent
		allowed := []string{"an orderID that is valid in a URL path"}
		refuse("/orderID", violation.ValueNotAllowed, violation.Params{"allowed": allowed})
	}
	if violations != nil {
		return &InvalidError{Violations: violations}
	}
	return nil
}
