package journal

import (
	"cmp"
	"slices"
	"time"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// setOutcome sets a call's outcome and its effects. If frees is true, the key can be used again.
func (c *tx) setOutcome(call ordering.Call, outcome ordering.Outcome, frees bool) {
	n, before := call.Number, call.Outcome
	call.Outcome = outcome
	c.put(call)
	c.next.State = c.replaced(ordering.StateAfter(c.next.State, call.Operation, outcome))
	c.next.Paid = c.next.Paid || call.Operation == upstream.OpPay && outcome == ordering.OutcomeDone
	c.expireAgain(n, before == ordering.OutcomeUnknown)
	switch {
	case call.Key == "", outcome == ordering.OutcomeUnknown:
	case frees:
		c.doIf(c.idempotencyKey(call.Key), c.pointer(n), "DEL")
	default:
		c.doIf(c.idempotencyKey(call.Key), c.pointer(n), "PEXPIRE", milliseconds(c.store.cfg.KeyTTL))
	}
}

// replaced returns the state, or the one that replaces StatePlaced.
func (c *tx) replaced(state ordering.State) ordering.State {
	if state == ordering.StatePlaced {
		return cmp.Or(c.placedState, state)
	}
	return state
}

// releasesKey reports whether the key of a call can be used again after this outcome (policy O7).
func releasesKey(call ordering.Call, outcome ordering.Outcome) bool {
	freed := call.Derived || call.Recheck == ordering.RecheckExplained
	return outcome == ordering.OutcomeNotSent || outcome == ordering.OutcomeRefused && freed
}

// expireAgain lets the order expire after a call has ended, unless a call is open or unknown. The record expires record_ttl
// after the later of creation and expectedAt, but not before customer_data_ttl from now. The call's guest data expires
// customer_data_ttl from now, and if the outcome had been unknown, so does the guest data of every call. While an outcome
// is unknown, no guest data of the order expires (policy O13).
func (c *tx) expireAgain(ended int, wasUnknown bool) {
	if _, busy := c.next.Busy(); !busy {
		c.expires, c.in, c.notBefore = atTime, c.store.cfg.CustomerDataTTL, c.recordUntil()
	}
	_, unknown := c.next.UnknownCall()
	for _, call := range c.next.Calls {
		switch key := c.guestKey(call.Number); {
		case unknown:
			c.do(key, "PERSIST")
		case call.Number == ended || wasUnknown:
			c.do(key, "PEXPIRE", milliseconds(c.store.cfg.CustomerDataTTL))
		}
	}
}

// recordUntil returns the time at which the record may expire, in milliseconds since the epoch.
func (c *tx) recordUntil() int64 {
	until := later(c.next.CreatedAt, c.next.ExpectedAt).Add(c.store.cfg.RecordTTL)
	for _, call := range c.next.Calls {
		until = later(until, call.EndedAt.Add(c.store.cfg.CustomerDataTTL))
	}
	return epoch(until)
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
