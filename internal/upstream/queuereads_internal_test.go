package upstream

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// read acquires a slot for a read and keeps it for the time hold. It returns how long it waited.
func (q *queue) read(ctx context.Context, hold time.Duration) time.Duration {
	begun := time.Now()
	slot, err := q.acquire(ctx, readsClient, reads, waitLimits{})
	if err != nil {
		return time.Since(begun)
	}
	waited := time.Since(begun)
	time.Sleep(hold) //testwaits:allow in the synctest bubble
	q.release(slot, true)
	return waited
}

// Reads use at most half of the slots, at least one, and more than a quarter only while fast reads end.
func TestQueue_ReadsUseAtMostHalf_O8c(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		concurrency int
		took        time.Duration // of each read
		want        int
	}{
		{1, 5 * time.Second, 1},
		{2, 5 * time.Second, 1},
		{4, 5 * time.Second, 1},
		{16, 5 * time.Second, 4},
		{2, 100 * time.Millisecond, 1},
		{4, 100 * time.Millisecond, 2},
		{16, 100 * time.Millisecond, 8},
		{17, 100 * time.Millisecond, 8},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := testQueue(tc.concurrency, 0)
			var all sync.WaitGroup
			for range 60 {
				all.Go(func() { q.read(t.Context(), tc.took) })
			}
			most := 0
			synctest.Wait()
			for q.now() != (queueState{}) {
				synctest.Wait()
				most = max(most, q.now().reads)
				time.Sleep(tc.took / 2)
			}
			all.Wait()
			if most != tc.want {
				t.Errorf("%d slots, reads of %s: up to %d reads in flight, want %d", tc.concurrency, tc.took, most, tc.want)
			}
		})
	}
}

// After a reduction of the slots, reads use at most half of those that are left, until it is a minute old, and one while an
// order waits.
func TestQueue_ReadsFollowAReduction_O8c(t *testing.T) {
	t.Parallel()
	now := time.Now()
	q := testQueue(16, 0)
	q.fastReadAt, q.adaptive.now, q.adaptive.shrunk = now, 6, now
	if got := q.limit(reads, now); got != 3 {
		t.Errorf("%d reads of six slots, want 3", got)
	}
	q.waiting[writes] = 1
	if got := q.limit(reads, now); got != 1 {
		t.Errorf("%d reads while an order waits, want 1", got)
	}
	q.waiting[writes] = 0
	if q.fastReadAt = now.Add(time.Minute); q.limit(reads, q.fastReadAt) != 8 {
		t.Errorf("%d reads a minute later, want 8", q.limit(reads, q.fastReadAt))
	}
}

// Writes go before reads that arrived earlier.
func TestQueue_WritesGoBeforeReads_O8c(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(1, 0)
		held, err := q.acquire(t.Context(), "a", writes, waitLimits{})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var readWaited, writeWaited time.Duration
		all.Go(func() { readWaited = q.read(t.Context(), 0) })
		synctest.Wait()
		all.Go(func() { writeWaited, _ = q.order(t.Context(), "a", 500*time.Millisecond) })
		synctest.Wait()
		q.release(held, true)
		all.Wait()
		if writeWaited != 0 || readWaited != 500*time.Millisecond {
			t.Errorf("the order waited %s, the earlier read %s; want 0 and 500ms", writeWaited, readWaited)
		}
	})
}

// While writes wait, reads use exactly one slot: no more, and none less.
func TestQueue_OneReadWhileWritesWait_O8c(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(8, 0)
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				for ctx.Err() == nil {
					if _, err := q.order(ctx, "a", time.Second); err != nil {
						<-time.After(time.Second)
					}
				}
			})
		}
		var done atomic.Int64
		for range 20 {
			all.Go(func() {
				for ctx.Err() == nil {
					q.read(ctx, 2*time.Second)
					done.Add(1)
				}
			})
		}
		for second := range 60 {
			<-time.After(time.Second)
			synctest.Wait()
			if now := q.now(); second > 5 && (now.reads != 1 || now.writes != 7) {
				t.Errorf("second %d: %d reads and %d orders in flight, want 1 and 7", second, now.reads, now.writes)
			}
		}
		if got := done.Load(); got < 25 {
			t.Errorf("%d reads of 2s ended within a minute, want one at a time", got)
		}
		end()
		all.Wait()
	})
}

// Writes that use up the rate leave a read its turn every two seconds.
func TestQueue_ReadsGetTheirShareOfTheRate_O8c(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(16, 2)
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for ctx.Err() == nil {
					if _, err := q.order(ctx, "a", 0); err != nil {
						<-time.After(time.Second)
					}
				}
			})
		}
		<-time.After(5 * time.Second)
		for range 5 {
			if waited := q.read(ctx, 0); waited > 3*time.Second {
				t.Errorf("a read waited %s, want at most 3s", waited)
			}
		}
		end()
		all.Wait()
	})
}

// Reads leave the slots free that orders have used within the last ten seconds, also between two orders.
func TestQueue_ReadsLeaveTheSlotsOfRecentOrders_O8c(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(16, 0)
		var orders sync.WaitGroup
		for range 13 {
			orders.Go(func() {
				if _, err := q.order(t.Context(), "a", 100*time.Millisecond); err != nil {
					t.Error(err)
				}
			})
		}
		orders.Wait()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { q.read(t.Context(), 5*time.Second) })
		}
		synctest.Wait()
		if got := q.now().reads; got != 3 {
			t.Errorf("%d slow reads after 13 orders at a time, want 3", got)
		}
		all.Wait()
	})
}

// The predicted wait of an order uses the slots that are free for orders: not those that slow reads have.
func TestQueue_PredictionWithoutTheSlotsOfReads_O8c(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := testQueue(8, 0)
		if _, err := q.order(t.Context(), "a", 2*time.Second); err != nil { // the mean slot time is 2s
			t.Fatal(err)
		}
		q.fastReadAt = time.Now()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { q.read(t.Context(), time.Minute) })
		}
		synctest.Wait()
		for range 4 + 7 { // 4 have the free slots; 7 × 2s ÷ 4 = 3.5s is possible, 8 × 2s ÷ 4 = 4s is not
			all.Go(func() {
				if _, err := q.order(t.Context(), "a", 2*time.Second); err != nil {
					t.Errorf("an order that can wait: %v", err)
				}
			})
		}
		synctest.Wait()
		waited, err := q.order(t.Context(), "a", 0)
		busy, ok := errors.AsType[*Error](err)
		if !ok || waited != 0 || busy.RetryAfter != 4*time.Second {
			t.Errorf("the order that would wait too long: %v after %s, %+v; want busy at once, 4s", err, waited, busy)
		}
		all.Wait()
	})
}

// Goal 18: twelve clients order without pauses, each order takes the service 0.5 s. While 40 menu reads of 5 s are waiting or
// running, they place at least 95 % of what they place without them.
func TestQueue_OrdersBesideSlowReads_O8c(t *testing.T) {
	t.Parallel()
	placed := func(slowReads int) (n int64) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(Config{Concurrency: defaultConcurrency, Timeouts: Timeouts{Write: limit}})
			ctx, end := context.WithTimeout(t.Context(), 8*time.Second)
			defer end()
			var all sync.WaitGroup
			for range 40 { // the menus were fast until now
				all.Go(func() { q.read(t.Context(), 20*time.Millisecond) })
			}
			all.Wait()
			<-time.After(2 * time.Second)
			for range slowReads {
				all.Go(func() { q.read(ctx, 5*time.Second) })
			}
			synctest.Wait()
			var count atomic.Int64
			for range 12 {
				all.Go(func() {
					for ctx.Err() == nil {
						if _, err := q.order(ctx, "a", 500*time.Millisecond); err == nil {
							count.Add(1)
						}
					}
				})
			}
			all.Wait()
			n = count.Load()
		})
		return n
	}
	alone, beside := placed(0), placed(40)
	if float64(beside) < 0.95*float64(alone) {
		t.Errorf("%d orders beside slow reads, %d without", beside, alone)
	}
}
