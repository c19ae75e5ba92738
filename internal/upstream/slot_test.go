package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/upstream"
)

// A call is sent only while two thirds of its limit remain.
func TestSlot_FirstSendLeavesTwoThirds_O8a(t *testing.T) {
	t.Parallel()
	for _, late := range []struct {
		after time.Duration
		calls int64
	}{{4999 * time.Millisecond, 1}, {5001 * time.Millisecond, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{handler: reply(201, `{"orderID":"1"}`)}
			client, _, stop := within(t, s)
			defer stop()
			slot, err := client.Reserve(t.Context(), upstream.OpCreate, "a", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(late.after) // the journal is slow
			_, err = client.CreateOrder(upstream.WithCall(t.Context(), slot, nil), []byte("{}"))
			if s.calls.Load() != late.calls || (err == nil) != (late.calls == 1) {
				t.Errorf("after %s: %d calls, %v; want %d", late.after, s.calls.Load(), err, late.calls)
			}
			if err != nil && asError(t, err).Effect != upstream.EffectNone {
				t.Errorf("a call that was not sent: %v", err)
			}
			if load := client.Load(); load.InFlight != 0 {
				t.Errorf("the slot is still taken: %+v", load)
			}
		})
	}
}

// A retry starts only while a third of the limit remains. Otherwise the call ends with its
// last attempt.
func TestSlot_RepeatLeavesOneThird_O8a(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wait  string
		calls int64
		took  time.Duration
	}{
		"in time":  {"4", 2, 4 * time.Second},
		"too late": {"11", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{}
				s.handler = func(w http.ResponseWriter, _ *http.Request) {
					if s.calls.Load() == 1 {
						w.Header().Set("Retry-After", tc.wait)
						w.WriteHeader(http.StatusTooManyRequests)
						return
					}
					_, _ = io.WriteString(w, `{"orderID":"1"}`)
				}
				client, _, stop := within(t, s)
				defer stop()
				begun := time.Now()
				_, err := client.CreateOrder(t.Context(), []byte("{}"))
				if s.calls.Load() != tc.calls || time.Since(begun) != tc.took {
					t.Errorf("%d calls in %s, %v; want %d in %s", s.calls.Load(), time.Since(begun), err, tc.calls, tc.took)
				}
				if tc.calls == 1 {
					if e := asError(t, err); e.Status != http.StatusTooManyRequests || e.Effect != upstream.EffectNone ||
						e.RetryAfter != 11*time.Second {
						t.Errorf("error %+v, want the 429 of the last attempt", e)
					}
				}
			})
		})
	}
}

// The pause before a retry uses no slot. If the retry gets no slot in time, it is not sent.
func TestSlot_RepeatWithoutSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		s.handler = func(w http.ResponseWriter, r *http.Request) {
			if s.calls.Load() == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			hang(w, r)
		}
		client, _, stop := withinConfig(t, s, func(c *upstream.Config) { c.Concurrency = 1 })
		defer stop()
		begun := time.Now()
		var first sync.WaitGroup
		first.Go(func() {
			_, err := client.CreateOrder(t.Context(), []byte("{}"))
			if e := asError(t, err); e.Status != http.StatusTooManyRequests || e.Effect != upstream.EffectNone ||
				time.Since(begun) != 10*time.Second {
				t.Errorf("the call whose retry got no slot = %+v after %s, want its 429 after 10s", e, time.Since(begun))
			}
		})
		synctest.Wait()
		_, err := client.Complete(t.Context(), "2") // uses the slot during the pause
		if e := asError(t, err); e.Effect != upstream.EffectUnknown {
			t.Errorf("the call that hangs = %+v", e)
		}
		first.Wait()
		if s.calls.Load() != 2 {
			t.Errorf("%d calls, want 2", s.calls.Load())
		}
	})
}

// A connection that is opened too late is not used: nothing is sent.
func TestSlot_LateConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{handler: reply(201, `{"orderID":"1"}`)}
		client, network, stop := within(t, s)
		defer stop()
		slot, err := client.Reserve(t.Context(), upstream.OpCreate, "a", time.Now().Add(-4*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		dials := network.dials.Load()
		network.hold(2 * time.Second)
		begun := time.Now()
		_, err = client.CreateOrder(upstream.WithCall(t.Context(), slot, nil), []byte("{}"))
		if err != nil || s.calls.Load() != 1 || time.Since(begun) != time.Second || network.dials.Load() != dials+1 {
			t.Errorf("CreateOrder() = %v, %d calls, after %s; want it sent over a second connection", err, s.calls.Load(), time.Since(begun))
		}
	})
}

// Retry-After is between the predicted wait and 1.5 times the wait.
func TestReserve_RetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{handler: hang}
		half := func(most time.Duration) time.Duration { return most / 2 }
		client, _, stop := withinConfig(t, s, func(c *upstream.Config) { c.Concurrency = 1 }, upstream.WithJitter(half))
		defer stop()
		ctx, leave := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() { _, _ = client.CreateOrder(ctx, []byte("{}")) })
		time.Sleep(8 * time.Second) // the call in progress is 8s old
		begun := time.Now()
		_, err := client.Reserve(t.Context(), upstream.OpPay, "b", begun)
		e := asError(t, err)
		if !errors.Is(err, upstream.ErrBusy) || e.Operation != upstream.OpPay || time.Since(begun) != 0 || e.RetryAfter != 10*time.Second {
			t.Errorf("Reserve() = %v, retry after %s, after %s; want ErrBusy with 8s and a quarter, immediately", err, e.RetryAfter, time.Since(begun))
		}
		if load := client.Load(); load.Rejected.OnArrival != 1 || load.InFlight != 1 || load.OrderSlots != 1 || load.SlotTime != 8*time.Second {
			t.Errorf("load %+v", load)
		}
		leave()
		first.Wait()
	})
}

// A service is free if a write would get a slot at once, and no rate is used up by asking.
func TestFree_O8a(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change  func(*upstream.Config)
		noToken bool
		busy    bool
		want    bool
	}{
		"a slot and a token": {want: true},
		"no token yet":       {noToken: true},
		"no slot":            {busy: true},
		"a rate":             {change: func(c *upstream.Config) { c.Rate = 1000 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, _, stop := withinConfig(t, &service{handler: hang}, func(c *upstream.Config) {
					c.Concurrency = 1
					if tc.change != nil {
						tc.change(c)
					}
				})
				defer stop()
				if !tc.noToken {
					slot, err := client.Reserve(t.Context(), upstream.OpCreate, "a", time.Now())
					if err != nil {
						t.Fatal(err)
					}
					if tc.busy {
						defer slot.Release()
					} else {
						slot.Release()
					}
				}
				if got := client.Free(t.Context()); got != tc.want {
					t.Errorf("Free() = %t, want %t", got, tc.want)
				}
			})
		})
	}
}
