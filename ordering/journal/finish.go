package journal

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"larder/internal/upstream"
	"larder/ordering"
)

// Finish ends a call (policies O8, O9 and O12).
func (j *Journal) Finish(ctx context.Context, e ordering.CallResult) (ordering.Record, error) {
	contradicts := false
	o, err := j.update(ctx, j.commit, location{e.Connection, e.Ref}, func(o *order) (c *tx, err error) {
		call, ok := o.Call(e.Call)
		if !ok || e.SpecID != "" && call.SpecID != e.SpecID {
			return nil, ordering.ErrNoOrder // a failover may have undone the opening, and another has taken the number
		}
		if contradicts = call.Outcome.Certain() && !agrees(o, call, e); contradicts || call.Outcome.Certain() {
			c = j.addToEnded(o, call, e, contradicts)
		} else if c, err = j.endCall(ctx, o, call, e); err != nil {
			return nil, err
		}
		if c == nil && j.required(e.Connection) > 0 {
			c = j.newTx(o) // the replicas may lack it: WAIT needs a write before it
		}
		return c, nil
	})
	if err != nil && !errors.Is(err, ErrReplicas) {
		return ordering.Record{}, failed("finish", err)
	}
	if contradicts {
		return ordering.Record{}, &ordering.ContradictionError{Record: o.Record, Call: e.Call, Outcome: e.Outcome}
	}
	return o.Record, unreplicated("finish", err)
}

// agrees reports whether a result says what is known of a certain call already.
func agrees(o *order, call ordering.Call, e ordering.CallResult) bool {
	switch {
	case e.Outcome == ordering.OutcomeUnknown:
		return true
	case call.Resolved == nil:
		return e.Outcome == call.Outcome
	case e.Outcome != ordering.OutcomeDone:
		return call.Outcome != ordering.OutcomeDone
	}
	return call.Outcome == ordering.OutcomeDone && (call.Operation != upstream.OpCreate || e.OrderID == o.OrderID)
}

// addToEnded notes what a result adds to a call that is certain already; nil for
// nothing.
func (j *Journal) addToEnded(o *order, call ordering.Call, e ordering.CallResult, contradicts bool) *tx {
	c := j.newTx(o)
	added := call.Resolved != nil && c.addAttempts(call, e.Attempts)
	if contradicts && call.Contradicted != e.Outcome {
		c.setField(numbered(fieldContradicted, call.Number), string(e.Outcome))
		c.setNow(fieldUpdated)
		added = true
	}
	if !added {
		return nil
	}
	c.setField(fieldRev, next(o.revision))
	return c
}

// addAttempts appends attempts, unless the call's last attempts are the same: a Finish
// whose answer was lost is sent again.
func (c *tx) addAttempts(call ordering.Call, tries []ordering.Attempt) bool {
	if had := call.Attempts; len(had) >= len(tries) && encodeAttempts(had[len(had)-len(tries):]) == encodeAttempts(tries) {
		return false
	}
	c.setField(numbered(fieldAttempts, call.Number), encodeAttempts(slices.Concat(call.Attempts, tries)))
	return true
}

// endCall ends a call that is open or unknown.
func (j *Journal) endCall(ctx context.Context, o *order, call ordering.Call, e ordering.CallResult) (*tx, error) {
	c := j.newTx(o)
	if !c.addAttempts(call, e.Attempts) && e.Outcome == call.Outcome && !call.EndedAt.IsZero() {
		return nil, nil //nolint:nilnil // no change: it was said before that the outcome is unknown
	}
	c.touch()
	c.putAnswer(call.Number, e.Answer)
	c.setNow(numbered(fieldEnded, call.Number))
	if e.Outcome == ordering.OutcomeDone && call.Operation == upstream.OpCreate && e.OrderID != "" {
		if err := j.takeID(ctx, c, e.OrderID, nil); err != nil {
			return nil, err
		}
	}
	c.setOutcome(call, e.Outcome, releasesKey(call, e.Outcome))
	return c, nil
}

// takeID sets the order's orderID. Another order's goes over to it: one that
// larder placed keeps its own word of it, an adopted one forgets it. allow may
// object to that.
func (j *Journal) takeID(
	ctx context.Context, c *tx, orderID string, allow func(orderID string, other *order) error,
) error {
	ref, other, err := j.byOrderID(ctx, c.connection(), orderID)
	if err != nil {
		return err
	}
	c.check(c.orderIDKey(orderID), ref)
	if other != nil && other.Ref != c.order.Ref {
		if allow != nil {
			if err := allow(orderID, other); err != nil {
				return err
			}
		}
		c.supersede(other)
	}
	c.setField(fieldOrderID, orderID)
	c.step("set", c.orderIDKey(orderID), c.order.Ref)
	return nil
}

// supersede makes the order the one that is meant by the other's orderID. What
// was adopted after the order had been begun is the order itself, changed before
// its orderID was known: what became of it holds. Everything else was another
// order: whether it was paid says nothing, and what was asked of it without a
// key may be asked again.
func (c *tx) supersede(other *order) {
	record := c.names.Order(c.connection(), other.Ref)
	c.checkField(record, fieldRev, other.revision)
	if other.Adopted {
		c.step("hset", record, fieldRev, next(other.revision))
		c.step("hdel", record, fieldOrderID)
	}
	if other.Adopted && other.CreatedAt.After(c.order.CreatedAt) {
		c.placedState = other.State
		if other.Paid {
			c.setField(fieldPaid, yes)
		}
		return
	}
	for _, call := range other.Calls {
		if call.Derived && call.Key != "" {
			c.step("del-if", c.idempotencyKey(call.Key), pointer(other.Ref, call.Number))
		}
	}
}

// setOutcome sets a call's outcome, with all that follows for the order.
// frees is whether its key becomes free.
func (c *tx) setOutcome(call ordering.Call, outcome ordering.Outcome, frees bool) {
	n, o := call.Number, c.order
	c.setField(numbered(fieldOutcome, n), string(outcome))
	c.step("zrem", c.openList(), c.pointer(n))
	state := ordering.StateAfter(o.State, call.Operation, outcome)
	if c.placedState != "" && state == ordering.StatePlaced {
		state = c.placedState
	}
	c.setState(state)
	if call.Operation == upstream.OpPay && outcome == ordering.OutcomeDone {
		c.setField(fieldPaid, yes)
	}
	if outcome == ordering.OutcomeUnknown {
		c.step("zadd", c.stateList(string(ordering.StateUnknown)), o.member())
		c.keepRecord()
		for _, call := range o.Calls { // what is still there of the guest data lives on too
			c.step("persist", c.guestKey(call.Number))
		}
		return
	}
	c.step("zrem", c.stateList(string(ordering.StateUnknown)), o.member())
	c.expireRecord(call)
	switch {
	case call.Key == "":
	case frees:
		c.step("del-if", c.idempotencyKey(call.Key), c.pointer(n))
	default:
		c.step("expire", c.idempotencyKey(call.Key), c.pointer(n), c.cfg.KeyTTL.Milliseconds(), 0)
	}
}

// setState puts the order into a state and its list. The list of StateUnknown is
// that of all orders with an unknown outcome, which setOutcome keeps.
func (c *tx) setState(state ordering.State) {
	before := ordering.State(c.fields[fieldState])
	if state == before {
		return
	}
	c.setField(fieldState, string(state))
	if before != ordering.StateUnknown {
		c.step("zrem", c.stateList(string(before)), c.order.member())
	}
	if state != ordering.StateUnknown {
		c.step("zadd", c.stateList(string(state)), c.order.member())
	}
}

// releasesKey reports whether a call with this outcome releases its key (policy O7).
func releasesKey(call ordering.Call, outcome ordering.Outcome) bool {
	return outcome == ordering.OutcomeNotSent || outcome == ordering.OutcomeRefused && call.Derived
}

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
