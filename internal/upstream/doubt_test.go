package upstream_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder/internal/upstream"
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
			unknown := 0
			for range 6 {
				if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); isUnknownError(err) {
					unknown++
				}
				<-time.After(30 * time.Millisecond) //testwaits:allow until the end of the connection has arrived; the client does not report it
			}
			if _, proven, _ := client.Kept(); proven || unknown > 1 {
				t.Errorf("proven %v, %d of 6 orders unknown", proven, unknown)
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

// blackhole forwards a connection, and forgets it silently when it is idle for longer than limit.
func blackhole(t *testing.T, limit time.Duration) upstream.DialFunc {
	t.Helper()
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var dialer net.Dialer
		far, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }()
		near, err := dialer.DialContext(ctx, network, listener.Addr().String())
		if err != nil {
			return nil, err
		}
		middle, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		var mu sync.Mutex
		last, dead := time.Time{}, false // of the last response
		copyTo := func(to, from net.Conn) {
			for b := make([]byte, 4096); ; {
				n, err := from.Read(b)
				if err != nil {
					return
				}
				mu.Lock()
				if from == far {
					last = time.Now()
				} else {
					dead = dead || !last.IsZero() && time.Since(last) > limit
				}
				lost := dead
				mu.Unlock()
				if !lost {
					_, _ = to.Write(b[:n])
				}
			}
		}
		go copyTo(far, middle)
		go copyTo(middle, far)
		t.Cleanup(func() { _ = far.Close(); _ = middle.Close() })
		return near, nil
	}
}

// A middlebox forgets idle connections silently. The proof cannot see that, but one lost order ends the use.
func TestALostConnectionIsDoubted(t *testing.T) {
	t.Parallel()
	s := serveWire(t, false, func(p peer) bool { p.says(created201); return true })
	client := s.client(t, func(cfg *upstream.Config) {
		cfg.Timeouts.Reuse, cfg.Timeouts.Write = new(500*time.Millisecond), 900*time.Millisecond
	}, upstream.WithWriteDial(blackhole(t, 100*time.Millisecond), nil)) // after WithProven: there is a real proof
	if _, proven, _ := client.Kept(); proven {
		t.Fatal("proven at the start")
	}
	_, _ = client.CreateOrder(t.Context(), []byte(`{}`))
	<-time.After(1300 * time.Millisecond) //testwaits:allow the proof takes twice timeouts.reuse
	_, proven, _ := client.Kept()
	unknown := 0
	for range 8 {
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); isUnknownError(err) {
			unknown++
		}
		<-time.After(200 * time.Millisecond) //testwaits:allow orders with pauses that the middlebox forgets
	}
	if _, still, _ := client.Kept(); unknown > 1 {
		t.Errorf("proven %v, then %v; %d of 8 orders unknown", proven, still, unknown)
	}
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
	s := serveWire(t, false, func(p peer) bool {
		<-time.After(50 * time.Millisecond) //testwaits:allow the service responds late
		if p.order == 2 {
			return false
		}
		p.says(created201)
		return true
	})
	log, hook := logtest.NewNullLogger()
	client := s.client(t, func(c *upstream.Config) { c.Timeouts.Reuse = new(reuse) }, upstream.WithLogger(log))
	_, _ = client.Token(t.Context())
	for orders := 3; orders > 1; orders-- {
		var all sync.WaitGroup
		for range orders {
			all.Go(func() { _, _ = client.CreateOrder(t.Context(), []byte(`{}`)) })
		}
		all.Wait()
	}
	if idle, proven, _ := client.Kept(); idle != 0 || proven || s.conns.Load() != 3 {
		t.Errorf("%d idle connections of %d, proven %v; want 0 of 3, false", idle, s.conns.Load(), proven)
	}
	<-time.After(3 * reuse) //testwaits:allow time for a proof, which must not succeed
	if _, proven, _ := client.Kept(); proven {
		t.Error("proven again")
	}
	if entries := hook.AllEntries(); len(entries) != 1 || entries[0].Data["event"] != "upstream.reuse" {
		t.Errorf("the log has %v, want one event upstream.reuse", entries)
	}
}
