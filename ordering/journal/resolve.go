package journal

import (
	"context"
	"errors"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Resolve records what a person found out about an unknown outcome (policy O12). A call to send
// again is opened as Begin does it (policies O14 and O14a).
func (j *Journal) Resolve(ctx context.Context, s ordering.ResolveCall) (ordering.Record, error) {
	return orAccept(ctx, j, s.Connection, func() (ordering.Record, error) { return j.resolveCall(ctx, s) })
}

func (j *Journal) resolveCall(ctx context.Context, s ordering.ResolveCall) (ordering.Record, error) {
	if err := j.durability.recovered(ctx, s.Connection); err != nil {
		return ordering.Record{}, failed("resolve", s.Connection, err)
	}
	o, err := j.store.update(ctx, j.durability.commit, location{s.Connection, s.Ref}, nil, func(o *order) (*tx, error) {
		call, ok := o.LastUnknown(s.Operation)
		if s.Call != 0 {
			call, ok = o.Call(s.Call)
		}
		if !ok || call.Operation != s.Operation || call.Outcome != ordering.OutcomeUnknown || s.SpecID != "" && s.SpecID != call.SpecID {
			return nil, &ordering.StateError{Record: o.Record, Operation: s.Operation}
		}
		if o.Foreign && s.Resolution == ordering.ResolvedRetry {
			return nil, &ordering.SourceError{Record: o.Record}
		}
		return j.resolveTx(ctx, o, call, s)
	})
	switch {
	case err == nil:
		return o.Record, nil
	case errors.Is(err, errReplicas) && s.Resolution != ordering.ResolvedRetry:
		return o.Record, unreplicated("resolve", s.Connection, err)
	case errors.Is(err, errReplicas) && s.ID != "":
		again := ordering.CallSpec{ID: s.ID, Operation: s.Operation, Connection: s.Connection, Ref: s.Ref}
		err = errors.Join(err, j.abortCall(ctx, again))
	}
	return ordering.Record{}, failed("resolve", s.Connection, err)
}

func (j *Journal) resolveTx(ctx context.Context, o *order, call ordering.Call, s ordering.ResolveCall) (*tx, error) {
	n, c := call.Number, j.store.newTx(o)
	c.touch()
	again := s.Resolution == ordering.ResolvedRetry
	if again && call.SpecID == "" { // a copy: the service may still get the original (see supersede)
		return nil, ordering.ErrNoBody
	}
	call.Resolved = &ordering.ResolvedBy{By: s.By, At: atCommit(), Resolution: s.Resolution, Note: s.Note}
	call.EndedAt = atCommit()
	if s.Resolution == ordering.ResolvedDone {
		if call.Operation == upstream.OpCreate && s.OrderID != "" {
			if err := c.takeID(ctx, s.OrderID, mayTake); err != nil {
				return nil, err
			}
		}
		c.setOutcome(call, ordering.OutcomeDone, false)
		return c, nil
	}
	// A call that is not done is refused, but a client's own key stays, so that its replay returns
	// the resolution. With ResolvedRetry the key belongs to the new call.
	c.setOutcome(call, ordering.OutcomeRefused, s.Resolution == ordering.ResolvedNotDone && call.Derived)
	if !again {
		return c, nil
	}
	if err := c.next.MayBegin(s.Operation); err != nil {
		return nil, err
	}
	body, err := j.store.sent(ctx, j.store.write, location{o.Connection, o.Ref}, n)
	if err != nil && (call.Operation != upstream.OpComplete || !errors.Is(err, ordering.ErrNoBody)) {
		return nil, err
	}
	if call.Operation == upstream.OpCreate {
		c.next.State = ordering.StatePlacing
	} else {
		c.dropOldest()
	}
	if s.ID != "" {
		if err := j.store.isAborted(ctx, s.Connection, s.ID); err != nil {
			return nil, err
		}
		c.check(c.store.keys.OrderAborted(s.Connection, s.ID), "")
	}
	call.SpecID, call.RequestID = s.ID, s.RequestID
	c.openCall(call, body, s.Deadline)
	return c, nil
}
