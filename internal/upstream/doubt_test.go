package upstream_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/internal/keptconn"
	"larder.local/internal/upstream"
)

// A response without a length ends with the connection. After a reset, it is not complete.
func TestAResetIsNotTheEndOfABody(t *testing.T) {
	t.Parallel()
	for _, reuse := range []time.Duration{0, 2 * time.Second} {
		for _, secured := range []bool{false, true} {
			for _, op := range []upstream.Operation{upstream.OpComplete, upstream.OpPay} {
				t.Run(fmt.Sprint("reuse ", reuse, " TLS ", secured, " ", op), func(t *testing.T) {
					t.Parallel()
					s := serveWire(t, secured, func(p peer) bool {
						p.says("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
						<-time.After(50 * time.Millisecond) //testwaits:allow the service responds late
						p.reset()
						return false
					})
					client := s.client(t, func(cfg *upstream.Config) { cfg.Timeouts.Reuse = new(reuse) })
					err := operations(t.Context(), client)[op]()
					if !isUnknownError(err) {
						t.Errorf("%s = %v, want unknown", op, err)
					}
				})
			}
		}
	}
}

// A response on a used connection is incomplete, or says that the service has closed it: no other is used.
func TestAnIncompleteResponseIsDoubted(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"408":         "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"half a body": "HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{",
		"bad chunk":   "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"101":         "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveWire(t, false, func(p peer) bool {
				if p.order == 1 {
					p.says(created201)
					return true
				}
				p.says(says)
				return false
			})
			client := s.client(t, nil)
			for order := 1; order <= 6; order++ {
				_, err := client.CreateOrder(t.Context(), []byte(`{}`))
				if isUnknownError(err) != (order == 2) || order != 2 && err != nil {
					t.Errorf("order %d = %v, want only order 2 unknown", order, err)
				}
				if order == 1 {
					awaitKept(t, client)
				}
			}
			if _, proven, _ := client.Kept(); proven || s.conns.Load() != 5 {
				t.Errorf("proven %v, %d connections for 6 orders, want false and 5", proven, s.conns.Load())
			}
		})
	}
}

// A first request fails on a connection. That says nothing about idle ones.
func TestAFirstRequestIsNoReasonForDoubt(t *testing.T) {
	t.Parallel()
	s := serveWire(t, false, func(peer) bool { return false })
	client := s.client(t, nil)
	if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); !isUnknownError(err) {
		t.Errorf("an order without a response = %v, want unknown", err)
	}
	if _, proven, _ := client.Kept(); !proven {
		t.Error("kept connections are no longer used")
	}
}

// blackhole forwards connections to a service. When forget is called, it forgets all of them silently.
func blackhole(t *testing.T, service string) (dial keptconn.DialFunc, forget func()) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		forgotten atomic.Int64 // how often
		running   sync.WaitGroup
		open      sync.Map
	)
	forward := func(near net.Conn) {
		far, err := new(net.Dialer).DialContext(t.Context(), "tcp", service)
		if err != nil {
			_ = near.Close()
			return
		}
		known := forgotten.Load()
		copyTo := func(to, from net.Conn) {
			open.Store(from, nil)
			for b := make([]byte, 4096); ; {
				n, err := from.Read(b)
				if err != nil {
					return
				}
				if forgotten.Load() == known {
					_, _ = to.Write(b[:n])
				}
			}
		}
		running.Go(func() { copyTo(far, near) })
		running.Go(func() { copyTo(near, far) })
	}
	running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			forward(near)
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		open.Range(func(conn, _ any) bool {
			if c, ok := conn.(net.Conn); ok {
				_ = c.Close()
			}
			return true
		})
		running.Wait()
	})
	dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
	}
	return dial, func() { forgotten.Add(1) }
}

// A middlebox forgets idle connections silently. The proof cannot see that, but one lost order ends the use.
func TestALostConnectionIsDoubted(t *testing.T) {
	t.Parallel()
	s := serveWire(t, false, func(p peer) bool { p.says(created201); return true })
	tokens := s.tokens(t)
	dial, forget := blackhole(t, strings.TrimPrefix(s.address, "http://"))
	synctest.Test(t, func(t *testing.T) { // only the service and the middlebox are outside
		const reuse = 500 * time.Millisecond
		client := s.clientOf(t, tokens, func(cfg *upstream.Config) { cfg.Timeouts.Reuse = new(reuse) },
			upstream.WithWriteDial(dial, nil)) // after WithProven: there is a real proof
		if _, proven, _ := client.Kept(); proven {
			t.Fatal("proven at the start")
		}
		_, _ = client.CreateOrder(t.Context(), []byte(`{}`))
		forget()
		time.Sleep(2*reuse + time.Millisecond)
		if _, proven, _ := client.Kept(); !proven {
			t.Fatal("not proven, although the connection stayed open")
		}
		for order := 1; order <= 6; order++ {
			ctx := t.Context()
			if order == 2 { // it gets no response: its time, which is the socket's, ends it
				ctx = until(t, 300*time.Millisecond)
			}
			_, err := client.CreateOrder(ctx, []byte(`{}`))
			if isUnknownError(err) != (order == 2) || order != 2 && err != nil {
				t.Errorf("order %d = %v, want only order 2 unknown", order, err)
			}
			if _, proven, _ := client.Kept(); proven != (order == 1) {
				t.Errorf("after order %d: proven %v", order, proven)
			}
			forget()
			time.Sleep(reuse / 2)
		}
	})
}

// A service that keeps idle connections for 1.5 times reuse is not used this way.
func TestTheProofTakesTwiceTheTime(t *testing.T) {
	t.Parallel()
	const reuse = 400 * time.Millisecond
	for name, closes := range map[string]bool{"closed": true, "kept": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := make(chan struct{})
			closeConn := sync.OnceFunc(func() { close(end) })
			s := serveWire(t, false, func(p peer) bool { p.says(created201); <-end; return false })
			defer closeConn() // before serveWire waits for its connections
			tokens := s.tokens(t)
			synctest.Test(t, func(t *testing.T) {
				client := s.clientOf(t, tokens, func(c *upstream.Config) { c.Timeouts.Reuse = new(reuse) }, upstream.WithoutProof())
				if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(reuse * 3 / 2)
				if idle, proven, _ := client.Kept(); idle != 1 || proven {
					t.Errorf("after 1.5 times reuse: %d idle connections, proven %v; want 1, false", idle, proven)
				}
				if closes {
					closeConn()
					awaitEnd(t, client)
				}
				time.Sleep(reuse)
				if idle, proven, _ := client.Kept(); idle != 0 || proven == closes {
					t.Errorf("after 2.5 times reuse: %d idle connections, proven %v; want 0, %v", idle, proven, !closes)
				}
			})
		})
	}
}

// Two used connections break at the same time. A third one, which was idle before, is closed and proves nothing.
// There is one event in the log.
func TestADoubtClosesIdleConnections(t *testing.T) {
	t.Parallel()
	const reuse = 400 * time.Millisecond
	first, second := of(3), of(2)
	s := serveWire(t, false, func(p peer) bool {
		if p.order == 2 {
			second.arrive()
			return false
		}
		first.arrive()
		p.says(created201)
		return true
	})
	tokens := s.tokens(t)
	synctest.Test(t, func(t *testing.T) { // only the service is outside
		log, hook := logtest.NewNullLogger()
		client := s.clientOf(t, tokens, func(c *upstream.Config) { c.Timeouts.Reuse = new(reuse) }, upstream.WithLogger(log))
		_, _ = client.Token(t.Context())
		for orders := 3; orders > 1; orders-- {
			var all sync.WaitGroup
			for range orders {
				all.Go(func() { _, _ = client.CreateOrder(t.Context(), []byte(`{}`)) })
			}
			all.Wait()
			if orders == 3 {
				awaitKept(t, client)
			}
			if idle, proven, _ := client.Kept(); orders == 3 && (idle != 3 || !proven) {
				t.Errorf("%d idle connections after the first orders, proven %v; want 3, true", idle, proven)
			}
		}
		if idle, proven, _ := client.Kept(); idle != 0 || proven || s.conns.Load() != 3 {
			t.Errorf("%d idle connections of %d, proven %v; want 0 of 3, false", idle, s.conns.Load(), proven)
		}
		time.Sleep(3 * reuse) // time for a proof, which must not succeed
		if _, proven, _ := client.Kept(); proven {
			t.Error("proven again")
		}
		if entries := hook.AllEntries(); len(entries) != 1 || entries[0].Data["event"] != "upstream.reuse" {
			t.Errorf("the log has %v, want one event upstream.reuse", entries)
		}
	})
}
