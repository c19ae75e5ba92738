package upstream

import (
	"context"
	"errors"
	"time"
)

// Slot is the right to make one call that writes. Its time limit started when
// the caller's request arrived (policy O8a).
type Slot struct {
	client *Client
	name   string  // the client's, for its turn
	waiter *waiter // nil: the slot is not held
	used   bool    // a call was made with it

	sendBy   time.Time // the call is sent first by then: two thirds of its limit remain
	repeatBy time.Time // it is repeated by then: one third remains
	deadline time.Time // the end of the call
}

// Reserve waits for a token, for a slot and for the rate, on behalf of the
// named client, which shares the connection's capacity with the others
// (policy O8a). The time limit of the call, timeouts.write, starts at arrived;
// the wait takes less than a third of it.
//
// The error is an *Error: with ErrBusy and RetryAfter when there is no capacity
// in time, which is mostly known at once; the token endpoint's failure; or ctx's.
// Nothing was sent then. The caller gives the Slot to the call by WithSlot, and
// calls Release.
func (c *Client) Reserve(ctx context.Context, op Operation, client string, arrived time.Time) (*Slot, error) {
	limit := c.cfg.Timeouts.Write
	s := &Slot{
		client: c, name: client,
		sendBy: arrived.Add(limit / 3), repeatBy: arrived.Add(limit * 2 / 3), deadline: arrived.Add(limit),
	}
	bounds := waitLimits{predictedBy: arrived.Add(limit / 4), waitUntil: arrived.Add(limit * 3 / 10)}
	err := c.awaitToken(ctx, bounds.waitUntil)
	if err == nil {
		s.waiter, err = c.queue.acquire(ctx, client, writes, bounds)
	}
	if err == nil {
		return s, nil
	}
	e := notSent(op, err)
	if errors.Is(err, ErrBusy) {
		e.Err = ErrBusy
		e.RetryAfter += c.jitter(e.RetryAfter / 2)
	}
	return nil, e
}

// awaitToken waits until there is a token in memory, trying several times.
func (c *Client) awaitToken(ctx context.Context, until time.Time) error {
	if c.freshToken() != nil {
		return ctx.Err()
	}
	limited, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	_, err := c.retry(limited, writePause, func() (*answer, error) {
		_, err := c.Token(limited)
		return nil, err
	})
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil {
		return busy(time.Second)
	}
	return err
}

// Release gives the slot back. Calling it again, or of nil, does nothing.
func (s *Slot) Release() {
	if s == nil || s.waiter == nil {
		return
	}
	s.client.queue.release(s.waiter, s.used)
	s.waiter, s.used = nil, false
}

// hold gets the slot for a repeat; it was given back for the pause before. The
// wait counts as a part of the call: it has been admitted before.
func (s *Slot) hold(ctx context.Context) error {
	if s.waiter != nil {
		return nil
	}
	var err error
	s.waiter, err = s.client.queue.acquire(ctx, s.name, writes, waitLimits{waitUntil: s.repeatBy})
	return err
}

// slotKey is where a context holds the Slot of the call.
type slotKey struct{}

// WithSlot returns a context whose call that writes uses the slot. A call
// without one reserves its own, as the client "".
func WithSlot(ctx context.Context, s *Slot) context.Context {
	return context.WithValue(ctx, slotKey{}, s)
}

// slotOf returns the slot that the caller has reserved, or reserves one.
func (c *Client) slotOf(ctx context.Context, op Operation) (*Slot, error) {
	if s, ok := ctx.Value(slotKey{}).(*Slot); ok && s != nil && s.client == c {
		return s, nil
	}
	return c.Reserve(ctx, op, "", time.Now())
}

// Rejections counts the calls that got no slot (policy O8a).
type Rejections struct{ OnArrival, AfterWaiting uint64 }

// Load is how busy a connection is.
type Load struct {
	// Waiting and InFlight count calls, reads included.
	Waiting, InFlight int
	// OrderSlots is how many calls that write are in flight at most, now.
	OrderSlots int
	// SlotTime is the mean time that a call that writes holds a slot.
	SlotTime time.Duration
	Rejected Rejections
}

// Load returns how busy the connection is.
func (c *Client) Load() Load {
	q := c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	return Load{
		Waiting: q.waiting, InFlight: q.inFlight[reads] + q.inFlight[writes], OrderSlots: q.adaptive.limit(),
		SlotTime: q.times[writes].mean(time.Now()), Rejected: q.rejected,
	}
}
