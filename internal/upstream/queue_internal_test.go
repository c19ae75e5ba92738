package upstream

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// limit is the write timeout of the tests of the queue.
const limit = 15 * time.Second

func testQueue(concurrency int, rate float64) *queue {
	q := newQueue(Config{Concurrency: concurrency, Rate: rate, Timeouts: Timeouts{Write: limit}})
	q.adaptive.now = float64(concurrency) // as after several calls
	return q
}

// bounds returns the limits of an order that arrives now.
func bounds() waitLimits {
	return waitLimits{predictedBy: time.Now().Add(limit / 4), waitUntil: time.Now().Add(limit * 3 / 10)} //testwaits:allow in the synctest bubble
}

// queueState is the state that tests compare.
type queueState struct {
	waiting, clients, reads, writes int
	rejected                        Rejections
}

func (q *queue) now() queueState {
	q.mu.Lock()
	defer q.mu.Unlock()
	clients := len(q.clientOrder[reads]) + len(q.clientOrder[writes])
	return queueState{q.waiting[reads] + q.waiting[writes], clients, q.inFlight[reads], q.inFlight[writes], q.rejected}
}

// order acquires a slot for a client and keeps it for the time hold.
func (q *queue) order(ctx context.Context, client string, hold time.Duration) (waited time.Duration, err error) {
	begun := time.Now()
	t, err := q.acquire(ctx, client, writes, bounds())
	if err != nil {
		return time.Since(begun), err
	}
	waited = time.Since(begun)
	time.Sleep(hold) //testwaits:allow in the synctest bubble
	q.release(t, true)
	return waited, nil
}

// Each client has its own queue: one call of each waiting client is sent, then the next call of each. The calls of a
// client keep their sequence of arrival.
func TestQueue_ClientsTakeTurns_O8a(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(1, 0)
		var (
			mu    sync.Mutex
			order []string
			all   sync.WaitGroup
		)
		for _, name := range []string{"a1", "a2", "a3", "a4", "b1", "c1", "b2"} {
			all.Go(func() {
				w, err := q.acquire(t.Context(), name[:1], writes, waitLimits{})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				time.Sleep(time.Second)
				q.release(w, true)
			})
			synctest.Wait()
		}
		all.Wait()
		if want := []string{"a1", "a2", "b1", "c1", "a3", "b2", "a4"}; !slices.Equal(order, want) {
			t.Errorf("slots were assigned to %v, want %v", order, want)
		}
	})
}

// A call whose context ends leaves the queue, and the next call gets the slot.
func TestQueue_CallerLeaves_O8a(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(1, 0)
		held, err := q.acquire(t.Context(), "a", writes, waitLimits{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := q.acquire(ctx, "b", writes, waitLimits{})
			left <- err
		}()
		synctest.Wait()
		got := make(chan error, 1)
		go func() {
			_, err := q.acquire(t.Context(), "c", writes, waitLimits{})
			got <- err
		}()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled call: %v", err)
		}
		synctest.Wait()
		if now := q.now(); now.waiting != 1 || now.clients != 1 {
			t.Errorf("%d calls of %d clients wait, want 1 of 1", now.waiting, now.clients)
		}
		q.release(held, true)
		if err := <-got; err != nil {
			t.Errorf("the next call: %v", err)
		}
		if got := q.now().writes; got != 1 {
			t.Errorf("%d slots are taken, want 1", got)
		}
	})
}

// If the predicted wait is too long, a call is rejected on arrival and returns the wait. The
// prediction is the number of calls before it, times the mean slot time, divided by the slots.
func TestQueue_RejectsOnArrival_O8a(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(2, 0)
		if _, err := q.order(t.Context(), "a", time.Second); err != nil { // the mean slot time is 1s
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 2 + 7 {
			all.Go(func() {
				if _, err := q.order(t.Context(), "a", time.Second); err != nil {
					t.Errorf("a call that can wait: %v", err)
				}
			})
		}
		synctest.Wait()
		waited, err := q.order(t.Context(), "a", 0) // 8 × 1s ÷ 2 = 4s > 3.75s
		busy, ok := errors.AsType[*Error](err)
		if !ok || waited != 0 || busy.RetryAfter != 4*time.Second || !errors.Is(err, ErrBusy) {
			t.Errorf("the call that would wait too long: %v after %s, %+v", err, waited, busy)
		}
		// Another client's call does not wait for all calls of the first.
		if waited, err := q.order(t.Context(), "b", 0); err != nil || waited != time.Second {
			t.Errorf("another client's call: %v after %s, want a slot after 1s", err, waited)
		}
		all.Wait()
		if now := q.now(); now != (queueState{rejected: Rejections{OnArrival: 1}}) {
			t.Errorf("after all calls: %+v", now)
		}
	})
}

// Without data there is no prediction: the call gives up after its maximum wait.
func TestQueue_WaitsAtMostAThird_O8a(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(1, 0)
		held, err := q.acquire(t.Context(), "a", writes, waitLimits{})
		if err != nil {
			t.Fatal(err)
		}
		waited, err := q.order(t.Context(), "b", 0)
		if !errors.Is(err, ErrBusy) || waited != 4500*time.Millisecond || q.now().rejected.AfterWaiting != 1 {
			t.Errorf("a call after one that does not end: %v after %s", err, waited)
		}
		q.release(held, true)
		if waited, err = q.order(t.Context(), "b", 0); err != nil || waited != 0 {
			t.Errorf("a call when the slot is free: %v after %s", err, waited)
		}
	})
}

// The rate is part of the wait and of its prediction.
func TestQueue_Rate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(16, 2)
		var (
			mu    sync.Mutex
			waits []time.Duration
			busy  int
			all   sync.WaitGroup
		)
		for i := range 12 {
			all.Go(func() {
				waited, err := q.order(t.Context(), strconv.Itoa(i%3), 0)
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, ErrBusy) {
					busy++
					return
				}
				waits = append(waits, waited)
			})
			synctest.Wait()
		}
		all.Wait()
		slices.Sort(waits)
		// Two immediately, then one every half second, while the predicted wait is at most
		// 3.75s.
		if len(waits) != 9 || busy != 3 || waits[1] != 0 || waits[8] != 3500*time.Millisecond {
			t.Errorf("waits %v, %d rejected; want 9 calls, the last one after 3.5s, and 3 rejected", waits, busy)
		}
	})
}

// The mean slot time covers the last minute. It is at least the mean age of the calls in
// progress. Without data it is 0.
func TestSlotTimes_Mean(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s slotTimes
		want := func(what string, want time.Duration) {
			t.Helper()
			if got := s.mean(time.Now()); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		want("without data", 0)
		begun := time.Now()
		s.start(begun)
		s.start(begun)
		time.Sleep(3 * time.Second)
		want("two calls in progress", 3*time.Second)
		s.add(time.Now(), 3*time.Second)
		s.end(begun)
		time.Sleep(2 * time.Second)
		want("one ended after 3s, one in progress for 5s", 5*time.Second)
		s.add(time.Now(), 5*time.Second)
		s.end(begun)
		want("both ended", 4*time.Second)
		time.Sleep(59 * time.Second)
		want("after a minute, only the second one", 5*time.Second)
		time.Sleep(2 * time.Second)
		want("when everything is older", 0)
		s.add(time.Now(), time.Second)
		time.Sleep(10 * time.Second)
		s.add(time.Now(), 3*time.Second)
		want("when the service becomes slower, the mean of the last seconds", 3*time.Second)
		time.Sleep(10 * time.Second)
		want("otherwise the mean of the minute", 2*time.Second)
	})
}

// The limit of calls in flight grows while calls end in time. Otherwise it shrinks in
// proportion, once per generation and not below a quarter.
func TestAdaptiveLimit_O8a(t *testing.T) {
	t.Parallel()
	a := newAdaptiveLimit(16, 5*time.Second)
	at := time.Now()
	end := func(took time.Duration, calls int) {
		started := at
		at = at.Add(took)
		for range calls {
			a.observe(started, at, took, 16)
		}
	}
	steps := []struct {
		took  time.Duration
		calls int
		want  int
	}{
		{time.Second, 4, 8},            // doubled
		{time.Second, 20, 16},          // up to the concurrency
		{8 * time.Second, 16, 10},      // 16 × 5 ÷ 8, once for all calls in flight
		{4 * time.Second, 11, 11},      // one more per generation
		{15 * time.Second, 11, 4},      // not below a quarter
		{15 * time.Second, 4, 4},       //
		{100 * time.Millisecond, 4, 4}, // 4.9
		{100 * time.Millisecond, 1, 5}, //
	}
	if a.limit() != 4 {
		t.Errorf("initial limit %d, want 4", a.limit())
	}
	for i, step := range steps {
		if end(step.took, step.calls); a.limit() != step.want {
			t.Errorf("step %d: %d (%f), want %d", i, a.limit(), a.now, step.want)
		}
	}
	a.observe(at, at, time.Second, 2)
	if a.limit() != 5 {
		t.Error("the limit grows although it is not used up")
	}
}
