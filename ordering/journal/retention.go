package journal

import (
	"time"

	"larder/ordering"
)

// hold lets the record and its orderID live for as long as a call is open or
// unknown (policy O13).
func (c *change) hold() {
	c.step("keep", c.record())
	if c.order.revision != "" {
		c.step("drop", c.expiry(), c.order.member())
	}
	if id := c.fields[fieldOrderID]; id != "" {
		c.step("keep", c.id(id), c.order.place.ref)
	}
}

// holdGuests lets what is still there of the guest data live on too.
func (c *change) holdGuests() {
	for _, call := range c.order.Calls {
		c.step("keep", c.guest(call.Number))
	}
}

// release lets everything expire again, when a call has ended for good: the
// record record_ttl after the later of creation and expectedAt, but customer_data_ttl
// from now at least; the call's guest data customer_data_ttl from now, and that of
// every call when the outcome had been unknown (policy O13).
func (c *change) release(ended ordering.Call) {
	rel, abs := millis(c.cfg.CustomerDataTTL), c.recordUntil()
	c.step("life", c.record(), "", rel, abs)
	c.step("due", c.expiry(), c.order.member(), rel, abs)
	if id := c.fields[fieldOrderID]; id != "" {
		c.step("life", c.id(id), c.order.place.ref, rel, abs)
	}
	for _, call := range c.order.Calls {
		if call.Number == ended.Number || ended.Outcome == ordering.OutcomeUnknown {
			c.step("life", c.guest(call.Number), "", rel, 0)
		}
	}
}

// recordUntil is when the record may go, in milliseconds since the epoch.
func (c *change) recordUntil() int64 {
	from := c.order.CreatedAt
	if c.order.ExpectedAt.After(from) {
		from = c.order.ExpectedAt
	}
	until := from.Add(c.cfg.RecordTTL)
	for _, call := range c.order.Calls {
		for _, end := range []time.Time{call.EndedAt, settledAt(call)} {
			if kept := end.Add(c.cfg.CustomerDataTTL); kept.After(until) {
				until = kept
			}
		}
	}
	return epoch(until)
}

func settledAt(call ordering.Call) time.Time {
	if call.Settled == nil {
		return time.Time{}
	}
	return call.Settled.At
}
