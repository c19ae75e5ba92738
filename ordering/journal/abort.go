package journal

import (
	"cmp"
	"context"
	"errors"
	"time"

	"larder/internal/upstream"
	"larder/ordering"
)

// abortedTTL is how long an opening that was given up is kept from coming in
// late: longer than a request can lie in a network.
const abortedTTL = time.Hour

// Abort ends the call that exactly this CallSpec opened as not sent. When it
// has opened none, it will not any more: a Begin whose request is still on its
// way to Redis finds itself aborted.
func (j *Journal) Abort(ctx context.Context, o ordering.CallSpec) error {
	return unreplicated("abort", j.abortCall(ctx, o))
}

func (j *Journal) abortCall(ctx context.Context, o ordering.CallSpec) error {
	at := location{o.Connection, o.Ref}
	found, err := j.readOrder(ctx, j.write, at)
	if errors.Is(err, ordering.ErrNoOrder) && o.Operation != upstream.OpCreate {
		_, found, err = j.byOrderID(ctx, o.Connection, o.OrderID)
	}
	if err != nil && !errors.Is(err, ordering.ErrNoOrder) {
		return err
	}
	if found == nil {
		found = &order{place: at}
	}
	c := j.newTx(found)
	call, opened := openedBy(found, o.ID)
	switch {
	case !opened:
		given := c.names.OrderAborted(o.Connection, o.ID)
		c.step("set", given, "1")
		c.step("expire", given, "", abortedTTL.Milliseconds(), 0)
	case call.Outcome == ordering.OutcomeOpen,
		call.Outcome == ordering.OutcomeUnknown && call.EndedAt.IsZero(): // swept: nobody has sent it
		c.touch()
		c.setNow(numbered(fieldEnded, call.Number))
		c.setOutcome(call, ordering.OutcomeNotSent, true)
	default: // ended before: only the replicas may lack it
		if j.required(o.Connection) == 0 {
			return nil
		}
	}
	if j.recovered(ctx, o.Connection) == nil {
		_, err = j.commit(ctx, c)
	} else { // do not wait for replicas that do not acknowledge
		_, err = j.apply(ctx, c)
		err = cmp.Or(err, ErrReplicas)
	}
	if errors.Is(err, errMoved) {
		return j.abortCall(ctx, o)
	}
	return err
}

// openedBy returns the call that an opening opened.
func openedBy(o *order, id string) (ordering.Call, bool) {
	for _, call := range o.Calls {
		if call.SpecID == id && id != "" {
			return call, true
		}
	}
	return ordering.Call{}, false
}
