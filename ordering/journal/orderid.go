package journal

import (
	"context"
	"crypto/rand"
	"errors"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// takeOwnID is takeID for a create that has succeeded. If the service gave another order of the same restaurant this
// orderID less than a minute before the call started, or later, it takes nothing, and sets repeated.
func (c *tx) takeOwnID(ctx context.Context, call ordering.Call, orderID string) error {
	c.repeated = nil
	err := c.takeID(ctx, orderID, func(orderID string, other *order) error {
		if other.GotIDBefore(c.next.Restaurant, call.StartedAt) {
			return &ordering.IDRepeatedError{OrderID: orderID, Other: other.Ref}
		}
		return nil
	})
	if errors.As(err, &c.repeated) {
		return nil
	}
	return err
}

// takeID sets the order's orderID, even if another order has the same one. The orderID then refers
// to this order only. In its record, an adopted other order loses the orderID; an order that larder
// placed keeps it. allow, if not nil, may return an error that prevents this.
func (c *tx) takeID(ctx context.Context, orderID string, allow func(orderID string, other *order) error) (err error) {
	var ref string
	var other *order
	if !c.order.unread { // otherwise the check fails if the orderID exists, which is rare
		if ref, other, err = c.store.named(ctx, c.connection(), c.orderIDKey(orderID)); err != nil {
			return err
		}
	}
	c.check(c.orderIDKey(orderID), ref)
	switch {
	case other == nil || other.Ref == c.order.Ref:
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
// orderID. Then this order takes over the state, and a change that is open or unknown as an unknown
// one. Otherwise the other is a different order: its payment does not count here, and its changes
// without a client's key can be requested again.
func (c *tx) supersede(other *order) error {
	c.checkRevision(other)
	if other.Adopted {
		without := other.Record
		without.OrderID = ""
		text, err := encode(rand.Text(), &without)
		if err != nil {
			return err
		}
		c.doNow(c.store.keys.Order(c.connection(), other.Ref), "SET", text, keepTTL)
	}
	if other.Adopted && other.CreatedAt.After(c.order.CreatedAt) {
		c.placedState = other.State
		c.next.Paid = c.next.Paid || other.Paid
		if call, busy := other.Busy(); busy { // its effect on this order is not known here (policy O9)
			call.Number, call.SpecID, call.Key, call.Answer = freeNumber(c.next.Calls, 1), "", "", nil
			call.Outcome, call.EndedAt = ordering.OutcomeUnknown, atCommit()
			c.put(call)
		}
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
	key := c.store.keys.OrderIDOf(c.connection(), orderID, other.Source)
	c.do(key, "SET", other.Ref, "PX", milliseconds(c.store.cfg.RecordTTL))
	c.freeDerivedKeys(other)
}

func (c *tx) freeDerivedKeys(other *order) {
	for _, call := range other.Calls {
		if call.Derived && call.Key != "" {
			c.doIf(c.idempotencyKey(call.Key), other.Ref+callSuffix(call.Number), "DEL")
		}
	}
}

// mayTake rejects taking an orderID from an order that larder placed, and from an adopted one with
// a change whose outcome is not certain.
func mayTake(orderID string, other *order) error {
	if !other.Adopted {
		return &ordering.OrderIDTakenError{OrderID: orderID, Ref: other.Ref}
	}
	if call, busy := other.Busy(); busy {
		return &ordering.BusyError{Record: other.Record, Call: call}
	}
	return nil
}

// takeKnownID takes the orderID of a lost create, and returns the outcome of the create: an orderID that another order
// has got since is not believed (policy O17), unless a person has named it.
func (c *tx) takeKnownID(ctx context.Context, call ordering.Call, orderID string) (ordering.Outcome, error) {
	if call.Operation != upstream.OpCreate || call.Resolved != nil {
		return call.Outcome, c.takeID(ctx, orderID, nil)
	}
	err := c.takeOwnID(ctx, call, orderID)
	if c.repeated != nil {
		return ordering.OutcomeUnknown, err
	}
	return call.Outcome, err
}
