package ordering_test

import (
	"context"
	"fmt"
	"testing/synctest"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// foreignLabel is the label of orders that another program placed.
const foreignLabel = "foreign"

// simRequest is one request to larder.
type simRequest struct {
	number    int
	placing   *placeRequest
	changing  *ordering.ChangeRequest
	resolving *ordering.ResolveRequest
	// label identifies the request's order or payment at the service.
	label string
	// identity is the key in its scope and may be empty. own is true for the client's own
	// key.
	identity string
	own      bool
	invalid  bool // larder must reject it
	known    bool // the journal had the order when it was sent
	metStop  bool // larder knew at some time since then that the dish was stopped
	left     bool // the client disconnected
	leave    context.CancelFunc

	result ordering.Result
	err    error
	at     time.Time
	// recorded is true if the journal had the same result at the time of the response.
	recorded bool
	by       *replica
}

func (a *simRequest) operation() ordering.Operation {
	switch {
	case a.placing != nil:
		return upstream.OpCreate
	case a.changing != nil:
		return a.changing.Operation
	default:
		return a.resolving.Operation
	}
}

// String describes the request in failures.
func (a *simRequest) String() string {
	return fmt.Sprintf("request %d (%s of %q, key %q)", a.number, a.operation(), a.label, a.identity)
}

// send sends a request to an instance and does not wait for the response. Nothing else
// happens at the same moment, so that a run can be repeated.
func (w *world) send(r *replica, a *simRequest) {
	time.Sleep(time.Millisecond) //testwaits:allow in the synctest bubble
	synctest.Wait()
	ctx, leave := context.WithCancel(w.ctx)
	w.mu.Lock()
	a.number, a.leave, a.by, a.metStop = len(w.requests)+1, leave, r, w.stopped
	w.requests = append(w.requests, a)
	w.mu.Unlock()
	go func() {
		var (
			result ordering.Result
			err    error
		)
		switch {
		case a.placing != nil:
			result, err = place(ctx, r.orders, *a.placing)
		case a.changing != nil:
			result, err = r.orders.Change(ctx, *a.changing)
		default:
			result, err = r.orders.Resolve(ctx, *a.resolving)
		}
		recorded := err == nil && w.hasResult(context.WithoutCancel(ctx), result)
		w.mu.Lock()
		defer w.mu.Unlock()
		a.result, a.err, a.at, a.recorded = result, err, time.Now(), recorded
		if a.resolving != nil {
			w.resolving = false
		}
		if !r.gate.isDead() { // otherwise the client gets no response
			w.answers = append(w.answers, a)
		}
	}()
}

// hasResult reports whether the journal has the result of a response.
func (w *world) hasResult(ctx context.Context, result ordering.Result) bool {
	record, err := w.journal.Record(ctx, []string{"main"}, result.Record.Ref)
	call, ok := record.Call(result.Call.Number)
	return err == nil && ok && call.Outcome == result.Call.Outcome
}

// answered reports whether a request has a response, even if the client did not get it.
func (w *world) answered(a *simRequest) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !a.at.IsZero()
}
