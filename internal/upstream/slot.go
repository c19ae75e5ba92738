package upstream

import (
	"context"
	"errors"
	"time"
)

// Slot is the right to make one call that writes. Its time limit started when
// the caller's request arrived (policy O8a).
type Slot struct {
	client  *Client
	name    string    // the client's, for its turn
	arrived time.Time // of the request
	ticket  *ticket   // nil: the slot is not held
	used    bool      // a call was made with the ticket
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
	s := &Slot{client: c, name: client, arrived: arrived}
	err := s.reserve(ctx)
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

func (s *Slot) reserve(ctx context.Context) error {
	bounds := patience{predicted: s.after(1, 4), waited: s.after(3, 10)}
	if err := s.client.awaitToken(ctx, bounds.waited); err != nil {
		return err
	}
	ticket, err := s.client.queue.acquire(ctx, s.name, writes, bounds)
	if err != nil {
		return err
	}
	s.ticket = ticket
	return nil
}

// awaitToken waits until there is a token in memory, trying several times.
func (c *Client) awaitToken(ctx context.Context, until time.Time) error {
	if c.tokens.fresh() != nil {
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
	if s == nil || s.ticket == nil {
		return
	}
	s.client.queue.release(s.ticket, s.used)
	s.ticket, s.used = nil, false
}

// hold gets the slot for a repeat; it was given back for the pause before. The
// wait counts as a part of the call: it has been admitted before.
func (s *Slot) hold(ctx context.Context) error {
	if s.ticket != nil {
		return nil
	}
	ticket, err := s.client.queue.acquire(ctx, s.name, writes, patience{waited: s.repeatBy()})
	if err == nil {
		s.ticket = ticket
	}
	return err
}

// after returns when a share of the time limit has passed.
func (s *Slot) after(part, of int) time.Time {
	return s.arrived.Add(s.client.cfg.Timeouts.Write * time.Duration(part) / time.Duration(of))
}

// deadline is the end of the call.
func (s *Slot) deadline() time.Time { return s.after(1, 1) }

// sendBy is until when the call is sent first: two thirds of the limit remain.
func (s *Slot) sendBy() time.Time { return s.after(1, 3) }

// repeatBy is until when the call is repeated: one third of the limit remains.
func (s *Slot) repeatBy() time.Time { return s.after(2, 3) }

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
