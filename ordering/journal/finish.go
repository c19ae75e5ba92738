package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Finish ends a call and records its result (policies O8, O9 and O12).
func (j *Journal) Finish(ctx context.Context, e ordering.CallResult) (ordering.Record, error) {
	contradicts := false
	var repeated *ordering.IDRepeatedError
	at := location{e.Connection, e.Ref}
	o, err := j.store.update(ctx, j.durability.commit, at, begunOrder(at, e), func(o *order) (c *tx, err error) {
		repeated = nil // of an order that has changed since
		call, ok := o.Call(e.Call)
		if !ok || e.SpecID != "" && call.SpecID != e.SpecID {
			return nil, ordering.ErrNoOrder // after a failover, another call may have this number
		}
		if contradicts = call.Outcome.Certain() && !agrees(o, call, e); contradicts || call.Outcome.Certain() {
			c = addToEnded(j.store.newTx(o), call, e, contradicts)
		} else if c, repeated, err = j.endCall(ctx, o, call, e); err != nil {
			return nil, err
		}
		if c == nil && j.durability.required(e.Connection) > 0 {
			c = j.store.newTx(o) // the replicas may not have the result yet, and WAIT needs a write
		}
		return c, nil
	})
	if err != nil && !errors.Is(err, errReplicas) {
		return ordering.Record{}, failed("finish", e.Connection, err)
	}
	if contradicts {
		return ordering.Record{}, &ordering.ContradictionError{Record: o.Record, Call: e.Call, Outcome: e.Outcome}
	}
	err = unreplicated("finish", e.Connection, err)
	if repeated != nil {
		repeated.Err, err = err, repeated
	}
	return o.Record, err
}

// begunOrder returns the order as Begin returned it, or nil if it must be read. The ID of the
// CallSpec is its revision (see openCall): the commit fails if anything has changed since.
func begunOrder(at location, e ordering.CallResult) *order {
	if e.Known == nil || e.Known.Connection != at.connection || e.Known.Ref != at.ref || len(e.Known.Calls) == 0 {
		return nil
	}
	last := e.Known.Calls[len(e.Known.Calls)-1]
	if last.Number != e.Call || last.Outcome != ordering.OutcomeOpen || len(last.SpecID) != revisionLength {
		return nil
	}
	return &order{Record: *e.Known, place: at, revision: last.SpecID, unread: true}
}

// agrees reports whether a result does not contradict the known result of a call.
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

// addToEnded returns a transaction that adds a result to a call with a certain outcome. It returns
// nil if there is nothing to add.
func addToEnded(c *tx, call ordering.Call, e ordering.CallResult, contradicts bool) *tx {
	added := call.Resolved != nil && addAttempts(&call, e.Attempts)
	if contradicts && call.Contradicted != e.Outcome {
		call.Contradicted = e.Outcome
		c.touch()
		added = true
	}
	if !added {
		return nil
	}
	c.writes = true
	c.put(call)
	return c
}

// addAttempts appends attempts to the call. It does nothing if they are already the last attempts
// of the call: if the reply to a Finish was lost, Finish is sent again.
func addAttempts(call *ordering.Call, tries []ordering.Attempt) bool {
	tries, had := storedAttempts(tries), call.Attempts
	if len(had) >= len(tries) && slices.EqualFunc(had[len(had)-len(tries):], tries, ordering.Attempt.Same) {
		return false
	}
	call.Attempts = slices.Insert(tries, 0, had...)
	return true
}

// endCall ends a call that is open or unknown. A success with the orderID of another order is unknown (policy O17).
func (j *Journal) endCall(
	ctx context.Context, o *order, call ordering.Call, e ordering.CallResult,
) (c *tx, repeated *ordering.IDRepeatedError, err error) {
	c = j.store.newTx(o)
	if !addAttempts(&call, e.Attempts) && e.Outcome == call.Outcome && !call.EndedAt.IsZero() {
		return nil, nil, nil // no change: the outcome is already recorded as unknown
	}
	c.touch()
	c.putAnswer(&call, e.Answer)
	call.EndedAt = atCommit()
	if e.Outcome == ordering.OutcomeDone && call.Operation == upstream.OpCreate && e.OrderID != "" {
		if repeated, err = c.takeOwnID(ctx, call, e.OrderID); err != nil {
			return nil, nil, err
		}
	}
	if repeated != nil {
		e.Outcome = ordering.OutcomeUnknown
	}
	if e.Recheck && e.Outcome == ordering.OutcomeRefused && call.Key != "" {
		call.Recheck = ordering.RecheckRunning
	}
	c.setOutcome(call, e.Outcome, releasesKey(call, e.Outcome))
	return c, repeated, nil
}

// takeOwnID is takeID for a create that has succeeded. If the service gave another order of the same restaurant this
// orderID less than a minute before the call started, or later, it returns that order and takes nothing.
func (c *tx) takeOwnID(
	ctx context.Context, call ordering.Call, orderID string,
) (repeated *ordering.IDRepeatedError, err error) {
	err = c.takeID(ctx, orderID, func(orderID string, other *order) error {
		if !other.GotIDBefore(c.next.Restaurant, call.StartedAt) {
			return nil
		}
		return &ordering.IDRepeatedError{OrderID: orderID, Other: other.Ref}
	})
	if errors.As(err, &repeated) {
		return repeated, nil
	}
	return nil, err
}

// takeID sets the order's orderID, even if another order has the same one. The orderID then refers
// to this order only. In its record, an adopted other order loses the orderID; an order that larder
// placed keeps it. allow, if not nil, may return an error that prevents this.
func (c *tx) takeID(ctx context.Context, orderID string, allow func(orderID string, other *order) error) error {
	var (
		ref   string
		other *order
		err   error
	)
	if !c.order.unread { // otherwise the check fails if the orderID exists, which is rare
		if ref, other, err = c.store.named(ctx, c.connection(), c.orderIDKey(orderID)); err != nil {
			return err
		}
	}
	c.check(c.orderIDKey(orderID), ref)
	switch {
	case other == nil || other.Ref == c.order.place.ref:
	case other.Source != c.next.Source && other.Foreign != c.next.Foreign: // policy O16
		c.shareID(orderID, other)
	default:
		if allow != nil {
			if err := allow(orderID, other); err != nil {
				return err
			}
		}
		if err := c.supersede(other); err != nil {
			return err
		}
	}
	c.next.OrderID, c.tookID = orderID, true
	return nil
}

// supersede makes the orderID of another order refer to this one. If the other order was adopted
// after this order was created, both are the same order, which was changed before larder knew its
// orderID. Then this order takes over the state. Otherwise the other is a different order: its
// payment does not count here, and its changes without a client's key can be requested again.
func (c *tx) supersede(other *order) error {
	c.checkRevision(other)
	if other.Adopted {
		without := other.Record
		without.OrderID = ""
		head, tail, err := encode(rand.Text(), &without)
		if err != nil {
			return err
		}
		c.stepUntil(keepTTL(), "record", c.store.keys.Order(c.connection(), other.Ref), head, tail)
	}
	if other.Adopted && other.CreatedAt.After(c.order.CreatedAt) {
		c.placedState = other.State
		c.next.Paid = c.next.Paid || other.Paid
		return nil
	}
	c.freeDerivedKeys(other)
	return nil
}

// shareID records the orderID for the one of two orders that belongs to the connection's service. The other keeps it
// under the key of its source (policy O16).
func (c *tx) shareID(orderID string, other *order) {
	c.checkRevision(other)
	if c.next.Foreign {
		c.ownIDKey = c.store.keys.OrderIDOf(c.connection(), orderID, c.next.Source)
		return
	}
	c.stepUntil(after(c.store.cfg.RecordTTL), "set", c.store.keys.OrderIDOf(c.connection(), orderID, other.Source), other.Ref)
	c.freeDerivedKeys(other)
}

func (c *tx) freeDerivedKeys(other *order) {
	for _, call := range other.Calls {
		if call.Derived && call.Key != "" {
			c.step("del-if", c.idempotencyKey(call.Key), other.Ref+callSuffix(call.Number))
		}
	}
}

// setOutcome sets a call's outcome and its effects. If frees is true, the key can be used again.
func (c *tx) setOutcome(call ordering.Call, outcome ordering.Outcome, frees bool) {
	n, before := call.Number, call.Outcome
	call.Outcome = outcome
	c.put(call)
	c.setState(c.replaced(ordering.StateAfter(c.order.State, call.Operation, outcome)))
	c.next.Paid = c.next.Paid || call.Operation == upstream.OpPay && outcome == ordering.OutcomeDone
	if before == ordering.OutcomeOpen {
		c.unlist(c.openList(), callSuffix(n))
	}
	if outcome == ordering.OutcomeUnknown {
		c.list(c.stateList(ordering.StateUnknown), "", expiry{})
		c.keepRecord()
		for _, call := range c.next.Calls { // the guest data that still exists must not expire either
			c.stepUntil(expiry{}, "expire", c.guestKey(call.Number), "")
		}
		return
	}
	if before == ordering.OutcomeUnknown {
		c.unlist(c.stateList(ordering.StateUnknown), "")
	}
	c.expireRecord(n, before == ordering.OutcomeUnknown)
	switch {
	case call.Key == "":
	case frees:
		c.step("del-if", c.idempotencyKey(call.Key), c.pointer(n))
	default:
		c.stepUntil(after(c.store.cfg.KeyTTL), "expire", c.idempotencyKey(call.Key), c.pointer(n))
	}
}

// replaced returns the state, or the one that replaces StatePlaced.
func (c *tx) replaced(state ordering.State) ordering.State {
	if state == ordering.StatePlaced {
		return cmp.Or(c.placedState, state)
	}
	return state
}

// setState sets the state of an order and moves the order to the list of that state. StatePlacing
// has no list: the list of open calls has these orders. The list of StateUnknown has all orders
// with an unknown outcome; setOutcome maintains it.
func (c *tx) setState(state ordering.State) {
	before := c.next.State
	if state == before {
		return
	}
	c.next.State = state
	if before != ordering.StateUnknown && before != ordering.StatePlacing {
		c.unlist(c.stateList(before), "")
	}
	if state != ordering.StateUnknown && state != ordering.StatePlacing {
		c.list(c.stateList(state), "", expiry{})
	}
}

// releasesKey reports whether the key of a call can be used again after this outcome (policy O7).
func releasesKey(call ordering.Call, outcome ordering.Outcome) bool {
	freed := call.Derived || call.Recheck == ordering.RecheckExplained
	return outcome == ordering.OutcomeNotSent || outcome == ordering.OutcomeRefused && freed
}

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
		found = &order{place: at}
	}
	c := j.store.newTx(found)
	call, opened := openedBy(found, o.ID)
	switch {
	case !opened:
		given := c.store.keys.OrderAborted(o.Connection, o.ID)
		c.stepUntil(after(abortedTTL), "set", given, "1")
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
