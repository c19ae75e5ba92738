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

// Limits of the slots that reads use (policy O8c).
const (
	// fastRead is the longest read that counts as fast. Reads use more than a quarter of the slots only while fast reads
	// end: slow ones would keep their slots when orders arrive.
	fastRead    = 250 * time.Millisecond
	fastReadFor = time.Second
	// recently is how long reads leave the slots free that writes have used.
	recently = 10 * time.Second
	// shrunkFor is how long a reduction of the writes in flight limits the reads.
	shrunkFor = time.Minute
	// maxReadWait is how long a read lets writes go first if no read is in flight.
	maxReadWait = 2 * time.Second
)

// queue assigns a connection's slots and rate to the waiting calls (policies O8a, O8c): writes before reads,
// round-robin by client, and in order of arrival within a client.
type queue struct {
	mu          sync.Mutex
	slots       int                   // maximum number of calls in flight
	rate        *rate.Limiter         // nil without a limit
	timer       bool                  // a timer is running until the rate allows the next call
	clientOrder [kinds][]*clientQueue // clients with waiting calls; the first is next
	waiting     [kinds]int
	inFlight    [kinds]int
	fastReadAt  time.Time // when the last fast read ended
	peak        int       // the most writes in flight recently
	peakAt      time.Time // the last time with that number
	times       [kinds]slotTimes
	adaptive    adaptiveLimit // of writes in flight
	rejected    Rejections
}

type clientQueue struct {
	client  string
	waiters []*waiter
}

// waiter is a call that waits for a slot or has one.
type waiter struct {
	kind    kind
	joined  time.Time
	queue   *clientQueue
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
	t := q.join(client, k, now)
	q.assign(now)
	if t.started.IsZero() && !p.predictedBy.IsZero() {
		wait := q.predict(t, now)
		if q.waiting[k] > maxWaiting || now.Add(wait).After(p.predictedBy) {
			q.leave(t)
			q.rejected.OnArrival++
			q.mu.Unlock()
			return nil, busy(wait)
		}
	}
	q.mu.Unlock()
	return q.await(ctx, t, p)
}

// isFree reports whether a write would get a slot at once, without using up a rate.
func (q *queue) isFree(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting == [kinds]int{} && q.hasSlot(writes, now) && q.rate == nil
}

// await waits until the call has its slot, ctx ends, or the wait is too long.
func (q *queue) await(ctx context.Context, t *waiter, p waitLimits) (*waiter, error) {
	var expired <-chan time.Time
	if !p.waitUntil.IsZero() {
		expired = time.After(time.Until(p.waitUntil))
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
	if !t.started.IsZero() { // granted at the same moment
		return t, nil
	}
	wait := q.predict(t, time.Now())
	if q.leave(t); gone != nil {
		return nil, gone
	}
	if !p.predictedBy.IsZero() { // not a repeat
		q.rejected.AfterWaiting++
	}
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
		switch {
		case t.kind == writes:
			q.adaptive.observe(t.started, now, took, q.inFlight[writes])
		case took <= fastRead:
			q.fastReadAt = now
		}
	}
	q.inFlight[t.kind]--
	q.times[t.kind].end(t.started)
	q.assign(now)
}

// join adds a call after those of its client. Callers of join and of the functions below hold the lock.
func (q *queue) join(client string, k kind, now time.Time) *waiter {
	i := slices.IndexFunc(q.clientOrder[k], func(l *clientQueue) bool { return l.client == client })
	if i < 0 {
		i = len(q.clientOrder[k])
		q.clientOrder[k] = append(q.clientOrder[k], &clientQueue{client: client})
	}
	l := q.clientOrder[k][i]
	t := &waiter{kind: k, joined: now, queue: l, granted: make(chan struct{})}
	l.waiters = append(l.waiters, t)
	q.waiting[k]++
	return t
}

// leave removes a call that has no slot.
func (q *queue) leave(t *waiter) {
	l := t.queue
	l.waiters = slices.DeleteFunc(l.waiters, func(other *waiter) bool { return other == t })
	q.waiting[t.kind]--
	if len(l.waiters) == 0 {
		q.clientOrder[t.kind] = slices.DeleteFunc(q.clientOrder[t.kind], func(other *clientQueue) bool { return other == l })
	}
}

// assign assigns free slots to the next calls, as the rate allows.
func (q *queue) assign(now time.Time) {
	for {
		k, ok := q.next(now)
		if !ok || !q.rateAllows(now) {
			return
		}
		l := q.clientOrder[k][0]
		t := l.waiters[0]
		l.waiters = l.waiters[1:]
		q.clientOrder[k] = slices.Delete(q.clientOrder[k], 0, 1)
		if len(l.waiters) > 0 {
			q.clientOrder[k] = append(q.clientOrder[k], l) // its next turn is after all other clients
		}
		q.waiting[k]--
		q.grant(t, now)
		close(t.granted)
	}
}

// next returns the kind of the next call, if one has a slot. Writes go before reads, but if no read is in flight, a read
// that has waited for long goes first: even an overload delays a menu only so much (policy O8c).
func (q *queue) next(now time.Time) (k kind, ok bool) {
	order := [kinds]kind{writes, reads}
	if q.waiting[reads] > 0 && q.inFlight[reads] == 0 && now.Sub(q.clientOrder[reads][0].waiters[0].joined) >= maxReadWait {
		order = [kinds]kind{reads, writes}
	}
	for _, k := range order {
		if q.waiting[k] > 0 && q.hasSlot(k, now) {
			return k, true
		}
	}
	return 0, false
}

// hasSlot reports whether a slot is free for a kind of call.
func (q *queue) hasSlot(k kind, now time.Time) bool {
	return q.inFlight[reads]+q.inFlight[writes] < q.slots && q.inFlight[k] < q.limit(k, now)
}

// grant assigns a slot to a call.
func (q *queue) grant(t *waiter, now time.Time) {
	q.inFlight[t.kind]++
	t.started = now
	q.times[t.kind].start(now)
	if t.kind == writes && (q.inFlight[writes] >= q.peak || now.Sub(q.peakAt) > recently) {
		q.peak, q.peakAt = q.inFlight[writes], now
	}
}

// limit returns the maximum number of slots for a kind of call, at least one. Reads use at most half of the slots that
// are in use now, leave those free that writes used recently, and use one while writes wait (policy O8c). Writes leave
// one slot to waiting reads.
func (q *queue) limit(k kind, now time.Time) int {
	if k == writes {
		free := q.slots - q.inFlight[reads]
		if q.inFlight[reads] == 0 && q.waiting[reads] > 0 {
			free--
		}
		return max(1, min(q.adaptive.limit(), free))
	}
	if q.waiting[writes] > 0 {
		return 1
	}
	inUse, share := q.slots, 4
	if now.Sub(q.adaptive.shrunk) < shrunkFor {
		inUse = q.adaptive.limit()
	}
	if now.Sub(q.fastReadAt) < fastReadFor {
		share = 2
	}
	most := inUse / share
	if now.Sub(q.peakAt) <= recently {
		most = min(most, max(q.slots-q.peak, q.slots/8)) // at least two of 16, even if each burst of orders uses all
	}
	return max(1, most)
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

// predict estimates how long a call waits as the last one of its client: until all calls of its kind before it, and the
// call itself, have got a slot of those that are free for the kind. That takes as many rounds as the client has calls,
// and each other client gets at most one slot per round.
func (q *queue) predict(t *waiter, now time.Time) time.Duration {
	ahead := 0
	for k := t.kind; k <= writes; k++ { // a read waits for the writes too
		for _, other := range q.clientOrder[k] {
			ahead += min(len(other.waiters), len(t.queue.waiters))
		}
	}
	wait := time.Duration(ahead) * q.times[t.kind].mean(now) / time.Duration(q.limit(t.kind, now))
	if q.rate != nil {
		missing := float64(ahead) - q.rate.TokensAt(now)
		seconds := min(max(0, missing/float64(q.rate.Limit())), math.MaxInt32)
		wait = max(wait, time.Duration(seconds*float64(time.Second)))
	}
	return wait
}

func busy(wait time.Duration) *Error { return &Error{Err: ErrBusy, RetryAfter: wait} }
