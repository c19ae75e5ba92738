package ordering

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// The events that happen to orders without a request to answer.
const (
	eventSwept        = "order.swept"
	eventLate         = "order.late"
	eventContradicted = "order.contradicted"
	eventUnrecorded   = "order.unrecorded"
)

const (
	// maxUnwritten is how many endings wait for the journal at most.
	maxUnwritten = 10_000
	// maxFailures in a row end a pass over them: the journal is away.
	maxFailures = 3
	// sweepBatch is how many calls the journal sweeps at most in one step.
	sweepBatch = 100
)

// unwritten is what the journal has still to be told: an ending, with the
// record as it will be, or an opening of which nothing was sent.
type unwritten struct {
	ending  *Ending
	record  Record
	opening *Opening
}

// late are the endings that the journal did not take, oldest first (policy
// O12). The zero value is ready.
type late struct {
	mu    sync.Mutex
	queue []unwritten
}

// put keeps what is to be written later, or says that it is lost.
func (l *late) put(o *Orders, w unwritten) {
	l.mu.Lock()
	full := len(l.queue) >= maxUnwritten
	if !full {
		l.queue = append(l.queue, w)
	}
	l.mu.Unlock()
	if full {
		o.lost(w, errors.New("too many endings wait for the journal"))
	}
}

// take gives what waits, and leaves nothing.
func (l *late) take() []unwritten {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.queue
	l.queue = nil
	return waiting
}

// back puts back what could not be written, before what has come since.
func (l *late) back(rest []unwritten) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(rest, l.queue...)
}

// Run looks for calls without an ending, and writes late ones, each
// cfg.SweepEvery until ctx ends (policy O12). Then it waits for the calls in
// flight, which end by their own limits, and writes once more what is left. It
// gives nil.
func (o *Orders) Run(ctx context.Context) error {
	ticker := time.NewTicker(o.cfg.SweepEvery)
	defer ticker.Stop()
	failing := false
	for ctx.Err() == nil {
		err := o.Sweep(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			o.log.WithError(err).WithField("event", "order.sweep_failed").Warn("calls without an ending cannot be looked for")
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	<-o.flights.idle()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit)
	defer cancel()
	err := o.land(limited)
	for _, w := range o.late.take() {
		o.lost(w, err)
	}
	return nil
}

// Sweep is one pass: late endings are written, and calls past their deadline
// become unknown, on every connection (policy O12). Every failure comes back,
// joined.
func (o *Orders) Sweep(ctx context.Context) error {
	errs := []error{o.land(ctx)}
	for _, connection := range o.deps.Connections() {
		errs = append(errs, o.sweep(ctx, connection))
	}
	return errors.Join(errs...)
}

// sweep sweeps one connection to the end.
func (o *Orders) sweep(ctx context.Context, connection string) error {
	for {
		moved, err := o.deps.Journal.Sweep(ctx, connection)
		for i := range moved {
			o.happened(eventSwept, logrus.WarnLevel, &moved[i], OutcomeUnknown, busyCall(&moved[i]), nil,
				"a call was never ended: its outcome is unknown until somebody settles it")
		}
		if err != nil || len(moved) < sweepBatch {
			return err
		}
	}
}

// busyCall gives the number of the call that keeps the order busy.
func busyCall(r *Record) int {
	call, _ := r.Busy()
	return call.Number
}

// land writes what the journal has not been told yet. What it does not take
// stays; the error is the last of its own.
func (o *Orders) land(ctx context.Context) (last error) {
	waiting := o.late.take()
	var rest []unwritten
	for i, failures := 0, 0; i < len(waiting); i++ {
		if failures == maxFailures {
			rest = slices.Concat(waiting[i:], rest) // those that failed come last
			break
		}
		if err := o.write(ctx, waiting[i]); err != nil {
			last = err
			failures++
			rest = append(rest, waiting[i])
			continue
		}
		failures = 0
	}
	o.late.back(rest)
	return last
}

// write tells the journal one thing; the error means that it has to be told
// again.
func (o *Orders) write(ctx context.Context, w unwritten) error {
	if w.opening != nil {
		return o.deps.Journal.Abort(ctx, *w.opening)
	}
	record, err := o.deps.Journal.Finish(ctx, *w.ending)
	switch contradiction, ok := errors.AsType[*ContradictionError](err); {
	case ok:
		o.contradicted(contradiction, w.ending.OrderID)
	case errors.Is(err, ErrNoOrder):
		o.unrecorded(&w.record, w.ending.Call, err)
	case err != nil:
		return err
	default:
		o.happened(eventLate, logrus.InfoLevel, &record, w.ending.Outcome, w.ending.Call, nil,
			"what became of a call is recorded, late")
	}
	return nil
}

// contradicted alerts: an order is otherwise than a person said (policy O12).
// orderID is the one that the call then gave: the record has another or none,
// and this may be an order that nobody wants.
func (o *Orders) contradicted(e *ContradictionError, orderID string) {
	o.happened(eventContradicted, logrus.ErrorLevel, &e.Record, e.Outcome, e.Call, nil,
		"a call ended otherwise than it was settled: look at the order", logrus.Fields{"foundOrderID": orderID})
}

// unrecorded alerts: the journal does not know what became of a call, and never
// will.
func (o *Orders) unrecorded(r *Record, number int, err error) {
	call, _ := r.Call(number)
	o.happened(eventUnrecorded, logrus.ErrorLevel, r, call.Outcome, number, err,
		"what became of a call is not recorded")
}

// lost is unrecorded for what waited in vain. Of an opening nothing was sent:
// it becomes unknown, and a person may settle it.
func (o *Orders) lost(w unwritten, err error) {
	if w.opening == nil {
		o.unrecorded(&w.record, w.ending.Call, err)
		return
	}
	p := w.opening
	o.unrecorded(&Record{
		Ref: p.Ref, Connection: p.Connection, Client: p.Client, Restaurant: p.Restaurant, OrderID: p.OrderID,
		MenuVersion: p.MenuVersion, Calls: []Call{{Number: 1, Operation: p.Operation, Outcome: OutcomeNotSent}},
	}, 1, err)
}

// happened logs an event and tells it to the observer.
func (o *Orders) happened(
	name string, level logrus.Level, r *Record, outcome Outcome, number int, err error, msg string, more ...logrus.Fields,
) {
	call, _ := r.Call(number)
	entry := o.log.WithFields(fields(name, r, call.Operation, outcome))
	for _, f := range more {
		entry = entry.WithFields(f)
	}
	if err != nil {
		entry = entry.WithError(err)
	}
	entry.Log(level, msg)
	o.deps.Observe(Event{Name: name, Record: *r, Operation: call.Operation, Outcome: outcome, At: o.deps.Clock()})
}

// fields are what every line about an order has: no body, no key, no guest.
func fields(event string, r *Record, op Operation, outcome Outcome) logrus.Fields {
	return logrus.Fields{
		"event": event, "ref": r.Ref, "orderID": r.OrderID, "connection": r.Connection,
		"restaurant": string(r.Restaurant), "operation": string(op), "outcome": string(outcome),
		"menuVersion": r.MenuVersion,
	}
}

// flights counts the calls that are under way. The zero value is ready.
type flights struct {
	mu    sync.Mutex
	count int
	empty []chan struct{} // closed when the last one is over
}

// enter counts a call; what it gives is called when the call is over.
func (f *flights) enter() (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.count--; f.count == 0 {
			for _, c := range f.empty {
				close(c)
			}
			f.empty = nil
		}
	}
}

// idle gives a channel that is closed once no call is under way.
func (f *flights) idle() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{})
	if f.count == 0 {
		close(c)
	} else {
		f.empty = append(f.empty, c)
	}
	return c
}
