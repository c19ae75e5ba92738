package ordering_test

import (
	"context"
	"fmt"
	"testing/synctest"
	"time"

	"larder/internal/upstream"
	"larder/ordering"
)

// stranger is the label of orders that another program placed.
const stranger = "stranger"

// simRequest is one request to larder.
type simRequest struct {
	number    int
	placing   *placeRequest
	changing  *ordering.ChangeRequest
	resolving *ordering.ResolveRequest
	// label identifies the request's order or payment at the service.
	label string
	// identity is the key in its scope, "" for none; own: it is the client's.
	identity string
	own      bool
	invalid  bool // is to be refused by larder itself
	known    bool // of an order that the journal had when it was asked
	left     bool // the client went away
	leave    context.CancelFunc

	result ordering.Result
	err    error
	at     time.Time
	// recorded: when it was answered, the journal said the same.
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

// String names the request in failures.
func (a *simRequest) String() string {
	return fmt.Sprintf("request %d (%s of %q, key %q)", a.number, a.operation(), a.label, a.identity)
}

// send sends a request to a replica and goes on without its answer. Nothing
// else happens at the same moment, so that a run can be repeated.
func (w *world) send(r *replica, a *simRequest) {
	time.Sleep(time.Millisecond)
	synctest.Wait()
	ctx, leave := context.WithCancel(w.ctx)
	w.mu.Lock()
	a.number, a.leave, a.by = len(w.requests)+1, leave, r
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
		recorded := err == nil && w.says(context.WithoutCancel(ctx), result)
		w.mu.Lock()
		defer w.mu.Unlock()
		a.result, a.err, a.at, a.recorded = result, err, time.Now(), recorded
		if a.resolving != nil {
			w.resolving = false
		}
		if !r.gate.isDead() { // else the client hears nothing
			w.answers = append(w.answers, a)
		}
	}()
}

// says reports whether the journal says what an answer does.
func (w *world) says(ctx context.Context, result ordering.Result) bool {
	record, err := w.journal.Record(ctx, []string{"main"}, result.Record.Ref)
	call, ok := record.Call(result.Call.Number)
	return err == nil && ok && call.Outcome == result.Call.Outcome
}

// answered reports whether a request has had its answer, heard or not.
func (w *world) answered(a *simRequest) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !a.at.IsZero()
}
