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

	"larder/internal/sleep"
	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering/validate"
)

// The limits of writing down what became of a call, while its client waits.
const (
	finishLimit = 3 * time.Second
	finishPause = 20 * time.Millisecond // doubled from one try to the next
	abortLimit  = time.Second
)

// request is what Place, Change or Resolve asks execute for. One of place, change
// and retry is set.
type request struct {
	operation          Operation
	connection, client string
	key                string // the client's, "" for none
	of                 string // the order's orderID, or the restaurant that a new one is for
	body               []byte // its canonical form, for the fingerprint
	capacityKey        string // whose share of the connection's capacity the call takes (policy O8a)
	arrived            time.Time

	place  *PlaceRequest
	change *ChangeRequest
	retry  *retryRequest

	// The body of a change, one of them or none.
	payments  *validate.Payments
	rejection *validate.Rejection
}

// execution is a request on its way through the steps of execute.
type execution struct {
	*request

	service Service
	spec    CallSpec  // the call that the journal is to begin
	toSend  []byte    // the body for the service
	end     time.Time // after it nothing is sent
	record  Record    // from begin on
	number  int       // the call's in the record
	result  CallResult
	wait    time.Duration // how long the service asks to wait
}

// execute takes a request through the steps of a call: it looks the request up,
// validates it, begins the call in the journal, sends it, and finishes it. An error
// means that nothing was begun and nothing was sent. A request that was made
// before returns what became of it.
//
// When ctx ends while the call is under way, the call goes on to its own limit
// (policy O8): a client that hangs up must not leave an order half placed.
func (o *Orders) execute(ctx context.Context, r *request) (Result, error) {
	e := &execution{request: r}
	if result, found, err := o.lookUp(ctx, e); found || err != nil {
		return result, err
	}
	if err := o.validateRequest(ctx, e); err != nil {
		return Result{}, err
	}
	defer o.inFlight.enter()()
	slot, err := reserve(ctx, e)
	if err != nil {
		notSent := &NotSentError{Err: err}
		if e.retry != nil {
			notSent.Ref = e.retry.record.Ref
		}
		return Result{}, notSent
	}
	defer slot.Release()
	ctx = upstream.WithSlot(ctx, slot)
	if err := o.begin(ctx, e); err != nil {
		if taken, ok := errors.AsType[*KeyTakenError](err); ok && e.retry == nil { // since lookUp
			return replayed(taken.Record, taken.Call, e.spec.Fingerprint)
		}
		return Result{}, err
	}
	o.send(ctx, e)
	result := o.finish(ctx, e)
	if result.Call.Outcome == OutcomeNotSent {
		result.RetryAfter = e.wait
	}
	return result, nil
}

// lookUp finds out whether the request was made before: if so it returns what
// became of it, whatever the menu says by now (policy O7). A retry is for a call
// whose outcome is unknown.
func (o *Orders) lookUp(ctx context.Context, e *execution) (result Result, found bool, err error) {
	if e.retry != nil {
		if call, ok := e.retry.record.Last(e.operation); !ok || call.Outcome != OutcomeUnknown {
			err = &StateError{Record: e.retry.record, Operation: e.operation}
		}
		return Result{}, false, err
	}
	if err = o.hashRequest(ctx, e.request, &e.spec); err != nil || e.spec.Key == "" {
		return Result{}, false, err
	}
	record, call, err := o.deps.Journal.Lookup(ctx, e.connection, e.spec.Key)
	if errors.Is(err, ErrKeyFree) {
		return Result{}, false, nil
	}
	if err != nil {
		return Result{}, false, err
	}
	result, err = replayed(record, call, e.spec.Fingerprint)
	return result, true, err
}

// hashRequest sets the key and the fingerprint of the call to hashes of what is asked
// for: they contain neither the client's key nor the body (policy O7). A change
// without a key gets one made of what it is (policy O9); a new order without a key
// has none.
func (o *Orders) hashRequest(ctx context.Context, r *request, spec *CallSpec) error {
	secret, err := o.deps.Journal.Secret(ctx)
	if err != nil {
		return err
	}
	spec.Fingerprint = hashed(secret, string(r.operation), r.of, string(r.body))
	switch {
	case r.key != "":
		spec.Key = hashedKey(secret, r.client, r.connection, r.key)
	case r.operation != upstream.OpCreate:
		spec.Key, spec.Derived = hashed(secret, "derived", r.client, r.connection, spec.Fingerprint), true
	}
	return nil
}

// hashedKey is the hash of a client's key: nobody else's, and no other
// connection's, is the same.
func hashedKey(secret []byte, client, connection, key string) string {
	return hashed(secret, "key", client, connection, key)
}

// hashed returns the keyed hash of texts, each kept apart from the next.
func hashed(secret []byte, parts ...string) string {
	mac := hmac.New(sha256.New, secret)
	var length [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = mac.Write(length[:]) // never fails (hash.Hash)
		_, _ = mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// replayed returns the call that has the key to the request that asks for the
// same: another request is a *KeyReusedError, a call in flight *InFlightError.
func replayed(record Record, number int, fingerprint string) (Result, error) {
	call, ok := record.Call(number)
	switch {
	case !ok:
		return Result{}, &JournalError{Err: errors.New("the record lacks the call that has the key")}
	case call.Fingerprint != fingerprint:
		return Result{}, &KeyReusedError{Ref: record.Ref}
	case call.Outcome == OutcomeOpen:
		return Result{}, &InFlightError{Ref: record.Ref}
	default:
		return Result{Record: record, Call: call, Replayed: true}, nil
	}
}

// validateRequest checks the request, and that its connection takes calls. It fills in
// what is begun and sent.
func (o *Orders) validateRequest(ctx context.Context, e *execution) (err error) {
	var known bool
	if e.service, known = o.deps.Services[e.connection]; !known {
		return fmt.Errorf("%w %q", ErrUnknownConnection, e.connection)
	}
	switch {
	case e.place != nil:
		err = o.validateOrder(ctx, e.place, &e.spec)
	case e.change != nil:
		err = o.validateChange(ctx, e.request, &e.spec)
	default:
		err = o.validateRetry(ctx, e.retry, &e.spec)
	}
	if err != nil {
		return err
	}
	if err := o.deps.Journal.Ready(ctx, e.connection); err != nil {
		return err
	}
	e.toSend = e.spec.Body
	if e.retry != nil {
		e.toSend = e.retry.body
		return nil
	}
	e.spec.ID, e.spec.Ref = o.deps.NewRef(), o.deps.NewRef()
	e.spec.Operation, e.spec.Connection, e.spec.Client = e.operation, e.connection, e.client
	e.spec.Deadline = o.deadline()
	return nil
}

// deadline is how long a call may be open before it counts as unknown (policy
// O12).
func (o *Orders) deadline() time.Duration { return o.cfg.PlaceTimeout + o.cfg.InFlightGrace }

// reserve waits for the capacity that a call needs (policy O8a). A call for which
// there is none leaves no trace in the journal, and its key is free.
func reserve(ctx context.Context, e *execution) (*upstream.Slot, error) {
	ctx, span := tracing.Start(ctx, "order.wait")
	defer span.End()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slot, err := e.service.Reserve(ctx, e.operation, e.capacityKey, e.arrived)
	if err != nil {
		span.Fail("no_capacity")
	}
	return slot, err
}

// begin has the journal open the call. Nothing is sent unless the journal has it
// (policy O12).
func (o *Orders) begin(ctx context.Context, e *execution) (err error) {
	// The journal computes its own deadline afterwards, so it is later: a process
	// that was stopped in between must not send what has been swept, and perhaps
	// resolved and sent again, meanwhile (policy O12).
	e.end = time.Now().Add(o.cfg.PlaceTimeout)
	spanned, span := tracing.Start(ctx, "journal.begin")
	if e.retry != nil {
		e.record, err = o.deps.Journal.Resolve(spanned, e.retry.call)
	} else {
		e.record, err = o.deps.Journal.Begin(spanned, e.spec)
	}
	if err != nil {
		span.Fail("not_begun")
		span.End()
		return o.abortUnbegun(ctx, e.spec, err)
	}
	span.End()
	e.number = e.record.Calls[len(e.record.Calls)-1].Number
	return nil
}

// abortUnbegun sees to a call that the journal may have opened although it said
// otherwise: it must not stay open, for nothing is sent.
func (o *Orders) abortUnbegun(ctx context.Context, spec CallSpec, err error) error {
	if is[*KeyTakenError](err) || is[*BusyError](err) || is[*StateError](err) || is[*NotReadyError](err) ||
		is[*RestoredError](err) || errors.Is(err, ErrNoOrder) || errors.Is(err, ErrNoBody) {
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

// send makes the call. After e.end nothing is sent.
func (o *Orders) send(ctx context.Context, e *execution) {
	call, _ := e.record.Call(e.number)
	e.result = CallResult{Connection: e.record.Connection, Ref: e.record.Ref, Call: e.number}
	ctx, span := tracing.Start(ctx, "order."+string(call.Operation))
	defer func() { traceCall(span, &e.record, &e.result) }()
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), e.end)
	defer cancel()
	if err := ctx.Err(); err != nil {
		e.result.Outcome = OutcomeNotSent
		o.logCall(ctx, e, fmt.Errorf("it took too long to open the call: %w", err))
		return
	}
	ctx = upstream.WithAttempts(ctx, func(try upstream.Attempt) {
		e.result.Attempts = append(e.result.Attempts, storedAttempt(try))
	})
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
	}
}

// finish records how the call ended and returns the call as the journal has it.
// What the journal does not take is written later; it is answered all the same,
// for it is known (policy O12).
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
			o.reportLost(&known, e.number, err)
			return resultOf(known, known, e.number)
		}
		if sleep.For(ctx, pause) != nil {
			span.Fail("late")
			o.pending.add(o, ended)
			return resultOf(known, known, e.number)
		}
	}
}

// finishCall finishes a call. Where the journal has lost the call, it is written
// again as it is known (policies O14 and O14a). It returns the call's number.
func (o *Orders) finishCall(ctx context.Context, w *pendingWrite) (Record, int, error) {
	result := *w.result
	got, err := o.deps.Journal.Finish(ctx, result)
	if !errors.Is(err, ErrNoOrder) {
		return got, result.Call, err
	}
	got, number, err := o.deps.Journal.Recreate(ctx, w.record, result.Call, w.body)
	if err != nil && !errors.Is(err, ErrUnreplicated) {
		return got, number, err
	}
	if call, _ := got.Call(number); call.Outcome != result.Outcome { // it has come back meanwhile
		result.Call = number
		got, err = o.deps.Journal.Finish(ctx, result)
	} else {
		o.emit(notice{
			name: "order.recreated", level: logrus.WarnLevel, record: &got, call: number, outcome: result.Outcome,
			msg: "the journal had lost a call: it is written again",
		})
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
