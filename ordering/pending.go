package ordering

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

const (
	// maxPendingWrites is the maximum number of results that wait for the journal.
	maxPendingWrites = 10_000
	// maxPendingBytes limits the size of their bodies.
	maxPendingBytes = 64 << 20
	// After maxFailures consecutive failures, a flush skips the other writes of the connection: its
	// journal does not answer.
	maxFailures = 3
	// sweepBatch is the maximum number of calls that the journal sweeps in one step.
	sweepBatch = 100
	// abortLimit limits the first attempt to abort a call.
	abortLimit = time.Second
)

// pendingWrite is a write that the journal has not accepted: a result with the record as it will be.
type pendingWrite struct {
	result *CallResult
	record Record
	body   []byte // the body that the call sent
	// spec is set if the call is to be aborted, because nothing was sent.
	spec *CallSpec
	// resolution is set if the result is a person's resolution.
	resolution *ResolveCall
	// written is true if the journal has the result, but too few replicas have it (policy O14).
	written bool
}

// pendingWrites are the results that the journal has not accepted, oldest first (policy O12). The
// zero value is ready to use.
type pendingWrites struct {
	mu    sync.Mutex
	queue []pendingWrite
	size  int // number of the writes, with those that a flush has taken
	bytes int // total of their bodies
}

// add keeps w for later. If the limit is reached, it drops w and reports the loss.
func (l *pendingWrites) add(o *Orders, w pendingWrite) {
	// A copy: w.result is part of the request, which would stay in memory.
	result := *w.result
	result.Known, result.Recheck, w.result = nil, false, &result // its client gets the refusal now (policy O18)
	l.mu.Lock()
	full := l.size >= maxPendingWrites
	if l.bytes+len(w.body) > maxPendingBytes {
		w.body = nil // the result alone is enough for replays
	}
	if !full {
		l.size++
		l.bytes += len(w.body)
		l.queue = append(l.queue, w)
	}
	l.mu.Unlock()
	if full {
		o.dropPending(w, errors.New("too many results wait for the journal"))
	}
}

func (l *pendingWrites) drain() []pendingWrite {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.queue
	l.queue = nil
	return waiting
}

// requeue puts the failed ones of the taken writes back, before those added since.
func (l *pendingWrites) requeue(taken, failed []pendingWrite) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(failed, l.queue...)
	l.size -= len(taken) - len(failed)
	l.bytes -= bodyBytes(taken) - bodyBytes(failed)
}

func bodyBytes(writes []pendingWrite) (total int) {
	for i := range writes {
		total += len(writes[i].body)
	}
	return total
}

// Run searches for calls without a result at each cfg.SweepEvery. Each second it also writes pending results and
// watches the journal. When ctx ends, it waits for the calls in flight, which have their own time limits, then writes
// the pending results and watches the journal once more (policies O12, O14 and O14a). It returns nil.
func (o *Orders) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { every(ctx, watchEvery, o.watchAll) })
	loops.Go(func() { every(ctx, watchEvery, func(ctx context.Context) { _ = o.flush(ctx) }) }) // Sweep logs errors
	failing := false
	every(ctx, o.cfg.SweepEvery, func(ctx context.Context) {
		err := o.Sweep(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			o.log.WithError(err).WithField("event", "order.sweep_failed").Warn("searching for calls without a result failed")
		}
		failing = err != nil
	})
	loops.Wait()
	for end := time.Now().Add(o.cfg.PlaceTimeout + finishLimit + o.cfg.WaitTimeout); o.inFlight.Load() > 0 && time.Now().Before(end); {
		time.Sleep(finishPause)
	}
	ctx = context.WithoutCancel(ctx)
	const lastWatch = time.Second // reserved for the last watch
	limited, cancel := context.WithTimeout(ctx, finishLimit+o.cfg.WaitTimeout-lastWatch)
	defer cancel()
	err := o.flush(limited)
	last, stop := context.WithTimeout(ctx, lastWatch)
	defer stop()
	o.watchAll(last) // saves the last changes to state_dir
	for _, w := range o.pending.drain() {
		o.dropPending(w, err)
	}
	return nil
}

// every calls pass immediately and then at each interval until ctx ends.
func every(ctx context.Context, interval time.Duration, pass func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		pass(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// Sweep writes pending results, and sets calls past their deadline to unknown, on every connection
// (policy O12). It returns all errors, joined.
func (o *Orders) Sweep(ctx context.Context) error {
	connections := o.deps.Connections()
	former, err := o.deps.Journal.Former(ctx, connections) // their calls end too (policy O20)
	errs := []error{o.flush(ctx), err}
	for _, connection := range append(connections, former...) {
		errs = append(errs, o.sweepConnection(ctx, connection))
	}
	return errors.Join(errs...)
}

func (o *Orders) sweepConnection(ctx context.Context, connection string) error {
	for {
		moved, err := o.deps.Journal.Sweep(ctx, connection)
		for i := range moved {
			call, _ := moved[i].Busy()
			o.emit(callTimedOut, &moved[i], call.Number, OutcomeUnknown, nil)
		}
		if err != nil || len(moved) < sweepBatch {
			return err
		}
	}
}

// flush writes the pending writes. Failed writes stay pending, and the last error of the journal is
// returned. A connection whose journal or replicas do not answer does not delay the others.
func (o *Orders) flush(ctx context.Context) (last error) {
	var rest, failed []pendingWrite
	failures := map[string]int{} // consecutive, by connection
	taken := o.pending.drain()
	for _, w := range taken {
		connection := w.result.Connection
		if failures[connection] >= maxFailures {
			rest = append(rest, w)
			continue
		}
		err := o.write(ctx, w)
		switch {
		case err == nil:
			failures[connection] = 0
			continue
		case errors.Is(err, ErrUnreplicated):
			w.written = true
			failures[connection] = maxFailures // the other writes would fail as slowly
		default:
			failures[connection]++
		}
		last = err
		failed = append(failed, w)
	}
	o.pending.requeue(taken, append(rest, failed...)) // the failed ones last
	return last
}

// write makes one pending write. After an error it must be made again.
func (o *Orders) write(ctx context.Context, w pendingWrite) error {
	if w.spec != nil {
		return o.deps.Journal.Abort(ctx, *w.spec)
	}
	if w.resolution != nil {
		if done, err := o.resolveAgain(ctx, w); done || err != nil {
			return err
		}
	}
	record, number, err := o.finishCall(ctx, &w)
	switch contradiction, ok := errors.AsType[*ContradictionError](err); {
	case ok:
		o.reportConflict(contradiction, w.result.OrderID)
	case errors.Is(err, ErrNoOrder):
		o.reportLost(&w.record, w.result.Call, err)
	case err != nil:
		return err
	case w.written: // enough replicas have it
	default:
		o.emit(recordedLate, &record, number, w.result.Outcome, nil)
	}
	return nil
}

// reportConflict reports that the outcome of an order contradicts a person's resolution (policy O12). orderID is the
// one that the call returned. The record has another one or none, so this may be an unwanted order.
func (o *Orders) reportConflict(e *ContradictionError, orderID string) {
	o.emit(outcomeConflict, &e.Record, e.Call, e.Outcome, logrus.Fields{"foundOrderID": orderID})
}

// finishResult records the outcome of a call under its number in the journal. With the orderID of another order, the
// outcome is unknown (policy O17).
func (o *Orders) finishResult(ctx context.Context, w *pendingWrite, number int) (Record, error) {
	result := *w.result
	result.Call = number
	got, err := o.deps.Journal.Finish(ctx, result)
	if repeated, ok := errors.AsType[*IDRepeatedError](err); ok {
		o.reportRepeated(ctx, &got, number, repeated.OrderID)
		w.result.Outcome, w.result.OrderID, w.record = OutcomeUnknown, "", got
		err = repeated.Err
	}
	return got, err
}

// reportRepeated reports that a create got the orderID of another order (policy O17). Other responses may belong to
// other calls too.
func (o *Orders) reportRepeated(ctx context.Context, r *Record, number int, orderID string) {
	if service, configured := o.deps.Services[r.Connection]; configured { // not of an order of a removed connection
		service.DoubtResponses()
	}
	more := logrus.Fields{"foundOrderID": orderID}
	if other, err := o.deps.Journal.Order(ctx, r.Connection, orderID); err == nil {
		more["otherRef"], more["otherRestaurant"] = other.Ref, string(other.Restaurant)
		if other.Restaurant != r.Restaurant {
			more["hint"] = "if the service numbers the orders of each restaurant, set connections[].order_numbers: restaurant"
		}
	}
	o.emit(orderIDRepeated, r, number, OutcomeUnknown, more)
}

// reportLost reports that the journal will never have the outcome of a call.
func (o *Orders) reportLost(r *Record, number int, err error) {
	call, _ := r.Call(number)
	o.emit(resultLost, r, number, call.Outcome, logrus.Fields{logrus.ErrorKey: err})
}

// dropPending reports a write that is given up. If it was to abort a call, nothing was sent: the
// call becomes unknown, and a person can resolve it.
func (o *Orders) dropPending(w pendingWrite, err error) {
	if w.spec != nil || !w.written {
		o.reportLost(&w.record, w.result.Call, err)
		return
	}
	o.emit(resultUnreplicated, &w.record, w.result.Call, w.result.Outcome, logrus.Fields{logrus.ErrorKey: err})
}

// notice is an event outside of a request.
type notice struct {
	event string
	level logrus.Level
	msg   string
}

//nolint:gochecknoglobals // read only
var (
	recordedLate  = notice{"order.result_recorded_late", logrus.InfoLevel, "the outcome of a call was recorded late"}
	callRecreated = notice{"order.recreated", logrus.WarnLevel, "the journal had lost a call; it was written again"}
	resultLost    = notice{"order.result_lost", logrus.ErrorLevel, "the outcome of a call is lost: it could not be recorded"}
	callTimedOut  = notice{
		"order.timed_out", logrus.WarnLevel,
		"a call has no result: its outcome is unknown until an operator resolves it",
	}
	resultUnreplicated = notice{
		"order.unreplicated", logrus.ErrorLevel,
		"the outcome of a call was recorded, but a failover of Redis may lose it",
	}
	outcomeConflict = notice{
		"order.outcome_conflict", logrus.ErrorLevel,
		"the outcome of a call contradicts its resolution: check the order with the restaurant",
	}
	orderIDRepeated = notice{
		"order.id_repeated", logrus.ErrorLevel,
		"the response to a new order has the orderID of another order: look at both at the restaurant; " +
			"each call of this instance has a connection of its own for ten minutes",
	}
)

// emit logs an event of a call in a record, with more fields, and passes it to the observer.
func (o *Orders) emit(n notice, r *Record, number int, outcome Outcome, more logrus.Fields) {
	call, _ := r.Call(number)
	if more[logrus.ErrorKey] == nil { // not known
		delete(more, logrus.ErrorKey)
	}
	o.log.WithFields(fields(n.event, r, call.Operation, outcome)).WithFields(more).Log(n.level, n.msg)
	o.deps.Observe(n.event, r.Connection)
}

// fields returns the log fields of an order. They contain no body, key or guest data.
func fields(event string, r *Record, op Operation, outcome Outcome) logrus.Fields {
	return logrus.Fields{
		"event":       event,
		"ref":         r.Ref,
		"orderID":     r.OrderID,
		"connection":  r.Connection,
		"restaurant":  string(r.Restaurant),
		"operation":   string(op),
		"outcome":     string(outcome),
		"menuVersion": r.MenuVersion,
	}
}

// abortUnbegun aborts a call that the journal may have opened although it returned an error. Such a
// call must not stay open, because nothing is sent.
func (o *Orders) abortUnbegun(ctx context.Context, spec CallSpec, err error) error {
	if is[*KeyTakenError](err) || is[*BusyError](err) || is[*StateError](err) || is[*SourceError](err) || is[*NotReadyError](err) ||
		is[*RestoredError](err) || errors.Is(err, ErrNoOrder) || errors.Is(err, ErrNoBody) {
		return err
	}
	if failed, ok := errors.AsType[*JournalError](err); ok && failed.Unwritten {
		return err
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortLimit)
	defer cancel()
	if o.deps.Journal.Abort(limited, spec) == nil {
		return err
	}
	spec.Body = nil // an aborted call does not need it
	o.pending.add(o, pendingWrite{spec: &spec, result: &CallResult{Connection: spec.Connection, Call: 1}, record: Record{
		Ref:         spec.Ref,
		Connection:  spec.Connection,
		Client:      spec.Client,
		Restaurant:  spec.Restaurant,
		OrderID:     spec.OrderID,
		MenuVersion: spec.MenuVersion,
		Calls:       []Call{{Number: 1, Operation: spec.Operation, Outcome: OutcomeNotSent}},
	}})
	return err
}
