package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/upstream"
)

func TestReadsLeaveASlotForOrders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		s := &service{handler: func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, `{"result":{"orderID":"1"}}`)
				return
			}
			most.Store(max(most.Load(), now.Add(1)))
			<-time.After(time.Second)
			now.Add(-1)
			_, _ = io.WriteString(w, `{"result":[]}`)
		}}
		client, _, stop := withinConfig(t, s, func(c *upstream.Config) { c.Concurrency = 3 })
		defer stop()
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := client.RejectionReasons(t.Context()); err != nil {
					t.Errorf("read: %v", err)
				}
			})
		}
		synctest.Wait()
		begun := time.Now()
		if _, err := client.CreateOrder(t.Context(), []byte("{}")); err != nil || time.Since(begun) != 0 {
			t.Errorf("an order during reads: %v after %s, want no wait", err, time.Since(begun))
		}
		all.Wait()
		if most.Load() != 1 {
			t.Errorf("concurrent reads = %d, want 1 of 3 slots", most.Load())
		}
	})
}

func TestWaitingForASlotEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{handler: hang}
		client, _, stop := withinConfig(t, s, func(c *upstream.Config) { c.Concurrency = 1 })
		defer stop()
		first, leave := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := client.RejectionReasons(first)
			ended <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.RejectionReasons(ctx)
		if e := asError(t, err); e.Effect != upstream.EffectNone || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("second read = %v, want its deadline", err)
		}
		_, err = client.CreateOrder(ctx, []byte("{}"))
		if e := asError(t, err); e.Effect != upstream.EffectNone || e.Refused() || s.calls.Load() != 1 {
			t.Errorf("an order without a slot = %+v after %d calls, want not sent", e, s.calls.Load())
		}
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("first read = %v, want context.Canceled", err)
		}
		if got := asError(t, err); got.Fault() {
			t.Error("no error was caused by the service")
		}
	})
}

// A cancelled wait releases everything that it had already acquired.
func TestACancelledWaitReleasesItsSlot(t *testing.T) {
	t.Parallel()
	soon := func(t *testing.T) (context.Context, context.CancelFunc) {
		t.Helper()
		return context.WithTimeout(t.Context(), time.Second) //testwaits:allow in the synctest bubble
	}
	t.Run("for a slot among orders", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &service{}
			s.handler = func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					hang(w, r)
					return
				}
				_, _ = io.WriteString(w, `{"result":[]}`)
			}
			client, _, stop := withinConfig(t, s, func(c *upstream.Config) { c.Concurrency = 1 })
			defer stop()
			var orders sync.WaitGroup
			orders.Go(func() { _, _ = client.CreateOrder(t.Context(), []byte("{}")) })
			synctest.Wait()
			ctx, cancel := soon(t)
			defer cancel()
			if _, err := client.RejectionReasons(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a read without a slot = %v, want its deadline", err)
			}
			orders.Wait()
			if _, err := client.RejectionReasons(t.Context()); err != nil {
				t.Errorf("a read after the order = %v", err)
			}
		})
	})
	t.Run("for the rate", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &service{handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"orderID":1}`) }}
			client, _, stop := withinConfig(t, s, func(c *upstream.Config) { c.Concurrency, c.Rate = 1, 0.5 })
			defer stop()
			for range 2 { // the first immediately, the second would wait for two seconds
				ctx, cancel := soon(t)
				_, _ = client.CreateOrder(ctx, []byte("{}"))
				cancel()
			}
			if _, err := client.CreateOrder(t.Context(), []byte("{}")); err != nil || s.calls.Load() != 2 {
				t.Errorf("an order that can wait = %v after %d calls, want it done with the second call", err, s.calls.Load())
			}
		})
	})
}

func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"result":[]}`) }}
		client, _, stop := withinConfig(t, s, func(c *upstream.Config) { c.Rate = 2 })
		defer stop()
		begun := time.Now()
		for range 6 {
			if _, err := client.RejectionReasons(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("6 reads at 2 per second took %s, want 2s: two immediately, then two per second", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := client.CreateOrder(ctx, []byte("{}"))
		if e := asError(t, err); e.Effect != upstream.EffectNone || s.calls.Load() != 6 {
			t.Errorf("order that would wait beyond its deadline = %+v, want not sent", e)
		}
	})
}
