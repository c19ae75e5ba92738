package ordering

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

const (
	// maxPendingWrites is how many results wait for the journal at most.
	maxPendingWrites = 10_000
	// maxPendingBytes bounds the bodies that are kept with them.
	maxPendingBytes = 64 << 20
	// maxFailures in a row end a pass over those of a connection: its journal
	// does not answer.
	maxFailures = 3
	// sweepBatch is how many calls the journal sweeps at most in one step.
	sweepBatch = 100
)

// pendingWrite is what the journal does not have yet: a result, with the
// record as it will be, or spec, a call of which nothing was sent.
type pendingWrite struct {
	result *CallResult
	record Record
	body   []byte // what the call sent
	spec   *CallSpec
	// resolution is what a person said of the call, where the result is that.
	resolution *ResolveCall
	// written: the journal has it, but too few replicas have (policy O14).
	written bool
}

func (w *pendingWrite) connection() string {
	if w.spec != nil {
		return w.spec.Connection
	}
	return w.result.Connection
}

// pendingWrites are the results that the journal did not take, oldest first (policy
// O12). The zero value is ready.
type pendingWrites struct {
	mu    sync.Mutex
	queue []pendingWrite
	bytes int // of the bodies
}

// add keeps what is to be written later, or says that it is lost.
func (l *pendingWrites) add(o *Orders, w pendingWrite) {
	l.mu.Lock()
	full := len(l.queue) >= maxPendingWrites
	if l.bytes+len(w.body) > maxPendingBytes {
		w.body = nil // the result alone answers every replay
	}
	if !full {
		l.bytes += len(w.body)
		l.queue = append(l.queue, w)
	}
	l.mu.Unlock()
	if full {
		o.dropPending(w, errors.New("too many endings wait for the journal"))
	}
}

// drain returns what waits, and leaves nothing.
func (l *pendingWrites) drain() []pendingWrite {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.queue
	l.queue, l.bytes = nil, 0
	return waiting
}

// requeue puts back what could not be written, before what has come since.
func (l *pendingWrites) requeue(rest []pendingWrite) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(rest, l.queue...)
	for i := range rest {
		l.bytes += len(rest[i].body)
	}
}

// Run looks for calls without a result each cfg.SweepEvery, and each second
// writes late results and watches the journal, until ctx ends (policies O12, O14
// and O14a). Then it waits for the calls in flight, which end by their own
// limits, writes once more what is left and watches the journal once more. It
// returns nil.
func (o *Orders) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { every(ctx, watchEvery, o.watchAll) })
	loops.Go(func() { every(ctx, watchEvery, func(ctx context.Context) { _ = o.flush(ctx) }) }) // Sweep logs it
	failing := false
	every(ctx, o.cfg.SweepEvery, func(ctx context.Context) {
		err := o.Sweep(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			o.log.WithError(err).WithField("event", "order.sweep_failed").Warn("calls without an ending cannot be looked for")
		}
		failing = err != nil
	})
	loops.Wait()
	o.inFlight.idle()
	ctx = context.WithoutCancel(ctx)
	const lastWatch = time.Second // of the time for both, whatever the writes take
	limited, cancel := context.WithTimeout(ctx, finishLimit+o.cfg.WaitTimeout-lastWatch)
	defer cancel()
	err := o.flush(limited)
	last, stop := context.WithTimeout(ctx, lastWatch)
	defer stop()
	o.watchAll(last) // state_dir has the last changes then
	for _, w := range o.pending.drain() {
		o.dropPending(w, err)
	}
	return nil
}

// every calls pass at once and then at each interval until ctx ends.
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

// Sweep is one pass: late results are written, and calls past their deadline
// become unknown, on every connection (policy O12). Every failure comes back,
// joined.
func (o *Orders) Sweep(ctx context.Context) error {
	errs := []error{o.flush(ctx)}
	for _, connection := range o.deps.Connections() {
		errs = append(errs, o.sweepConnection(ctx, connection))
	}
	return errors.Join(errs...)
}

// sweepConnection sweeps one connection to the end.
func (o *Orders) sweepConnection(ctx context.Context, connection string) error {
	for {
		moved, err := o.deps.Journal.Sweep(ctx, connection)
		for i := range moved {
			call, _ := moved[i].Busy()
			o.emit(notice{
				name: "order.timed_out", level: logrus.WarnLevel, record: &moved[i], call: call.Number, outcome: OutcomeUnknown,
				msg: "a call was never ended: its outcome is unknown until somebody resolves it",
			})
		}
		if err != nil || len(moved) < sweepBatch {
			return err
		}
	}
}

// flush writes the pending writes. What the journal does not take
// stays; the error is the last of its own. A connection whose journal does not
// answer, or whose replicas do not acknowledge, does not hold up the others.
func (o *Orders) flush(ctx context.Context) (last error) {
	var rest, failed []pendingWrite
	failures := map[string]int{} // in a row, by connection
	for _, w := range o.pending.drain() {
		if failures[w.connection()] >= maxFailures {
			rest = append(rest, w)
			continue
		}
		err := o.write(ctx, w)
		switch {
		case err == nil:
			failures[w.connection()] = 0
			continue
		case errors.Is(err, ErrUnreplicated):
			w.written = true
			failures[w.connection()] = maxFailures // each of the others would wait as long
		default:
			failures[w.connection()]++
		}
		last = err
		failed = append(failed, w)
	}
	o.pending.requeue(append(rest, failed...)) // those that failed come last
	return last
}

// write makes one pending write; the error means that it has to be made
// again.
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
	case w.written: // and now enough replicas have it
	default:
		o.emit(notice{
			name: "order.result_recorded_late", level: logrus.InfoLevel, record: &record, call: number, outcome: w.result.Outcome,
			msg: "what became of a call is recorded, late",
		})
	}
	return nil
}

// reportConflict alerts: an order is otherwise than a person said (policy O12).
// orderID is the one that the call then gave: the record has another or none,
// and this may be an order that nobody wants.
func (o *Orders) reportConflict(e *ContradictionError, orderID string) {
	o.emit(notice{
		name: "order.outcome_conflict", level: logrus.ErrorLevel, record: &e.Record, call: e.Call, outcome: e.Outcome,
		msg:  "a call ended otherwise than it was resolved: check the order",
		more: logrus.Fields{"foundOrderID": orderID},
	})
}

// reportLost alerts: the journal does not know what became of a call, and never
// will.
func (o *Orders) reportLost(r *Record, number int, err error) {
	call, _ := r.Call(number)
	o.emit(notice{
		name: "order.result_lost", level: logrus.ErrorLevel, record: r, call: number, outcome: call.Outcome, err: err,
		msg: "what became of a call is not recorded",
	})
}

// dropPending reports a write that is given up. Of a call that was to be aborted
// nothing was sent: it becomes unknown, and a person may resolve it.
func (o *Orders) dropPending(w pendingWrite, err error) {
	if w.spec == nil && w.written {
		o.emit(notice{
			name: "order.unreplicated", level: logrus.ErrorLevel, record: &w.record, call: w.result.Call, outcome: w.result.Outcome,
			err: err, msg: "what became of a call is recorded, but a failover of Redis may lose it",
		})
		return
	}
	if w.spec == nil {
		o.reportLost(&w.record, w.result.Call, err)
		return
	}
	p := w.spec
	o.reportLost(&Record{
		Ref: p.Ref, Connection: p.Connection, Client: p.Client, Restaurant: p.Restaurant, OrderID: p.OrderID,
		MenuVersion: p.MenuVersion, Calls: []Call{{Number: 1, Operation: p.Operation, Outcome: OutcomeNotSent}},
	}, 1, err)
}

// notice is an event of an order, as it is logged and observed.
type notice struct {
	name    string
	level   logrus.Level
	record  *Record
	call    int // its number in the record
	outcome Outcome
	err     error
	msg     string
	more    logrus.Fields
}

// emit logs an event and passes it to the observer.
func (o *Orders) emit(n notice) {
	call, _ := n.record.Call(n.call)
	entry := o.log.WithFields(fields(n.name, n.record, call.Operation, n.outcome)).WithFields(n.more)
	if n.err != nil {
		entry = entry.WithError(n.err)
	}
	entry.Log(n.level, n.msg)
	o.deps.Observe(Event{Name: n.name, Record: *n.record, Operation: call.Operation, Outcome: n.outcome, At: o.deps.Clock()})
}

// fields are what every line about an order has: no body, no key, no guest.
func fields(event string, r *Record, op Operation, outcome Outcome) logrus.Fields {
	return logrus.Fields{
		"event": event, "ref": r.Ref, "orderID": r.OrderID, "connection": r.Connection,
		"restaurant": string(r.Restaurant), "operation": string(op), "outcome": string(outcome),
		"menuVersion": r.MenuVersion,
	}
}

// inFlight counts the calls that are under way. The zero value is ready.
type inFlight struct {
	mu    sync.Mutex
	count int
	over  chan struct{} // made by idle, closed when the last one is over
}

// enter counts a call until the returned function is called.
func (f *inFlight) enter() (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.count--; f.count == 0 && f.over != nil {
			close(f.over)
			f.over = nil
		}
	}
}

// idle waits until no call is under way. Run alone calls it.
func (f *inFlight) idle() {
	f.mu.Lock()
	if f.count == 0 {
		f.mu.Unlock()
		return
	}
	over := make(chan struct{})
	f.over = over
	f.mu.Unlock()
	<-over
}
