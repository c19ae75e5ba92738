package upstream

import (
	"context"
	"errors"
	"time"
)

// Slot is the right to make one call that writes. Its time limit starts when the caller's request arrives (policy O8a).
type Slot struct {
	client *Client
	name   string  // client, for round-robin
	waiter *waiter // nil: the call has no slot
	used   bool    // a call was made with the slot

	sendBy   time.Time // latest first attempt: two thirds of the limit remain
	repeatBy time.Time // latest repeat: one third remains
	deadline time.Time // end of the call
}

// Reserve waits for a token, for a slot and for the rate limit, on behalf of a client that shares
// the connection's capacity with others (policy O8a). The time limit of the call, timeouts.write,
// starts at arrived; the wait takes less than a third of it.
//
// If Reserve fails, nothing was sent. It returns an *Error: ErrBusy with RetryAfter if there is no
// capacity in time, which is usually predicted immediately; the failure of the token endpoint; or
// ctx's error. The caller passes the Slot to Write, and calls Release afterwards.
func (c *Client) Reserve(ctx context.Context, op Operation, client string, arrived time.Time) (*Slot, error) {
	limit := c.cfg.Timeouts.Write
	s := &Slot{client: c, name: client, sendBy: arrived.Add(limit / 3), repeatBy: arrived.Add(limit * 2 / 3), deadline: arrived.Add(limit)}
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

// Free reports whether Reserve would get a slot at once, without using up a rate limit. That may change at any time.
func (c *Client) Free(ctx context.Context) bool {
	return c.validToken(ctx) != nil && c.queue.isFree(time.Now())
}

// awaitToken waits for a token, with several attempts.
func (c *Client) awaitToken(ctx context.Context, until time.Time) error {
	if c.validToken(ctx) != nil {
		return ctx.Err()
	}
	limited, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	_, err := c.retry(limited, until, writePause, func(context.Context) (*httpAnswer, error) {
		_, err := c.Token(limited)
		return nil, err
	})
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil {
		return busy(time.Second)
	}
	return err
}

// Release releases the slot. It may be called several times, and on nil.
func (s *Slot) Release() {
	if s == nil || s.waiter == nil {
		return
	}
	s.client.queue.release(s.waiter, s.used)
	s.waiter, s.used = nil, false
}

// hold acquires the slot for a repeat, after it was released for the pause. The wait counts as a
// part of the call, which was admitted before.
func (s *Slot) hold(ctx context.Context) error {
	if s.waiter != nil {
		return nil
	}
	var err error
	s.waiter, err = s.client.queue.acquire(ctx, s.name, writes, waitLimits{waitUntil: s.repeatBy})
	return err
}

// Rejections counts calls that got no slot (policy O8a).
type Rejections struct{ OnArrival, AfterWaiting uint64 }

// Load is the load of a connection.
type Load struct {
	// Waiting and InFlight count calls, including reads.
	Waiting, InFlight int
	OrderSlots        int           // current maximum of writes in flight
	SlotTime          time.Duration // mean time for which a write has its slot
	Rejected          Rejections
}

// Load returns the load of the connection.
func (c *Client) Load() Load {
	q := c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	return Load{
		Waiting:    q.waiting[reads] + q.waiting[writes],
		InFlight:   q.inFlight[reads] + q.inFlight[writes],
		OrderSlots: q.adaptive.limit(),
		SlotTime:   q.times[writes].mean(time.Now()),
		Rejected:   q.rejected,
	}
}
