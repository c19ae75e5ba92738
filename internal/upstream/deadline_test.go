package upstream_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"larder.local/internal/upstream"
)

// until returns a context that ends after d, as a call of an order has it.
func until(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// retried calls try with longer and longer limits, until it returns true: a busy machine may not send an order within
// a short one.
func retried(t *testing.T, try func(limit time.Duration) bool) {
	t.Helper()
	for limit := 200 * time.Millisecond; !try(limit); limit *= 2 {
		if limit > time.Minute {
			t.Fatalf("no order was sent within %v", limit)
		}
	}
}

// The deadline of a call is over when the next one uses its TCP connection.
func TestADeadlineEndsWithItsCall(t *testing.T) {
	t.Parallel()
	for _, secured := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secured), func(t *testing.T) {
			t.Parallel()
			retried(t, func(short time.Duration) bool {
				s := serveWire(t, secured, func(p peer) bool { p.says(created201); return true })
				client := s.client(t, func(cfg *upstream.Config) {
					cfg.Timeouts.Reuse, cfg.Timeouts.Write = new(10*time.Minute), 10*time.Minute
				})
				_, _ = client.Token(t.Context())
				for order, limit := range []time.Duration{short, 9 * time.Minute, short, 0} {
					ctx := t.Context()
					if limit > 0 {
						ctx = until(t, limit)
					}
					switch _, err := client.CreateOrder(ctx, []byte(`{}`)); {
					case err != nil && limit == short:
						return false
					case err != nil:
						t.Fatalf("order %d = %v", order, err)
					case limit == short:
						<-ctx.Done()
					}
					awaitKept(t, client)
				}
				if n := s.conns.Load(); n != 1 {
					t.Errorf("4 orders used %d connections, want 1", n)
				}
				return true
			})
		})
	}
}

// The deadline of a call passes while it waits for its response on a used TCP connection.
func TestADeadlineEndsACall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ secured, setting bool }{
		"the call's":           {false, false},
		"the call's, with TLS": {true, false},
		"timeouts.write":       {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			retried(t, func(limit time.Duration) bool {
				ended := make(chan struct{})
				end := sync.OnceFunc(func() { close(ended) })
				defer end()
				s := serveWire(t, tc.secured, func(p peer) bool {
					if p.order > 1 {
						<-ended
						return false
					}
					p.says(created201)
					return true
				})
				write, first, second := 10*time.Minute, until(t, 9*time.Minute), until
				if tc.setting {
					write, second = limit, func(*testing.T, time.Duration) context.Context { return t.Context() }
				}
				client := s.client(t, func(cfg *upstream.Config) { cfg.Timeouts.Reuse, cfg.Timeouts.Write = new(10*time.Minute), write })
				_, _ = client.Token(t.Context())
				if _, err := client.CreateOrder(first, []byte(`{}`)); err != nil && tc.setting {
					return false
				} else if err != nil {
					t.Fatal(err)
				}
				awaitKept(t, client)
				begun := time.Now()
				// Without its deadline, the call would end after nine minutes, with that of the first one.
				tooLate := time.AfterFunc(limit+time.Minute, func() { t.Error("the deadline does not end the call"); end() })
				_, err := client.CreateOrder(second(t, limit), []byte(`{}`))
				tooLate.Stop()
				if s.requests.Load() < 2 || s.conns.Load() > 1 { // too late, perhaps repeated on a new connection
					return false
				}
				if took := time.Since(begun); !isUnknownError(err) || took < limit {
					t.Errorf("a call without a response = %v after %v, want unknown after %v", err, took, limit)
				}
				if idle, proven, _ := client.Kept(); idle != 0 || proven {
					t.Errorf("%d idle connections, proven %v; want 0 and a doubt", idle, proven)
				}
				return true
			})
		})
	}
}

// An address with an empty port is sent without it.
func TestAnEmptyPortIsNotSent(t *testing.T) {
	t.Parallel()
	if got := upstream.HostOf("http://orders.test:/"); got != "orders.test" {
		t.Errorf("the host is %q", got)
	}
}
