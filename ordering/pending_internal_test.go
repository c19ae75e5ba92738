package ordering

import (
	"context"
	"io"
	"testing"

	"github.com/sirupsen/logrus"
)

// losing is a Journal that has lost a create, and knows another order with its orderID when it writes the create again.
type losing struct {
	Journal

	finished int
}

func (l *losing) Finish(_ context.Context, e CallResult) (Record, error) {
	if l.finished++; l.finished == 1 {
		return Record{}, ErrNoOrder
	}
	return unknownCreate(e.Connection), &IDRepeatedError{OrderID: e.OrderID, Other: "other"}
}

func (l *losing) Recreate(_ context.Context, known Record, _ int, _ []byte) (Record, int, error) {
	return unknownCreate(known.Connection), 1, nil
}

func (l *losing) Order(context.Context, string, string) (Record, error) { return Record{}, ErrNoOrder }

func unknownCreate(connection string) Record {
	return Record{Connection: connection, State: StateUnknown, Calls: []Call{{Number: 1, Operation: "create", Outcome: OutcomeUnknown}}}
}

// A lost create with the orderID of another order is unknown (policy O17), also if its connection is not configured.
func TestALostCreateWithARepeatedOrderID(t *testing.T) {
	t.Parallel()
	log := logrus.New()
	log.SetOutput(io.Discard)
	var events []string
	o := &Orders{log: log, deps: Deps{Journal: &losing{}, Observe: func(event, _ string) { events = append(events, event) }}}
	w := pendingWrite{result: &CallResult{Connection: "gone", Call: 1, Outcome: OutcomeDone, OrderID: "765"}, record: Record{Connection: "gone"}}
	got, number, err := o.finishCall(t.Context(), &w)
	if call, _ := got.Call(1); err != nil || number != 1 || call.Outcome != OutcomeUnknown {
		t.Errorf("finishCall: call %d %s, %v; want an unknown one", number, call.Outcome, err)
	}
	if w.result.Outcome != OutcomeUnknown || w.result.OrderID != "" || len(events) != 1 || events[0] != "order.id_repeated" {
		t.Errorf("pending: %s with orderID %q; events %q", w.result.Outcome, w.result.OrderID, events)
	}
}

// The limits include the writes that a flush has taken and may put back.
func TestPendingWritesAreBoundedDuringAFlush(t *testing.T) {
	t.Parallel()
	log := logrus.New()
	log.SetOutput(io.Discard)
	dropped := 0
	o := &Orders{log: log, deps: Deps{Observe: func(string, string) { dropped++ }}}
	write := func() pendingWrite { return pendingWrite{result: &CallResult{}, body: make([]byte, 1)} }
	for range maxPendingWrites {
		o.pending.add(o, write())
	}
	taken := o.pending.drain()
	o.pending.add(o, write())
	if dropped != 1 {
		t.Errorf("during a flush of %d writes, %d more were dropped, want 1", len(taken), dropped)
	}
	o.pending.requeue(taken, taken[:1])
	o.pending.add(o, write())
	if dropped != 1 || o.pending.size != 2 || o.pending.bytes != 2 || len(o.pending.queue) != 2 {
		t.Errorf("after the flush: %d dropped, size %d, %d bytes, %d queued; want 1, 2, 2, 2", dropped, o.pending.size, o.pending.bytes, len(o.pending.queue))
	}
}
