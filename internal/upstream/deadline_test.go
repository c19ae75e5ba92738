package upstream_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"larder/internal/sleep"
	"larder/internal/upstream"
)

// until returns a context that ends after d, as a call of an order has it: with a deadline of its TCP connection.
func until(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	return sleep.Detached(t.Context(), time.Now().Add(d))
}

// The deadline of a call is over when the next one uses its TCP connection.
func TestADeadlineEndsWithItsCall(t *testing.T) {
	t.Parallel()
	for _, secured := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secured), func(t *testing.T) {
			t.Parallel()
			s := serveWire(t, secured, func(p peer) bool { p.says(created201); return true })
			client := s.client(t, nil)
			const short, long = 2 * time.Second, time.Minute
			for _, ctx := range []func() context.Context{
				func() context.Context { return until(t, short) }, //testwaits:allow the subject: the limit of one order must not end the next
				func() context.Context { return until(t, long) },
				func() context.Context { return until(t, short) }, //testwaits:allow the subject: the limit of one order must not end the next
				t.Context,
			} {
				if _, err := client.CreateOrder(ctx(), []byte(`{}`)); err != nil {
					t.Fatal(err)
				}
				<-time.After(short * 3 / 2) //testwaits:allow until the limit of the order has passed
			}
			if n := s.conns.Load(); n != 1 {
				t.Errorf("4 orders used %d connections, want 1", n)
			}
		})
	}
}

// The deadline of a call passes while it waits for its response on a used TCP connection.
func TestADeadlineEndsACall(t *testing.T) {
	t.Parallel()
	for _, secured := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secured), func(t *testing.T) {
			t.Parallel()
			ended := make(chan struct{})
			defer close(ended)
			s := serveWire(t, secured, func(p peer) bool {
				if p.order > 1 {
					<-ended
					return false
				}
				p.says(created201)
				return true
			})
			client := s.client(t, nil)
			if _, err := client.CreateOrder(until(t, time.Minute), []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			_, err := client.CreateOrder(until(t, time.Second), []byte(`{}`)) //testwaits:allow the test expects the end of the context
			if took := time.Since(begun); !isUnknownError(err) || took < time.Second {
				t.Errorf("a call without a response = %v after %v, want unknown after a second", err, took)
			}
			if idle, proven, _ := client.Kept(); idle != 0 || proven {
				t.Errorf("%d idle connections, proven %v; want 0 and a doubt", idle, proven)
			}
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
