package upstream

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
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

// ErrBusy means that no slot came free in time, or that none would have (policy
// O8a). Nothing was sent.
var ErrBusy = errors.New("too many calls wait for the ordering service")

// maxWaiting is how many calls wait for a slot at most, whatever their
// predicted wait is.
const maxWaiting = 10_000

// kind is what a call does. Each kind has its own limit of slots.
type kind int

const (
	reads kind = iota
	writes
	kinds
)

// readsClient is the client of all reads: they share its turns.
const readsClient = ""

// queue assigns a connection's slots, and its rate, to the calls that wait for
// them (policy O8a): round-robin by client, in order of arrival within one.
type queue struct {
	mu          sync.Mutex
	slots       int            // the most calls at a time
	rate        *rate.Limiter  // nil: no limit
	timer       bool           // a timer runs that assigns slots when the rate allows it
	clientOrder []*clientQueue // the clients with calls that wait; the first is next
	waiting     int
	inFlight    [kinds]int
	times       [kinds]slotTimes
	adaptive    adaptiveLimit // of writes in flight
	rejected    Rejections
}

// clientQueue holds the waiting calls of one client.
type clientQueue struct {
	client  string
	kind    kind
	waiters []*waiter
}

// waiter is one call that waits for a slot, or has one.
type waiter struct {
	queue   *clientQueue
	granted chan struct{} // closed with the slot
	started time.Time     // when it got the slot; the zero time: not yet
}

func newQueue(cfg Config) *queue {
	q := &queue{slots: cfg.Concurrency, adaptive: newAdaptiveLimit(cfg.Concurrency, cfg.Timeouts.Write/3)}
	if cfg.Rate > 0 {
		burst := int(math.Ceil(min(cfg.Rate, math.MaxInt32)))
		q.rate = rate.NewLimiter(rate.Limit(cfg.Rate), burst)
	}
	return q
}

// waitLimits bounds how long a call waits. The zero times are no bounds.
type waitLimits struct {
	predictedBy time.Time // a call that would get its slot later does not wait at all
	waitUntil   time.Time // a call that has no slot by then gives up
}

// acquire waits for a slot. The error is ctx's, or an ErrBusy with the predicted
// wait as RetryAfter.
func (q *queue) acquire(ctx context.Context, client string, k kind, p waitLimits) (*waiter, error) {
	q.mu.Lock()
	t := q.join(client, k)
	now := time.Now()
	q.assign(now)
	if t.started.IsZero() && !p.predictedBy.IsZero() {
		wait := q.predict(t.queue, now)
		if q.waiting > maxWaiting || now.Add(wait).After(p.predictedBy) {
			q.leave(t)
			q.rejected.OnArrival++
			q.mu.Unlock()
			return nil, busy(wait)
		}
	}
	q.mu.Unlock()
	return q.await(ctx, t, p)
}

// await waits until the call has its slot, ctx ends, or it has waited too long.
func (q *queue) await(ctx context.Context, t *waiter, p waitLimits) (*waiter, error) {
	var expired <-chan time.Time
	if !p.waitUntil.IsZero() {
		timer := time.NewTimer(time.Until(p.waitUntil))
		defer timer.Stop()
		expired = timer.C
	}
	var gone error // why the caller waits no longer; nil: the wait was too long
	select {
	case <-t.granted:
		return t, nil
	case <-ctx.Done():
		gone = ctx.Err()
	case <-expired:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	granted := !t.started.IsZero() // in the same moment
	switch {
	case granted && gone == nil:
		return t, nil
	case granted:
		q.free(t, time.Now())
		return nil, gone
	case gone != nil:
		q.leave(t)
		return nil, gone
	}
	if !p.predictedBy.IsZero() { // not a repeat
		q.rejected.AfterWaiting++
	}
	wait := q.predict(t.queue, time.Now())
	q.leave(t)
	return nil, busy(wait)
}

// release gives a slot back; used reports whether a call was made with it.
func (q *queue) release(t *waiter, used bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if used {
		took := now.Sub(t.started)
		q.times[t.queue.kind].add(now, took)
		if t.queue.kind == writes {
			q.adaptive.observe(t.started, now, took, q.inFlight[writes])
		}
	}
	q.free(t, now)
}

// free takes the slot of a call away and assigns it. The caller holds the lock.
func (q *queue) free(t *waiter, now time.Time) {
	q.inFlight[t.queue.kind]--
	q.times[t.queue.kind].end(t.started)
	q.assign(now)
}

// join adds a call behind those of its client. The caller holds the lock, as
// for all that follow.
func (q *queue) join(client string, k kind) *waiter {
	i := slices.IndexFunc(q.clientOrder, func(l *clientQueue) bool { return l.client == client && l.kind == k })
	if i < 0 {
		i = len(q.clientOrder)
		q.clientOrder = append(q.clientOrder, &clientQueue{client: client, kind: k})
	}
	t := &waiter{queue: q.clientOrder[i], granted: make(chan struct{})}
	q.clientOrder[i].waiters = append(q.clientOrder[i].waiters, t)
	q.waiting++
	return t
}

// leave drops a call that has no slot.
func (q *queue) leave(t *waiter) {
	l := t.queue
	l.waiters = slices.DeleteFunc(l.waiters, func(other *waiter) bool { return other == t })
	q.waiting--
	if len(l.waiters) == 0 {
		q.clientOrder = slices.DeleteFunc(q.clientOrder, func(other *clientQueue) bool { return other == l })
	}
}

// assign gives free slots to the calls whose turn it is, as the rate allows.
func (q *queue) assign(now time.Time) {
	for q.inFlight[reads]+q.inFlight[writes] < q.slots {
		i := slices.IndexFunc(q.clientOrder, func(l *clientQueue) bool { return q.inFlight[l.kind] < q.limit(l.kind) })
		if i < 0 || !q.rateAllows(now) {
			return
		}
		l := q.clientOrder[i]
		t := l.waiters[0]
		l.waiters = l.waiters[1:]
		q.clientOrder = slices.Delete(q.clientOrder, i, i+1)
		if len(l.waiters) > 0 {
			q.clientOrder = append(q.clientOrder, l) // the client's next turn is after all others
		}
		q.waiting--
		q.inFlight[l.kind]++
		t.started = now
		q.times[l.kind].start(now)
		close(t.granted)
	}
}

// limit is how many slots a kind of call may have. Reads leave one free, so
// that an order never waits behind menus alone.
func (q *queue) limit(k kind) int {
	if k == reads {
		return max(1, q.slots-1)
	}
	return q.adaptive.limit()
}

// rateAllows takes one call from the rate. If the rate allows none now, a timer
// assigns slots when it does.
func (q *queue) rateAllows(now time.Time) bool {
	if q.rate == nil || q.rate.AllowN(now, 1) {
		return true
	}
	if q.timer {
		return false
	}
	next := q.rate.ReserveN(now, 1)
	delay := next.DelayFrom(now)
	next.CancelAt(now)
	q.timer = true
	time.AfterFunc(delay, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.timer = false
		q.assign(time.Now())
	})
	return false
}

// predict estimates how long the last call of a client has to wait: until as
// many calls as are before it, and it itself, have got a slot. In as many
// rounds as the client has calls, each other client gets at most one slot per
// round.
func (q *queue) predict(l *clientQueue, now time.Time) time.Duration {
	var ahead [kinds]int
	for _, other := range q.clientOrder {
		ahead[other.kind] += min(len(other.waiters), len(l.waiters))
	}
	wait := time.Duration(0)
	for k, calls := range ahead {
		slots := q.slots
		if kind(k) == writes {
			slots = q.adaptive.limit()
		}
		wait += time.Duration(calls) * q.times[k].mean(now) / time.Duration(slots)
	}
	if q.rate != nil {
		missing := float64(ahead[reads]+ahead[writes]) - q.rate.TokensAt(now)
		seconds := min(max(0, missing/float64(q.rate.Limit())), math.MaxInt32)
		wait = max(wait, time.Duration(seconds*float64(time.Second)))
	}
	return wait
}

func busy(wait time.Duration) *Error { return &Error{Err: ErrBusy, RetryAfter: wait} }
