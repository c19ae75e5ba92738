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
// ctx's error. The caller passes the Slot to the call with WithCall, and calls Release afterwards.
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

// awaitToken waits for a token, with several attempts.
func (c *Client) awaitToken(ctx context.Context, until time.Time) error {
	if c.freshToken() != nil {
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

// EarlierEnd returns the earlier of end and the end of the slot's call. A slot that limits nothing may be nil.
func (s *Slot) EarlierEnd(end time.Time) time.Time {
	if s != nil && s.client != nil && s.deadline.Before(end) {
		return s.deadline
	}
	return end
}

// callOptions are the options of a call that writes, in its context.
type (
	callOptions struct {
		slot   *Slot
		report func(Attempt)
	}
	callKey struct{}
)

// WithCall returns a context for one call that writes. The call uses the slot; without one, it reserves its own for the
// client "". It reports each attempt when it has ended, on the calling goroutine. The result of the last attempt is the
// result of the call. report may be nil. It is not called for a call without attempts (errOrderID, or no slot or token).
func WithCall(ctx context.Context, s *Slot, report func(Attempt)) context.Context {
	return context.WithValue(ctx, callKey{}, callOptions{s, report})
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
		Waiting:    q.waiting,
		InFlight:   q.inFlight[reads] + q.inFlight[writes],
		OrderSlots: q.adaptive.limit(),
		SlotTime:   q.times[writes].mean(time.Now()),
		Rejected:   q.rejected,
	}
}

// ErrBusy means that no slot was free, or expected to be free, in time (policy O8a). Nothing was sent.
var ErrBusy = errors.New("too many calls wait for the ordering service")

// maxWaiting is the maximum number of calls that wait for a slot.
const maxWaiting = 10_000

// kind is the kind of a call. Each kind has its own limit of slots.
type kind int

const (
	reads kind = iota
	writes
	kinds
)

// readsClient is the client of all reads; they share its turns.
const readsClient = ""

// queue assigns a connection's slots and rate to the waiting calls (policy O8a): round-robin by
// client, and in order of arrival within a client.
type queue struct {
	mu          sync.Mutex
	slots       int            // maximum number of calls in flight
	rate        *rate.Limiter  // nil without a limit
	timer       bool           // a timer is running until the rate allows the next call
	clientOrder []*clientQueue // clients with waiting calls; the first is next
	waiting     int
	inFlight    [kinds]int
	times       [kinds]slotTimes
	adaptive    adaptiveLimit // of writes in flight
	rejected    Rejections
}

type clientQueue struct {
	client  string
	kind    kind
	waiters []*waiter
}

// waiter is a call that waits for a slot or has one.
type waiter struct {
	kind    kind
	queue   *clientQueue  // nil if the call got its slot at once
	granted chan struct{} // closed when the call gets its slot
	started time.Time     // when it got the slot; zero before
}

func newQueue(cfg Config) *queue {
	q := &queue{slots: cfg.Concurrency, adaptive: newAdaptiveLimit(cfg.Concurrency, cfg.Timeouts.Write/3)}
	if cfg.Rate > 0 {
		burst := int(math.Ceil(min(cfg.Rate, math.MaxInt32)))
		q.rate = rate.NewLimiter(rate.Limit(cfg.Rate), burst)
	}
	return q
}

// waitLimits limit the wait of a call. Zero times are no limits.
type waitLimits struct {
	predictedBy time.Time // a call that is expected to get its slot later does not wait
	waitUntil   time.Time // a call without a slot gives up then
}

// acquire waits for a slot. The error is ctx's, or ErrBusy with the predicted wait as RetryAfter.
func (q *queue) acquire(ctx context.Context, client string, k kind, p waitLimits) (*waiter, error) {
	q.mu.Lock()
	now := time.Now()
	if len(q.clientOrder) == 0 && q.hasSlot(k) && q.rateAllows(now) { // as join and assign would do it
		defer q.mu.Unlock()
		t := &waiter{kind: k}
		q.grant(t, now)
		return t, nil
	}
	t := q.join(client, k)
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

// await waits until the call has its slot, ctx ends, or the wait is too long.
func (q *queue) await(ctx context.Context, t *waiter, p waitLimits) (*waiter, error) {
	select {
	case <-t.granted:
		return t, nil
	default:
	}
	var expired <-chan time.Time
	if !p.waitUntil.IsZero() {
		timer := time.NewTimer(time.Until(p.waitUntil))
		defer timer.Stop()
		expired = timer.C
	}
	var gone error // ctx's error; nil if the wait was too long
	select {
	case <-t.granted:
		return t, nil
	case <-ctx.Done():
		gone = ctx.Err()
	case <-expired:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	granted := !t.started.IsZero() // granted at the same moment
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

// release releases a slot; used reports whether a call was made with it.
func (q *queue) release(t *waiter, used bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if used {
		took := now.Sub(t.started)
		q.times[t.kind].add(now, took)
		if t.kind == writes {
			q.adaptive.observe(t.started, now, took, q.inFlight[writes])
		}
	}
	q.free(t, now)
}

// free takes the slot from a call and assigns it to others. The caller must hold the lock.
func (q *queue) free(t *waiter, now time.Time) {
	q.inFlight[t.kind]--
	q.times[t.kind].end(t.started)
	q.assign(now)
}

// join adds a call after those of its client. Callers of join and of the functions below hold the lock.
func (q *queue) join(client string, k kind) *waiter {
	i := slices.IndexFunc(q.clientOrder, func(l *clientQueue) bool { return l.client == client && l.kind == k })
	if i < 0 {
		i = len(q.clientOrder)
		q.clientOrder = append(q.clientOrder, &clientQueue{client: client, kind: k})
	}
	t := &waiter{kind: k, queue: q.clientOrder[i], granted: make(chan struct{})}
	q.clientOrder[i].waiters = append(q.clientOrder[i].waiters, t)
	q.waiting++
	return t
}

// leave removes a call that has no slot.
func (q *queue) leave(t *waiter) {
	l := t.queue
	l.waiters = slices.DeleteFunc(l.waiters, func(other *waiter) bool { return other == t })
	q.waiting--
	if len(l.waiters) == 0 {
		q.clientOrder = slices.DeleteFunc(q.clientOrder, func(other *clientQueue) bool { return other == l })
	}
}

// assign assigns free slots to the next calls, as the rate allows.
func (q *queue) assign(now time.Time) {
	for {
		i := slices.IndexFunc(q.clientOrder, func(l *clientQueue) bool { return q.hasSlot(l.kind) })
		if i < 0 || !q.rateAllows(now) {
			return
		}
		l := q.clientOrder[i]
		t := l.waiters[0]
		l.waiters = l.waiters[1:]
		q.clientOrder = slices.Delete(q.clientOrder, i, i+1)
		if len(l.waiters) > 0 {
			q.clientOrder = append(q.clientOrder, l) // its next turn is after all other clients
		}
		q.waiting--
		q.grant(t, now)
		close(t.granted)
	}
}

// hasSlot reports whether a slot is free for a kind of call.
func (q *queue) hasSlot(k kind) bool {
	return q.inFlight[reads]+q.inFlight[writes] < q.slots && q.inFlight[k] < q.limit(k)
}

// grant assigns a slot to a call.
func (q *queue) grant(t *waiter, now time.Time) {
	q.inFlight[t.kind]++
	t.started = now
	q.times[t.kind].start(now)
}

// limit returns the maximum number of slots for a kind of call. Reads leave one free, so that an
// order never waits only for menus.
func (q *queue) limit(k kind) int {
	if k == reads {
		return max(1, q.slots-1)
	}
	return q.adaptive.limit()
}

// rateAllows takes one call from the rate. If the rate does not allow one, a timer assigns slots later.
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

// predict estimates how long the last call of a client waits: until all calls before it, and the call itself, have got
// a slot. That takes as many rounds as the client has calls, and each other client gets at most one slot per round.
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
