package journal

import (
	"context"
	"errors"
	"fmt"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// Recreate writes a finished call and its record again if Redis has lost them, after a failover to
// a replica that lacked them or after a backup was restored (policies O14 and O14a).
func (j *Journal) Recreate(ctx context.Context, known ordering.Record, number int, body []byte) (ordering.Record, int, error) {
	call, ok := known.Call(number)
	if !ok || !call.Outcome.Certain() && call.Outcome != ordering.OutcomeUnknown {
		return ordering.Record{}, 0, failed("recreate", known.Connection, fmt.Errorf("%w: call %d has not ended", errCorrupt, number))
	}
	o, n, err := (*order)(nil), 0, errMoved
	for errors.Is(err, errMoved) {
		o, n, err = j.recreateCall(ctx, known, call, body)
	}
	if o == nil {
		return ordering.Record{}, 0, failed("recreate", known.Connection, err)
	}
	return o.Record, n, unreplicated("recreate", known.Connection, err)
}

func (j *Journal) recreateCall(ctx context.Context, known ordering.Record, call ordering.Call, body []byte) (*order, int, error) {
	at := location{known.Connection, known.Ref}
	o, err := j.store.readOrder(ctx, j.store.write, at)
	if errors.Is(err, ordering.ErrNoOrder) {
		o, err = j.commitRecord(ctx, known, call, body)
		return o, call.Number, err
	}
	if err != nil {
		return nil, 0, err
	}
	if there, opened := openedBy(o, call.SpecID); opened {
		o, err = j.durability.commit(ctx, j.store.newTx(o)) // a write for WAIT
		return o, there.Number, err
	}
	if changesIn(o.Calls) >= ordering.MaxCalls {
		return nil, 0, ordering.ErrNoOrder // the record has dropped the call
	}
	c := j.store.newTx(o)
	c.touch()
	c.next.Paid = c.next.Paid || known.Paid
	if err := c.endKnown(ctx, known); err != nil {
		return nil, 0, err
	}
	for _, earlier := range known.Calls {
		if _, there := openedBy(o, earlier.SpecID); there || earlier.SpecID == "" || earlier.Number >= call.Number || !earlier.Outcome.Certain() {
			continue
		}
		if _, err := c.addKnown(ctx, known, earlier, nil); err != nil { // of earlier calls only the outcome is known
			return nil, 0, err
		}
	}
	n, err := c.addKnown(ctx, known, call, body)
	if err != nil {
		return nil, 0, err
	}
	o, err = j.durability.commit(ctx, c)
	return o, n, err
}

// endKnown writes the ends of calls that Redis has lost. Without them the order would stay blocked. If Redis has another
// outcome, both are recorded.
func (c *tx) endKnown(ctx context.Context, known ordering.Record) (err error) {
	for _, there := range c.order.Calls {
		call, ended := openedBy(&order{Record: known}, there.SpecID)
		if !ended || !call.Outcome.Certain() {
			continue
		}
		if there.Outcome.Certain() {
			if (there.Outcome == ordering.OutcomeDone) != (call.Outcome == ordering.OutcomeDone) {
				there.Contradicted = call.Outcome
				if call.Operation == upstream.OpCreate && call.Outcome == ordering.OutcomeDone {
					there.FoundOrderID = known.OrderID
				}
				c.put(there)
			}
			continue
		}
		outcome := call.Outcome
		if call.Operation == upstream.OpCreate && outcome == ordering.OutcomeDone && known.OrderID != "" {
			if outcome, err = c.takeKnownID(ctx, call, known.OrderID); err != nil {
				return err
			}
		}
		call.Number, call.Outcome, call.Attempts = there.Number, there.Outcome, storedAttempts(call.Attempts)
		c.putAnswer(&call, call.Answer)
		c.setOutcome(call, outcome, releasesKey(call, outcome))
	}
	return nil
}

// addKnown adds a call that Redis has lost, with a new number if another call has its own, and returns the number.
func (c *tx) addKnown(ctx context.Context, known ordering.Record, call ordering.Call, body []byte) (n int, err error) {
	if call.Operation == upstream.OpCreate && call.Outcome == ordering.OutcomeDone && known.OrderID != "" {
		if call.Outcome, err = c.takeKnownID(ctx, call, known.OrderID); err != nil {
			return 0, err
		}
	}
	call.Number = freeNumber(c.next.Calls, call.Number)
	c.next.State = c.replaced(ordering.StateAfter(c.next.State, call.Operation, call.Outcome))
	return call.Number, c.putCall(ctx, call, body)
}

func (j *Journal) commitRecord(ctx context.Context, known ordering.Record, ended ordering.Call, body []byte) (*order, error) {
	c := j.store.newTx(&order{Record: known})
	c.touch()
	c.next.OrderID = ""
	created, _ := known.Last(upstream.OpCreate) // none if larder did not place the order
	if known.OrderID != "" {
		outcome, err := c.takeKnownID(ctx, created, known.OrderID)
		if err != nil {
			return nil, err
		}
		if outcome != created.Outcome {
			created.Outcome, c.next.State = outcome, ordering.StateUnknown
		}
	}
	c.next.State = c.replaced(c.next.State)
	for _, call := range known.Calls {
		var sent []byte // of earlier calls only the outcome is known
		if call.Number == ended.Number {
			sent = body
		}
		if call.Number == created.Number {
			call = created
		}
		if err := c.putCall(ctx, call, sent); err != nil {
			return nil, err
		}
	}
	return j.durability.commit(ctx, c)
}

// putCall adds a known call.
func (c *tx) putCall(ctx context.Context, call ordering.Call, body []byte) error {
	call.Attempts = storedAttempts(call.Attempts)
	if len(body) > 0 {
		c.do(c.guestKey(call.Number), "HSET", fieldBody, string(body))
	}
	c.putAnswer(&call, call.Answer)
	c.put(call)
	c.next.Paid = c.next.Paid || call.Operation == upstream.OpPay && call.Outcome == ordering.OutcomeDone
	c.expireAgain(call.Number, false)
	return c.takeKey(ctx, call)
}

// takeKey makes the call the owner of its key, unless another call has taken it since, also one of this order.
func (c *tx) takeKey(ctx context.Context, call ordering.Call) error {
	if call.Key == "" || releasesKey(call, call.Outcome) || call.Resolved != nil && call.Resolved.Resolution == ordering.ResolvedRetry {
		return nil
	}
	value, taken, err := c.store.keyOwner(ctx, c.connection(), call.Key, "")
	if err != nil {
		return err
	}
	if taken != nil {
		holder, _ := c.next.Call(taken.Call)
		gone := releasesKey(holder, holder.Outcome) || holder.Resolved != nil && holder.Resolved.Resolution == ordering.ResolvedRetry
		if taken.Record.Ref != c.order.Ref || holder.Key == call.Key && holder.Number != call.Number && !gone {
			return nil
		}
	}
	c.check(c.idempotencyKey(call.Key), value)
	owns := []string{c.pointer(call.Number)}
	if call.Outcome.Certain() {
		owns = append(owns, "PX", milliseconds(c.store.cfg.KeyTTL))
	}
	c.do(c.idempotencyKey(call.Key), "SET", owns...)
	return nil
}
