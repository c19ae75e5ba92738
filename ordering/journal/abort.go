package journal

import (
	"context"
	"errors"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// abortedTTL is the time for which Redis keeps the mark of an aborted CallSpec. A Begin that
// arrives within this time fails. No request is delayed in a network for so long.
const abortedTTL = time.Hour

// Abort ends the call that this CallSpec opened, with the outcome not sent. If the CallSpec has not
// opened a call yet, it no longer can: a Begin that reaches Redis later fails with errAborted.
func (j *Journal) Abort(ctx context.Context, o ordering.CallSpec) error {
	return unreplicated("abort", o.Connection, j.abortCall(ctx, o))
}

func (j *Journal) abortCall(ctx context.Context, o ordering.CallSpec) error {
	at := location{o.Connection, o.Ref}
	found, err := j.store.readOrder(ctx, j.store.write, at)
	if errors.Is(err, ordering.ErrNoOrder) && o.Operation != upstream.OpCreate {
		_, found, err = j.store.byOrderID(ctx, o.Connection, o.OrderID)
	}
	if err != nil && !errors.Is(err, ordering.ErrNoOrder) {
		return err
	}
	if found == nil {
		found = &order{Record: ordering.Record{Connection: o.Connection, Ref: o.Ref}}
	}
	c := j.store.newTx(found)
	call, opened := openedBy(found, o.ID)
	switch {
	case !opened:
		c.do(c.store.keys.OrderAborted(o.Connection, o.ID), "SET", "1", "PX", milliseconds(abortedTTL))
	case call.Outcome == ordering.OutcomeOpen,
		call.Outcome == ordering.OutcomeUnknown && call.EndedAt.IsZero(): // the sweep ended it; it was never sent
		c.touch()
		call.EndedAt = atCommit()
		c.setOutcome(call, ordering.OutcomeNotSent, true)
	default: // the call has ended already, but the replicas may not have this
		if j.durability.required(o.Connection) == 0 {
			return nil
		}
	}
	if _, err = j.durability.commit(ctx, c); errors.Is(err, errMoved) {
		return j.abortCall(ctx, o)
	}
	return err
}

// openedBy returns the call that a CallSpec opened.
func openedBy(o *order, id string) (ordering.Call, bool) {
	for _, call := range o.Calls {
		if call.SpecID == id && id != "" {
			return call, true
		}
	}
	return ordering.Call{}, false
}
