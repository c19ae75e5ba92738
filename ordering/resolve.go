package ordering

import (
	"context"
	"errors"
	"time"

	"larder/internal/upstream"
	"larder/ordering/violation"
)

// Resolve takes an operator's resolution of an operation whose outcome is unknown
// (policy O12). With ResolvedRetry the call is made again, with the same
// body and key, and the Result's Call is the new one; else it is the one that
// was resolved.
//
// Errors when nothing was changed: ErrNoOrder; *InvalidError with pointers into
// the operator's body; *StateError when the operation is not unknown;
// *OrderIDTakenError; *BusyError (see Journal.Resolve); ErrNoBody,
// *NotReadyError, *RestoredError, *NotSentError and ErrUnknownConnection when it
// cannot be sent again; *JournalError.
func (o *Orders) Resolve(ctx context.Context, r ResolveRequest) (Result, error) {
	arrived := time.Now()
	if err := r.check(); err != nil {
		return Result{}, err
	}
	record, err := o.deps.Journal.Record(ctx, r.Connections, r.Ref)
	if err != nil {
		return Result{}, err
	}
	call, _ := record.Last(r.Operation)
	resolve := ResolveCall{
		Connection: record.Connection, Ref: record.Ref, Operation: r.Operation, Call: call.Number, SpecID: call.SpecID,
		Resolution: r.Resolution, OrderID: r.OrderID, By: r.By, Note: r.Note,
	}
	if r.Resolution == ResolvedRetry {
		resolve.ID, resolve.RequestID, resolve.Deadline = o.deps.NewRef(), r.RequestID, o.deadline()
		return o.execute(ctx, &request{
			operation: r.Operation, connection: record.Connection, capacityKey: r.By, arrived: arrived,
			retry: &retryRequest{record: record, call: resolve},
		})
	}
	defer o.inFlight.enter()()
	record, err = o.deps.Journal.Resolve(ctx, resolve)
	if err != nil && !errors.Is(err, ErrUnreplicated) {
		return Result{}, err
	}
	call, _ = record.Last(r.Operation)
	if err != nil { // policy O14
		result := CallResult{
			Connection: record.Connection, Ref: record.Ref, Call: call.Number, SpecID: call.SpecID,
			Outcome: call.Outcome, OrderID: r.OrderID,
		}
		o.pending.add(o, pendingWrite{result: &result, record: record, resolution: &resolve, written: true})
	}
	return Result{Record: record, Call: call}, nil
}

// resolveAgain resolves a call that too few replicas have as resolved: a failover
// may have undone it (policy O14). It reports whether that is done; otherwise,
// and without an error, the call is resolved still, or its record is lost, and
// the result is written like any other.
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

// retryRequest is a call whose outcome is unknown, and which is to be made again.
type retryRequest struct {
	record Record
	call   ResolveCall // resolves the old call and opens the new one
	body   []byte      // what the old call sent, from validateRetry on
}

// validateRetry reads what the call sent, before anything is resolved. It fills in
// the call as Abort needs it.
func (o *Orders) validateRetry(ctx context.Context, r *retryRequest, spec *CallSpec) (err error) {
	record := &r.record
	*spec = CallSpec{
		ID: r.call.ID, Operation: r.call.Operation, Connection: record.Connection, Ref: record.Ref, OrderID: record.OrderID,
		Client: record.Client, Restaurant: record.Restaurant, MenuVersion: record.MenuVersion,
	}
	if r.call.Operation != upstream.OpComplete {
		r.body, err = o.deps.Journal.Body(ctx, record.Connection, record.Ref, r.call.Call)
	}
	return err
}

func (r *ResolveRequest) check() error {
	notes := &violation.List{}
	switch r.Operation {
	case upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject:
	default:
		notes.Add(0, "/operation", violation.ValueNotAllowed, violation.Params{"allowed": []string{
			string(upstream.OpCreate), string(upstream.OpPay), string(upstream.OpComplete), string(upstream.OpReject),
		}}, "")
	}
	switch r.Resolution {
	case ResolvedDone:
		switch {
		case r.Operation != upstream.OpCreate:
		case r.OrderID == "":
			notes.Add(2, "/orderID", violation.FieldRequired, violation.Params{"field": "orderID"}, "")
		case !upstream.InPath(r.OrderID): // no change of the order could ever be sent
			allowed := []string{"an orderID that can stand in a path"}
			notes.Add(2, "/orderID", violation.ValueNotAllowed, violation.Params{"allowed": allowed}, "")
		}
	case ResolvedNotDone, ResolvedRetry:
	default:
		notes.Add(1, "/outcome", violation.ValueNotAllowed, violation.Params{"allowed": []string{
			string(ResolvedDone), string(ResolvedNotDone), string(ResolvedRetry),
		}}, "")
	}
	if violations, _ := notes.Sorted(); violations != nil {
		return &InvalidError{Violations: violations}
	}
	return nil
}
