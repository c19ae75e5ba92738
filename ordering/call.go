package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"larder.local/internal/sleep"
	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
)

// Limits of retries of Finish while the client waits.
const (
	finishLimit = 3 * time.Second
	finishPause = 20 * time.Millisecond // doubles with each retry
)

// plannedCall is a valid call whose key is free.
type plannedCall struct {
	spec    CallSpec
	again   *ResolveCall  // the call is sent again: instead of Journal.Begin, this resolves the old call and opens the new one
	share   string        // the share of the connection's capacity that the call uses (policy O8a)
	arrived time.Time     // when its request arrived
	order   *checkedOrder // a new order; nil if the call changes an order or is sent again
}

// begunCall is a call that the journal has as open: the last one of the record.
type begunCall struct {
	record Record
	end    time.Time // nothing is sent later
}

func (b begunCall) call() Call { return b.record.Calls[len(b.record.Calls)-1] }

// call makes a call, once: it reserves capacity, begins in the journal, sends, and finishes in the journal. An error means
// that no call was begun and nothing was sent, except an *InvalidError with a Ref. If another request has taken the key
// meanwhile, call returns the result of that one.
//
// Once the call was begun, the end of ctx has no effect. The call has its own time limit (policy O8), because a client that
// disconnects must not leave an order half placed.
func (o *Orders) call(ctx context.Context, c plannedCall) (Result, error) {
	service, err := o.deps.service(c.spec.Connection)
	if err != nil {
		return Result{}, err
	}
	if err := o.deps.Journal.Ready(ctx, c.spec.Connection); err != nil {
		return Result{}, err
	}
	o.inFlight.Add(1)
	defer o.inFlight.Add(-1)
	slot, err := reserve(ctx, service, c)
	if err != nil {
		return Result{}, err
	}
	defer slot.Release()
	if c.again == nil {
		c.spec.ID, c.spec.Ref, c.spec.Deadline = o.deps.NewRef(), o.deps.NewRef(), o.cfg.deadline()
	}
	begun, err := o.begin(ctx, c)
	if taken, ok := errors.AsType[*KeyTakenError](err); ok && c.again == nil {
		return replayed(taken.Record, taken.Call, c.spec.Fingerprint)
	}
	if err != nil {
		return Result{}, o.abortUnbegun(ctx, c.spec, err)
	}
	ctx = context.WithoutCancel(ctx) // from here on each wait has its own limit
	sent, wait := o.send(ctx, service, slot, begun, c.spec.Body)
	check := o.recheckOf(ctx, c, begun, sent)
	sent.Recheck = check.wanted && c.spec.Key != ""
	result := o.finish(ctx, begun, sent, c.spec.Body)
	slot.Release()
	if err := o.recheckRefused(ctx, c, begun, check, result.Call); err != nil {
		return Result{}, err
	}
	if result.Call.Outcome == OutcomeNotSent {
		result.RetryAfter = wait
	}
	return result, nil
}

// service returns the ordering service of a connection.
func (d *Deps) service(connection string) (Service, error) {
	if service, known := d.Services[connection]; known {
		return service, nil
	}
	return nil, fmt.Errorf("%w %q", errUnknownConnection, connection)
}

// deadline returns how long a call may be open before its outcome counts as unknown (policy O12).
func (c *Config) deadline() time.Duration { return c.PlaceTimeout + c.InFlightGrace }

// reserve waits for the capacity that a call needs (policy O8a). Without capacity it returns
// *NotSentError: the call leaves no trace in the journal and its key stays free.
func reserve(ctx context.Context, service Service, c plannedCall) (*upstream.Slot, error) {
	ctx, span := tracing.Start(ctx, "order.wait")
	defer span.End()
	err := ctx.Err()
	if err == nil {
		var slot *upstream.Slot
		if slot, err = service.Reserve(ctx, c.spec.Operation, c.share, c.arrived); err == nil {
			return slot, nil
		}
		span.Fail("no_capacity")
	}
	notSent := &NotSentError{Err: err}
	if c.again != nil {
		notSent.Ref = c.again.Ref
	}
	return nil, notSent
}

// begin records the call as open in the journal. Nothing is sent unless the journal has it (policy O12).
func (o *Orders) begin(ctx context.Context, c plannedCall) (begunCall, error) {
	// The journal computes its own, later deadline after this one. A process that was suspended in between must not
	// send a call that has been swept, and perhaps resolved and sent again, in the meantime (policy O12).
	end := time.Now().Add(o.cfg.PlaceTimeout)
	ctx, span := tracing.Start(ctx, "journal.begin")
	defer span.End()
	var record Record
	var err error
	if c.again != nil {
		record, err = o.deps.Journal.Resolve(ctx, *c.again)
	} else {
		record, err = o.deps.Journal.Begin(ctx, c.spec)
	}
	if err != nil {
		if !is[*KeyTakenError](err) { // a repeated order is no failure
			span.Fail("not_begun")
		}
		return begunCall{}, err
	}
	return begunCall{record, end}, nil
}

// send sends the call to the ordering service, unless its end has passed. wait is the service's Retry-After.
func (o *Orders) send(
	ctx context.Context, service Service, slot *upstream.Slot, b begunCall, body []byte,
) (result CallResult, wait time.Duration) {
	call := b.call()
	result = CallResult{Connection: b.record.Connection, Ref: b.record.Ref, Call: call.Number, Known: &b.record, Outcome: OutcomeDone}
	ctx, span := tracing.Start(ctx, "order.", string(call.Operation))
	defer func() { traceCall(span, &b.record, &result) }()
	if !time.Now().Before(b.end) {
		result.Outcome = OutcomeNotSent
		o.logCall(ctx, b, result.Outcome, fmt.Errorf("opening the call in the journal took too long: %w", context.DeadlineExceeded))
		return result, 0
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), b.end)
	defer cancel()
	answer, err := service.Write(ctx, upstream.WriteRequest{
		Operation: call.Operation, OrderID: b.record.OrderID, Body: body, Slot: slot,
		Report: func(try upstream.Attempt) { result.Attempts = append(result.Attempts, storedAttempt(try)) },
	})
	result.OrderID, result.Answer = answer.OrderID, storedAnswer(answer)
	if err == nil && call.Operation == upstream.OpCreate && answer.OrderID == "" {
		err = errors.New("the answer has no orderID")
	}
	if err != nil {
		wait = classify(&result, err)
		if result.Outcome == OutcomeRefused && b.record.ChangedAgain(call) {
			result.doubt()
		}
		o.logCall(ctx, b, result.Outcome, err)
		if repeated, ok := errors.AsType[*upstream.IDRepeatedError](err); ok {
			o.reportRepeated(ctx, &b.record, call.Number, repeated.OrderID)
		}
	}
	return result, wait
}

// finish records the outcome of the call and returns the call as the journal has it. If the journal fails,
// the result is recorded later; the client gets it nevertheless, because it is known (policy O12).
func (o *Orders) finish(ctx context.Context, b begunCall, sent CallResult, body []byte) Result {
	ctx, span := tracing.Start(ctx, "journal.finish")
	defer span.End()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit+o.cfg.WaitTimeout)
	defer cancel()
	known, begun := b.record.withResult(sent, o.deps.Clock()), b.call()
	sent.SpecID = begun.SpecID
	ended := pendingWrite{result: &sent, record: known, body: body}
	for pause := finishPause; ; pause *= 2 {
		got, number, err := o.finishCall(ctx, &ended)
		switch contradiction, ok := errors.AsType[*ContradictionError](err); {
		case err == nil:
			return resultOf(got, known, number)
		case ok:
			o.reportConflict(contradiction, sent.OrderID)
			return resultOf(contradiction.Record, known, begun.Number)
		case errors.Is(err, ErrUnreplicated): // policy O14
			ended.written = true
			o.pending.add(o, ended)
			return resultOf(got, known, number)
		case errors.Is(err, ErrNoOrder):
			o.reportLost(new(known), begun.Number, err)
			return resultOf(known, known, begun.Number)
		}
		if sleep.For(ctx, pause) != nil {
			span.Fail("late")
			o.pending.add(o, ended)
			return resultOf(known, known, begun.Number)
		}
	}
}

// finishCall records the outcome of a call and returns the call's number. If the journal has lost
// the call, finishCall writes it again (policies O14 and O14a).
func (o *Orders) finishCall(ctx context.Context, w *pendingWrite) (Record, int, error) {
	outcome := w.result.Outcome
	got, err := o.finishResult(ctx, w, w.result.Call)
	if !errors.Is(err, ErrNoOrder) {
		return got, w.result.Call, err
	}
	got, number, err := o.deps.Journal.Recreate(ctx, w.record, w.result.Call, w.body)
	if err != nil && !errors.Is(err, ErrUnreplicated) {
		return got, number, err
	}
	if call, _ := got.Call(number); call.Outcome != outcome { // the call was restored in the meantime, or has a repeated orderID
		got, err = o.finishResult(ctx, w, number)
	} else {
		o.emit(callRecreated, new(got), number, outcome, nil)
	}
	for _, call := range got.Calls {
		if call.Contradicted != "" && call.Number != number { // found while the call was written again
			o.reportConflict(&ContradictionError{Record: got, Call: call.Number, Outcome: call.Contradicted}, w.record.OrderID)
		}
	}
	return got, number, err
}

// resultOf returns the result for a call of the record, or for the known one if the record has dropped it. If
// the call was sent again, its replacement determines the result and may be in progress.
func resultOf(record, known Record, number int) Result {
	call, ok := record.Call(number)
	if !ok {
		call, _ = known.Call(number)
	}
	if call.Resolved != nil && call.Resolved.Resolution == ResolvedRetry {
		call, _ = record.Last(call.Operation)
		if call.Outcome == OutcomeOpen {
			call.Outcome = OutcomeUnknown
		}
	}
	return Result{Record: record, Call: call}
}

// storedAnswer converts a success for the journal; nil without an answer.
func storedAnswer(a upstream.Answer) *Answer {
	if a.Status == 0 {
		return nil
	}
	return &Answer{Status: a.Status, ContentType: a.ContentType, Body: a.Body, Cut: a.Cut}
}

// storedAttempt converts an attempt for the journal.
func storedAttempt(t upstream.Attempt) Attempt {
	return Attempt{At: t.At, Duration: t.Duration, Status: t.Status, Code: t.Code, Outcome: outcomeOf(t.Effect)}
}
