package ordering

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/jsontext"
	"larder/internal/sleep"
	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering/validate"
)

// Limits of retries of Finish while the client waits.
const (
	finishLimit = 3 * time.Second
	finishPause = 20 * time.Millisecond // doubles with each retry
)

// request is a request of Place, Change or Resolve. Exactly one of place, change and retry is set.
type request struct {
	operation          Operation
	connection, client string
	key                string // the client's; may be empty
	of                 string // the orderID, or the restaurant of a new order
	body               []byte // in canonical form, for the fingerprint
	capacityKey        string // the share of the connection's capacity that the call uses (policy O8a)
	arrived            time.Time

	place  *PlaceRequest
	change *ChangeRequest
	retry  *retryRequest

	// payments or rejection is the body of a change; a completion has neither.
	payments  *validate.Payments
	rejection *validate.Rejection
}

// execution is the state of one request in execute.
type execution struct {
	request

	source  string // of the connection
	service Service
	spec    CallSpec  // passed to Journal.Begin
	toSend  []byte    // the body for the service
	end     time.Time // nothing is sent later
	record  Record    // set by begin
	number  int       // of the call in the record
	result  CallResult
	wait    time.Duration // the service's Retry-After
	recheck recheck
}

// execute runs the steps of a call: look up the key, validate, reserve capacity, begin in the
// journal, send, finish in the journal. An error means that no call was begun and nothing was
// sent, except an *InvalidError with a Ref. A repeated request returns the result of the first one.
//
// Once the call was begun, execute ignores the end of ctx. The call has its own time limit (policy
// O8), because a client that disconnects must not leave an order half placed.
func (o *Orders) execute(ctx context.Context, r request) (Result, error) {
	e := &execution{request: r, source: o.deps.Sources.Current(r.connection)}
	if result, found, err := o.lookUp(ctx, e); found || err != nil {
		return result, err
	}
	if err := o.validateRequest(ctx, e); err != nil {
		return Result{}, err
	}
	if err := o.deps.Journal.Ready(ctx, e.connection); err != nil {
		return Result{}, err
	}
	o.inFlight.Add(1)
	defer o.inFlight.Add(-1)
	slot, err := reserve(ctx, e)
	if err != nil {
		return Result{}, err
	}
	defer slot.Release()
	if result, found, err := o.begin(ctx, e); found || err != nil {
		return result, err
	}
	o.send(ctx, e, slot)
	o.prepareRecheck(ctx, e)
	result := o.finish(ctx, e)
	slot.Release()
	if err := o.recheckRefused(ctx, e, result.Call); err != nil {
		return Result{}, err
	}
	if result.Call.Outcome == OutcomeNotSent {
		result.RetryAfter = e.wait
	}
	return result, nil
}

// lookUp returns the result of the first request with the same key, whatever the current menu
// contains (policy O7). For a retry, it checks that the outcome of the call is unknown.
func (o *Orders) lookUp(ctx context.Context, e *execution) (result Result, found bool, err error) {
	if e.retry != nil {
		if call, ok := e.retry.record.Last(e.operation); !ok || call.Outcome != OutcomeUnknown {
			err = &StateError{Record: e.retry.record, Operation: e.operation}
		} else if e.retry.record.Foreign {
			err = &SourceError{Record: e.retry.record}
		}
		return Result{}, false, err
	}
	record, call, err := o.deps.Journal.Lookup(ctx, e.connection, e.hash)
	if errors.Is(err, ErrKeyFree) {
		return Result{}, false, nil
	}
	if err != nil {
		return Result{}, false, err
	}
	result, err = replayed(record, call, e.spec.Fingerprint)
	return result, true, err
}

// hash sets the key and the fingerprint of the call and returns the key. Both are keyed hashes and
// contain neither the client's key nor the body (policy O7). A change without a key gets one
// derived from its content (policy O9); a new order without a key has none.
func (e *execution) hash(secret []byte) string {
	e.spec.Fingerprint = hashed(secret, string(e.operation), e.of, jsontext.String(e.body))
	switch {
	case e.key != "":
		e.spec.Key = hashedKey(secret, e.client, e.connection, e.key)
	case e.operation != upstream.OpCreate:
		parts := []string{"derived", e.client, e.connection, e.spec.Fingerprint}
		if e.source != "" { // another service's order may have the same orderID (policy O16)
			parts = append(parts, e.source)
		}
		e.spec.Key, e.spec.Derived = hashed(secret, parts...), true
	}
	return e.spec.Key
}

// hashedKey returns the hash of a client's key. It differs between clients and between connections.
func hashedKey(secret []byte, client, connection, key string) string {
	return hashed(secret, "key", client, connection, key)
}

// hashed returns the keyed hash of texts. The length of each text is hashed too, so that moving a boundary changes the hash.
func hashed(secret []byte, parts ...string) string {
	h := hmac.New(sha256.New, secret)
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // never fails (hash.Hash)
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// replayed returns the result of the call that has the key. It returns *KeyReusedError for a
// different request, and *InFlightError while the call is in progress.
func replayed(record Record, number int, fingerprint string) (Result, error) {
	call, ok := record.Call(number)
	switch {
	case !ok:
		return Result{}, &JournalError{Err: errors.New("the record does not contain the call of the key")}
	case call.Fingerprint != fingerprint:
		return Result{}, &KeyReusedError{Ref: record.Ref}
	case call.Outcome == OutcomeOpen, call.Recheck == RecheckRunning:
		return Result{}, &InFlightError{Ref: record.Ref}
	default:
		return Result{Record: record, Call: call, Replayed: true}, nil
	}
}

// validateRequest validates the request and fills in the parts of the call that depend on its kind.
func (o *Orders) validateRequest(ctx context.Context, e *execution) error {
	var known bool
	if e.service, known = o.deps.Services[e.connection]; !known {
		return fmt.Errorf("%w %q", errUnknownConnection, e.connection)
	}
	switch {
	case e.place != nil:
		return o.validateOrder(ctx, e)
	case e.change != nil:
		return o.validateChange(ctx, &e.request, &e.spec)
	default:
		return o.validateRetry(ctx, e.retry, &e.spec)
	}
}

// deadline returns how long a call may be open before its outcome counts as unknown (policy O12).
func (o *Orders) deadline() time.Duration { return o.cfg.PlaceTimeout + o.cfg.InFlightGrace }

// reserve waits for the capacity that a call needs (policy O8a). Without capacity it returns
// *NotSentError: the call leaves no trace in the journal and its key stays free.
func reserve(ctx context.Context, e *execution) (*upstream.Slot, error) {
	ctx, span := tracing.Start(ctx, "order.wait")
	defer span.End()
	err := ctx.Err()
	if err == nil {
		var slot *upstream.Slot
		if slot, err = e.service.Reserve(ctx, e.operation, e.capacityKey, e.arrived); err == nil {
			return slot, nil
		}
		span.Fail("no_capacity")
	}
	notSent := &NotSentError{Err: err}
	if e.retry != nil {
		notSent.Ref = e.retry.record.Ref
	}
	return nil, notSent
}

// begin records the call as open in the journal. Nothing is sent unless the journal has it (policy
// O12). If another request has taken the key since lookUp, begin returns the result of that one.
func (o *Orders) begin(ctx context.Context, e *execution) (result Result, found bool, err error) {
	// The journal computes its own, later deadline after this one. A process that was suspended in between must not
	// send a call that has been swept, and perhaps resolved and sent again, in the meantime (policy O12).
	e.end = time.Now().Add(o.cfg.PlaceTimeout)
	spanned, span := tracing.Start(ctx, "journal.begin")
	defer span.End()
	if e.retry != nil {
		e.toSend = e.retry.body
		e.record, err = o.deps.Journal.Resolve(spanned, e.retry.call)
	} else {
		e.toSend = e.spec.Body
		e.spec.ID, e.spec.Ref = o.deps.NewRef(), o.deps.NewRef()
		e.spec.Operation, e.spec.Connection, e.spec.Client = e.operation, e.connection, e.client
		e.spec.Deadline = o.deadline()
		e.record, err = o.deps.Journal.Begin(spanned, e.spec)
	}
	if err != nil {
		span.Fail("not_begun")
		if taken, ok := errors.AsType[*KeyTakenError](err); ok && e.retry == nil {
			result, err = replayed(taken.Record, taken.Call, e.spec.Fingerprint)
			return result, true, err
		}
		return Result{}, false, o.abortUnbegun(ctx, e.spec, err)
	}
	e.number = e.record.Calls[len(e.record.Calls)-1].Number
	return Result{}, false, nil
}

// send sends the call to the ordering service, unless e.end has passed.
func (o *Orders) send(ctx context.Context, e *execution, slot *upstream.Slot) {
	call, _ := e.record.Call(e.number)
	e.result = CallResult{Connection: e.record.Connection, Ref: e.record.Ref, Call: e.number, Known: &e.record}
	ctx, span := tracing.Start(ctx, "order.", string(call.Operation))
	defer func() { traceCall(span, &e.record, &e.result) }()
	if !time.Now().Before(e.end) {
		e.result.Outcome = OutcomeNotSent
		o.logCall(ctx, e, fmt.Errorf("opening the call in the journal took too long: %w", context.DeadlineExceeded))
		return
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(upstream.WithCall(ctx, slot, func(try upstream.Attempt) {
		e.result.Attempts = append(e.result.Attempts, storedAttempt(try))
	})), slot.EarlierEnd(e.end))
	defer cancel()
	var err error
	switch call.Operation {
	case upstream.OpCreate:
		var created upstream.Created
		created, err = e.service.CreateOrder(ctx, e.toSend)
		e.result.OrderID = created.OrderID
		e.result.Answer = storedAnswer(created.Answer)
		if err == nil && created.OrderID == "" {
			err = errors.New("the answer has no orderID")
		}
	case upstream.OpPay:
		e.result.Answer, err = withAnswer(e.service.Pay(ctx, e.record.OrderID, e.toSend))
	case upstream.OpComplete:
		e.result.Answer, err = withAnswer(e.service.Complete(ctx, e.record.OrderID))
	default:
		e.result.Answer, err = withAnswer(e.service.Reject(ctx, e.record.OrderID, e.toSend))
	}
	e.result.Outcome = OutcomeDone
	if err != nil {
		e.wait = classify(&e.result, err)
		o.logCall(ctx, e, err)
		if repeated, ok := errors.AsType[*upstream.IDRepeatedError](err); ok {
			o.reportRepeated(ctx, &e.record, e.number, repeated.OrderID)
		}
	}
}

// finish records the outcome of the call and returns the call as the journal has it. If the journal fails,
// the result is recorded later; the client gets it nevertheless, because it is known (policy O12).
func (o *Orders) finish(ctx context.Context, e *execution) Result {
	ctx, span := tracing.Start(ctx, "journal.finish")
	defer span.End()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit+o.cfg.WaitTimeout)
	defer cancel()
	known := e.record.withResult(e.result, o.deps.Clock())
	if call, ok := known.Call(e.number); ok {
		e.result.SpecID = call.SpecID
	}
	ended := pendingWrite{result: &e.result, record: known, body: e.toSend}
	for pause := finishPause; ; pause *= 2 {
		got, number, err := o.finishCall(ctx, &ended)
		switch contradiction, ok := errors.AsType[*ContradictionError](err); {
		case err == nil:
			return resultOf(got, known, number)
		case ok:
			o.reportConflict(contradiction, e.result.OrderID)
			return resultOf(contradiction.Record, known, e.number)
		case errors.Is(err, ErrUnreplicated): // policy O14
			ended.written = true
			o.pending.add(o, ended)
			return resultOf(got, known, number)
		case errors.Is(err, ErrNoOrder):
			o.reportLost(new(known), e.number, err)
			return resultOf(known, known, e.number)
		}
		if sleep.For(ctx, pause) != nil {
			span.Fail("late")
			o.pending.add(o, ended)
			return resultOf(known, known, e.number)
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
		o.emit(notice{
			name:    "order.recreated",
			level:   logrus.WarnLevel,
			record:  new(got),
			call:    number,
			outcome: outcome,
			msg:     "the journal had lost a call; it was written again",
		})
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
	out := Attempt{At: t.At, Duration: t.Duration, Status: t.Status, Code: t.Code, Outcome: OutcomeDone}
	if t.Effect != upstream.EffectDone {
		out.Outcome = outcomeOf(t.Effect, t.Refused)
	}
	return out
}
