package journal

import (
	"context"
	"errors"
	"slices"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Finish ends a call and records its result (policies O8, O9 and O12).
func (j *Journal) Finish(ctx context.Context, e ordering.CallResult) (ordering.Record, error) {
	contradicts := false
	var c *tx
	at := location{e.Connection, e.Ref}
	o, err := j.store.update(ctx, j.durability.commit, at, begunOrder(at, e), func(o *order) (_ *tx, err error) {
		call, ok := o.Call(e.Call)
		if !ok || e.SpecID != "" && call.SpecID != e.SpecID {
			return nil, ordering.ErrNoOrder // after a failover, another call may have this number
		}
		certain := call.Outcome.Certain()
		contradicts = certain && !agrees(o, call, e)
		if certain {
			c = addToEnded(j.store.newTx(o), call, e, contradicts)
		} else if c, err = j.endCall(ctx, o, call, e); err != nil {
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
	if c != nil && c.repeated != nil {
		c.repeated.Err = err
		return o.Record, c.repeated
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
	return &order{Record: *e.Known, revision: last.SpecID, unread: true}
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
		call.Contradicted, call.FoundOrderID, added = e.Outcome, e.OrderID, true
		c.touch()
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
func (j *Journal) endCall(ctx context.Context, o *order, call ordering.Call, e ordering.CallResult) (*tx, error) {
	c := j.store.newTx(o)
	if !addAttempts(&call, e.Attempts) && e.Outcome == call.Outcome && !call.EndedAt.IsZero() {
		return nil, nil // no change: the outcome is already recorded as unknown
	}
	c.touch()
	c.putAnswer(&call, e.Answer)
	call.EndedAt = atCommit()
	if e.Outcome == ordering.OutcomeDone && call.Operation == upstream.OpCreate && e.OrderID != "" {
		if err := c.takeOwnID(ctx, call, e.OrderID); err != nil {
			return nil, err
		}
	}
	if c.repeated != nil {
		e.Outcome = ordering.OutcomeUnknown
	}
	if e.Recheck && e.Outcome == ordering.OutcomeRefused && call.Key != "" {
		call.Recheck = ordering.RecheckRunning
	}
	c.setOutcome(call, e.Outcome, releasesKey(call, e.Outcome))
	return c, nil
}
