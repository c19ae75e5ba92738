package ordering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/sleep"
	"larder/internal/tracing"
	"larder/internal/upstream"
)

// Service is the ordering service as orders need it; *upstream.Client is one.
// Each method makes one call. An error is an *upstream.Error, whose Effect
// says what is known of the call; any other error says nothing of it.
type Service interface {
	// Reserve waits for the capacity that a call needs, on behalf of a client;
	// the call's time limit starts at arrived (policy O8a). An error is an
	// *upstream.Error, and nothing was sent.
	Reserve(ctx context.Context, op Operation, client string, arrived time.Time) (*upstream.Slot, error)
	// CreateOrder creates an order.
	CreateOrder(ctx context.Context, body []byte) (upstream.Created, error)
	// Pay pays an order; body is an array of payments.
	Pay(ctx context.Context, orderID string, body []byte) (upstream.Answer, error)
	// Complete closes a paid order.
	Complete(ctx context.Context, orderID string) (upstream.Answer, error)
	// Reject rejects an order; body names the reason.
	Reject(ctx context.Context, orderID string, body []byte) (upstream.Answer, error)
}

// The limits of writing down what became of a call, while its client waits.
const (
	finishLimit = 3 * time.Second
	finishPause = 20 * time.Millisecond // doubled from one try to the next
	abortLimit  = time.Second
)

// execute waits for capacity, opens a call, sends it, and finishes it. Nothing is
// sent unless the journal has the call (policy O12). The error means that nothing was
// begun: a call for which there is no capacity leaves no trace in the journal,
// and its key is free (policy O8a).
//
// When ctx ends while the call is under way, the call goes on to its own limit
// (policy O8): a client that hangs up must not leave an order half placed.
func (o *Orders) execute(ctx context.Context, service Service, from requester, spec CallSpec) (Result, error) {
	defer o.inFlight.enter()()
	slot, err := from.reserve(ctx, service, spec.Operation)
	if err != nil {
		return Result{}, &NotSentError{Err: err}
	}
	defer slot.Release()
	ctx = upstream.WithSlot(ctx, slot)
	end := o.callDeadline()
	record, err := o.beginCall(ctx, spec)
	if err != nil {
		return Result{}, o.abortUnbegun(ctx, spec, err)
	}
	number := record.Calls[len(record.Calls)-1].Number
	return o.sendAndFinish(ctx, end, service, record, number, spec.Body), nil
}

// requester is who a call waits for capacity for, and since when.
type requester struct {
	name    string
	arrived time.Time
}

// reserve waits for the capacity that a call needs (policy O8a).
func (r requester) reserve(ctx context.Context, service Service, op Operation) (*upstream.Slot, error) {
	ctx, span := tracing.Start(ctx, "order.wait")
	defer span.End()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slot, err := service.Reserve(ctx, op, r.name, r.arrived)
	if err != nil {
		span.Fail("no_capacity")
	}
	return slot, err
}

// beginCall has the journal begin a call.
func (o *Orders) beginCall(ctx context.Context, spec CallSpec) (Record, error) {
	ctx, span := tracing.Start(ctx, "journal.begin")
	defer span.End()
	record, err := o.deps.Journal.Begin(ctx, spec)
	if err != nil {
		span.Fail("not_begun")
	}
	return record, err
}

// abortUnbegun sees to a call that the journal may have opened although it said
// otherwise: it must not stay open, for nothing is sent.
func (o *Orders) abortUnbegun(ctx context.Context, spec CallSpec, err error) error {
	var (
		taken *KeyTakenError
		busy  *BusyError
		state *StateError
		ready *NotReadyError
		lost  *RestoredError
	)
	if errors.As(err, &taken) || errors.As(err, &busy) || errors.As(err, &state) ||
		errors.As(err, &ready) || errors.As(err, &lost) || errors.Is(err, ErrNoOrder) || errors.Is(err, ErrNoBody) {
		return err
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortLimit)
	defer cancel()
	if o.deps.Journal.Abort(limited, spec) != nil {
		spec.Body = nil // is sent nowhere
		o.pending.add(o, pendingWrite{spec: &spec})
	}
	return err
}

// callDeadline returns until when a call that the journal is about to open may
// be made. It is computed before the journal computes its own deadline, which is
// later: a process that was stopped in between must not send what has been
// swept, and perhaps resolved and sent again, meanwhile (policy O12).
func (o *Orders) callDeadline() time.Time { return time.Now().Add(o.cfg.PlaceTimeout) }

// sendAndFinish makes a call that is open, and ends it.
func (o *Orders) sendAndFinish(ctx context.Context, end time.Time, service Service, record Record, number int, body []byte) Result {
	e, wait := o.send(ctx, end, service, &record, number, body)
	result := o.finish(ctx, record, e, body)
	if result.Call.Outcome == OutcomeNotSent {
		result.RetryAfter = wait
	}
	return result
}

// send makes a call that is open. It returns how the call ended, and how long
// the service asks to wait. After the end nothing is sent.
func (o *Orders) send(
	ctx context.Context, end time.Time, service Service, record *Record, number int, body []byte,
) (e CallResult, wait time.Duration) {
	call, _ := record.Call(number)
	ctx, span := tracing.Start(ctx, "order."+string(call.Operation))
	defer func() { traceCall(span, record, &e) }()
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), end)
	defer cancel()
	e = CallResult{Connection: record.Connection, Ref: record.Ref, Call: number}
	if err := ctx.Err(); err != nil {
		e.Outcome = OutcomeNotSent
		o.logCall(ctx, record, call, &e, fmt.Errorf("it took too long to open the call: %w", err))
		return e, 0
	}
	ctx = upstream.WithAttempts(ctx, func(try upstream.Attempt) { e.Attempts = append(e.Attempts, storedAttempt(try)) })
	var err error
	switch call.Operation {
	case upstream.OpCreate:
		var created upstream.Created
		created, err = service.CreateOrder(ctx, body)
		e.OrderID = created.OrderID
		e.Answer = storedAnswer(created.Answer)
		if err == nil && created.OrderID == "" {
			err = errors.New("the answer has no orderID")
		}
	case upstream.OpPay:
		e.Answer, err = withAnswer(service.Pay(ctx, record.OrderID, body))
	case upstream.OpComplete:
		e.Answer, err = withAnswer(service.Complete(ctx, record.OrderID))
	default:
		e.Answer, err = withAnswer(service.Reject(ctx, record.OrderID, body))
	}
	e.Outcome = OutcomeDone
	if err != nil {
		wait = classify(&e, err)
		o.logCall(ctx, record, call, &e, err)
	}
	return e, wait
}

// traceCall ends the span of a call with what became of it.
func traceCall(span tracing.Span, record *Record, e *CallResult) {
	span.Text("larder.connection", record.Connection)
	span.Text("larder.restaurant", string(record.Restaurant))
	span.Text("larder.ref", record.Ref)
	span.Text("larder.outcome", string(e.Outcome))
	span.Number("larder.tries", len(e.Attempts))
	if e.Outcome != OutcomeDone {
		span.Fail(string(e.Outcome))
	}
	span.End()
}

func withAnswer(answer upstream.Answer, err error) (*Answer, error) { return storedAnswer(answer), err }

// storedAnswer is a success as the journal keeps it; nil for no answer.
func storedAnswer(a upstream.Answer) *Answer {
	if a.Status == 0 {
		return nil
	}
	return &Answer{Status: a.Status, ContentType: a.ContentType, Body: a.Body, Cut: a.Cut}
}

// storedAttempt is a try as the journal keeps it.
func storedAttempt(t upstream.Attempt) Attempt {
	out := Attempt{At: t.At, Duration: t.Duration, Status: t.Status, Code: t.Code, Outcome: OutcomeDone}
	if t.Effect != upstream.EffectDone {
		out.Outcome = outcomeOf(t.Effect, t.Refused)
	}
	return out
}

// classify sets the outcome of a call that gave no good answer (policy O8). What
// is not certain is unknown. It returns how long the service asks to wait.
func classify(e *CallResult, err error) (wait time.Duration) {
	e.Outcome = OutcomeUnknown
	answer, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return 0
	}
	e.Outcome = outcomeOf(answer.Effect, answer.Refused())
	if answer.Status != 0 {
		e.Answer = &Answer{
			Status: answer.Status, ContentType: answer.ContentType,
			Code: answer.Code, Msg: answer.Msg, RequestID: answer.RequestID,
			RetryAfter: answer.RetryAfter, Body: answer.Body, Cut: answer.Cut,
		}
	}
	return answer.RetryAfter
}

// outcomeOf returns the outcome of a call, or of a try, that was no success.
func outcomeOf(effect upstream.Effect, refused bool) Outcome {
	switch {
	case effect != upstream.EffectNone:
		return OutcomeUnknown
	case refused:
		return OutcomeRefused
	default:
		return OutcomeNotSent
	}
}

// logCall logs why a call gave no certain answer; the answer given to the
// client does not say it.
func (o *Orders) logCall(ctx context.Context, record *Record, call Call, e *CallResult, err error) {
	if e.Outcome == OutcomeRefused {
		return
	}
	cause := err
	entry := o.log.WithFields(fields("order.call_failed", record, call.Operation, e.Outcome)).WithFields(tracing.LogFields(ctx))
	if answer, ok := errors.AsType[*upstream.Error](err); ok {
		cause = answer.Err
		entry = entry.WithFields(logrus.Fields{"status": answer.Status, "code": answer.Code})
	}
	if cause != nil {
		entry = entry.WithError(cause)
	}
	entry.Warn("a call of the ordering service gave no certain answer")
}

// finish records how a call ended and returns the call as the journal has it.
// What the journal does not take is written later; it is answered all the same,
// for it is known (policy O12).
func (o *Orders) finish(ctx context.Context, record Record, e CallResult, body []byte) Result {
	ctx, span := tracing.Start(ctx, "journal.finish")
	defer span.End()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit+o.cfg.WaitTimeout)
	defer cancel()
	known := record.withResult(e, o.deps.Clock())
	if call, ok := known.Call(e.Call); ok {
		e.SpecID = call.SpecID
	}
	for pause := finishPause; ; pause *= 2 {
		got, number, err := o.finishCall(ctx, e, known, body)
		switch contradiction, ok := errors.AsType[*ContradictionError](err); {
		case err == nil:
			return resultOf(got, known, number)
		case ok:
			o.reportConflict(contradiction, e.OrderID)
			return resultOf(contradiction.Record, known, e.Call)
		case errors.Is(err, ErrUnreplicated): // policy O14
			o.pending.add(o, pendingWrite{result: &e, record: known, body: body, written: true})
			return resultOf(got, known, number)
		case errors.Is(err, ErrNoOrder):
			o.reportLost(&known, e.Call, err)
			return resultOf(known, known, e.Call)
		}
		if sleep.For(ctx, pause) != nil {
			span.Fail("late")
			o.pending.add(o, pendingWrite{result: &e, record: known, body: body})
			return resultOf(known, known, e.Call)
		}
	}
}

// finishCall finishes a call. Where the journal has lost the call, it is written
// again as it is known (policies O14 and O14a). It returns the call's number.
func (o *Orders) finishCall(ctx context.Context, e CallResult, known Record, body []byte) (Record, int, error) {
	got, err := o.deps.Journal.Finish(ctx, e)
	if !errors.Is(err, ErrNoOrder) {
		return got, e.Call, err
	}
	got, number, err := o.deps.Journal.Recreate(ctx, known, e.Call, body)
	if err != nil && !errors.Is(err, ErrUnreplicated) {
		return got, number, err
	}
	if call, _ := got.Call(number); call.Outcome != e.Outcome { // it has come back meanwhile
		e.Call = number
		got, err = o.deps.Journal.Finish(ctx, e)
	} else {
		o.emit(eventRecreated, logrus.WarnLevel, &got, e.Outcome, number, nil,
			"the journal had lost a call: it is written again")
	}
	return got, number, err
}

// resultOf returns a call of the record, or what is known of it when the record
// has dropped it. A call that a person had sent again meanwhile says nothing of
// the order any more: the one that took its place does, and may be under way.
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

// withResult returns the record as it will be when the journal has the result.
func (r *Record) withResult(e CallResult, at time.Time) Record {
	out := *r
	at = at.UTC().Truncate(time.Millisecond)
	out.UpdatedAt = at
	out.Calls = slices.Clone(r.Calls)
	for i := range out.Calls {
		call := &out.Calls[i]
		if call.Number != e.Call {
			continue
		}
		call.Outcome, call.Answer, call.EndedAt = e.Outcome, e.Answer, at
		call.Attempts = slices.Concat(call.Attempts, e.Attempts)
		out.setState(call.Operation, e)
	}
	return out
}

// setState moves the order's state as the outcome of an operation does (policy O9).
func (r *Record) setState(op Operation, e CallResult) {
	switch {
	case op == upstream.OpCreate:
		switch e.Outcome {
		case OutcomeDone:
			r.State, r.OrderID = StatePlaced, e.OrderID
		case OutcomeRefused:
			r.State = StateRefused
		case OutcomeNotSent:
			r.State = StateNotSent
		default:
			r.State = StateUnknown
		}
	case e.Outcome != OutcomeDone:
	case op == upstream.OpPay:
		r.Paid = true
	case op == upstream.OpComplete:
		r.State = StateClosed
	default:
		r.State = StateRejected
	}
}
