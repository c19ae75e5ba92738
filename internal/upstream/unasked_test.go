package upstream_test

import (
	"context"
	"fmt"
	"net"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/upstream"
)

// A service sends each response twice. The second one never answers another order.
func TestASecondResponseNeverAnswersAnotherOrder(t *testing.T) {
	t.Parallel()
	for _, secured := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secured), func(t *testing.T) {
			t.Parallel()
			s := serveWire(t, secured, func(p peer) bool {
				id := strings.Trim(p.body, "{}")
				text := fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n{\"orderID\":%s}", len(id)+12, id)
				if len(id)%2 == 0 {
					p.says(text + text)
				} else {
					p.saysTogether(text, text)
				}
				return true
			})
			for round := range 20 { // the client stops using kept connections at the first second response
				client := s.client(t, nil)
				var all sync.WaitGroup
				for caller := range 8 {
					all.Go(func() {
						for order := range 3 {
							id := strconv.Itoa(1 + round*100 + caller*10 + order)
							created, err := client.CreateOrder(t.Context(), []byte("{"+id+"}"))
							if err != nil || created.OrderID != id {
								t.Errorf("order %s = %s, %v", id, created.OrderID, err)
							}
						}
					})
				}
				all.Wait()
			}
		})
	}
}

// beforeWrite returns a context that calls do once, when a request has a connection and nothing is written.
func beforeWrite(ctx context.Context, do func(net.Conn)) context.Context {
	var once sync.Once
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { once.Do(func() { do(info.Conn) }) },
	})
}

// The service sends something on a kept connection after the next request has taken it, and before it is written.
// That is not the response. The request is not sent on this connection, but on a new one.
func TestBytesBeforeTheRequestAreNotItsResponse(t *testing.T) {
	t.Parallel()
	other := strings.Replace(created201, `"1"`, `"2"`, 1)
	for name, sends := range map[string]func(peer){
		"the response to another order": func(p peer) { p.says(other) },
		"two records":                   func(p peer) { p.says(other[:20]); p.says(other[20:]) },
		"a refusal":                     func(p peer) { p.says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") },
		"half a response":               func(p peer) { p.says(other[:20]) },
		"its end":                       func(p peer) { _ = p.Close() },
		"a reset":                       peer.reset,
	} {
		for _, secured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TLS %v", name, secured), func(t *testing.T) {
				t.Parallel()
				for _, op := range []upstream.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
					taken, sent := make(chan struct{}), make(chan struct{})
					s := serveWire(t, secured, nil)
					s.answer = func(p peer) bool {
						p.says(created201)
						if s.conns.Load() == 1 {
							<-taken
							sends(p)
							close(sent)
						}
						return true
					}
					take := sync.OnceFunc(func() { close(taken) })
					t.Cleanup(take) // also if the test ends early
					client := s.client(t, nil)
					if err := operations(t.Context(), client)[op](); err != nil {
						t.Fatal(err)
					}
					awaitKept(t, client)
					ctx, tries := collectAttempts(beforeWrite(t.Context(), func(conn net.Conn) {
						take()
						<-sent
						if !upstream.Arrives(conn) {
							t.Error("nothing arrived within a minute")
						}
					}))
					if op == upstream.OpCreate {
						created, err := client.CreateOrder(ctx, []byte(`{"dishList":[]}`))
						if err != nil || created.OrderID != "1" {
							t.Errorf("the second order = %q, %v; want order 1", created.OrderID, err)
						}
					} else if err := operations(ctx, client)[op](); err != nil {
						t.Errorf("the second %s = %v", op, err)
					}
					if len(*tries) != 1 {
						t.Errorf("%s: attempts %+v, want one", op, *tries)
					}
					conns, requests := s.conns.Load(), s.requests.Load()
					if _, proven, _ := client.Kept(); proven || conns != 2 || requests != 2 {
						t.Errorf("%s: proven %v, %d connections, %d requests; want false, 2 and 2", op, proven, conns, requests)
					}
				}
			})
		}
	}
}

// A part of a TLS record arrives together with a response, and the rest after the next request. TLS holds that
// part, so the socket is empty. The record is not the response to that request.
func TestAPartOfARecordIsNotItsResponse(t *testing.T) {
	t.Parallel()
	other := strings.Replace(created201, `"1"`, `"2"`, 1)
	for _, cut := range []int{1, 5, 30} {
		t.Run(strconv.Itoa(cut), func(t *testing.T) {
			t.Parallel()
			var rest []byte
			s := serveWire(t, true, nil)
			s.answer = func(p peer) bool {
				if p.order == 1 && s.conns.Load() == 1 {
					p.batch.held = []byte{}
					p.says(created201)
					first := len(p.batch.held)
					p.says(other)
					all := p.batch.held
					p.batch.held = nil
					rest = all[first+cut:]
					_, _ = p.batch.Conn.Write(all[:first+cut])
					return true
				}
				if p.order == 2 && len(rest) > 0 {
					_, _ = p.batch.Conn.Write(rest)
					rest = nil
				}
				p.says(created201)
				return true
			}
			client := s.client(t, nil)
			if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
			await(t, client.KeptHasEnded) // the part has arrived, and the call below gets the same result
			created, err := client.CreateOrder(t.Context(), []byte(`{}`))
			if err != nil || created.OrderID != "1" || s.conns.Load() != 2 {
				t.Errorf("the second order = %q, %v on %d connections; want order 1 on 2", created.OrderID, err, s.conns.Load())
			}
		})
	}
}

// As above, with a refusal that would be repeated: each order is executed once.
func TestAPartOfARefusalRepeatsNoOrder(t *testing.T) {
	t.Parallel()
	const other = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
	var rest []byte
	s := serveWire(t, true, nil)
	s.answer = func(p peer) bool {
		if p.order == 1 && s.conns.Load() == 1 {
			p.batch.held = []byte{}
			p.says(created201)
			first := len(p.batch.held)
			p.says(other)
			all := p.batch.held
			p.batch.held = nil
			rest = all[first+5:]
			_, _ = p.batch.Conn.Write(all[:first+5])
			return true
		}
		if p.order == 2 && len(rest) > 0 {
			_, _ = p.batch.Conn.Write(rest)
			rest = nil
		}
		p.says(created201)
		return true
	}
	client := s.client(t, nil)
	if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	await(t, client.KeptHasEnded) // the part has arrived, and the call below gets the same result
	_, err := client.CreateOrder(t.Context(), []byte(`{}`))
	if n := s.requests.Load(); n != 2 {
		t.Errorf("2 orders: the service executed %d (%v)", n, err)
	}
}

// A process is slow between taking a kept connection and writing to it. That is no reason to doubt the service.
func TestALateRequestIsSentOnANewConnection(t *testing.T) {
	t.Parallel()
	s := serveWire(t, true, func(p peer) bool { p.says(created201); return true })
	tokens := s.tokens(t)
	synctest.Test(t, func(t *testing.T) {
		client := s.clientOf(t, tokens, func(cfg *upstream.Config) { cfg.Timeouts.Reuse = new(200 * time.Millisecond) })
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		late := beforeWrite(t.Context(), func(net.Conn) { time.Sleep(250 * time.Millisecond) })
		if _, err := client.CreateOrder(late, []byte(`{}`)); err != nil {
			t.Errorf("a late order = %v", err)
		}
		if _, proven, _ := client.Kept(); !proven || s.conns.Load() != 2 || s.requests.Load() != 2 {
			t.Errorf("proven %v, %d connections, %d requests; want true, 2 and 2", proven, s.conns.Load(), s.requests.Load())
		}
	})
}

// Before the proof, one connection is kept. Later, only those that can be used are.
func TestIdleConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	const callers = 4 // a new client has four slots for orders
	for name, tc := range map[string]struct {
		proven bool
		reuse  time.Duration
		slow   bool // responses take longer than reuse
		want   int
	}{
		"before the proof":                   {false, time.Minute, false, 1},
		"proven":                             {true, time.Minute, false, callers},
		"proven, but responses are too slow": {true, 300 * time.Millisecond, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			orders, begun := of(callers), time.Now()
			var answered atomic.Int64 // when the first response was sent
			s := serveWire(t, false, func(p peer) bool {
				orders.arrive() // so that each has its own connection
				if tc.slow {
					<-time.After(tc.reuse) //testwaits:allow the subject is a response after timeouts.reuse
				}
				answered.CompareAndSwap(0, int64(time.Since(begun)))
				p.says(created201)
				return true
			})
			var dialer net.Dialer
			opts := []upstream.Option{upstream.WithWriteDial(dialer.DialContext, nil)}
			if tc.proven {
				opts = append(opts, upstream.WithProven())
			}
			client := s.client(t, func(cfg *upstream.Config) { cfg.Timeouts.Reuse = new(tc.reuse) }, opts...)
			_, _ = client.Token(t.Context())
			if slots := client.Load().OrderSlots; slots < callers {
				t.Fatalf("%d orders at a time, want %d", slots, callers)
			}
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
						t.Errorf("CreateOrder() = %v", err)
					}
				})
			}
			all.Wait()
			idle, _, _ := client.Kept()
			// The one that is kept only for the proof is closed after twice the time.
			over := time.Since(begun)-time.Duration(answered.Load()) >= 2*tc.reuse
			if idle != tc.want && (idle != 0 || !over) {
				t.Errorf("%d idle connections, want %d", idle, tc.want)
			}
		})
	}
}

// O17: a gateway answers 504 and keeps the connection. The service's response, which comes later, is not that of the
// next call, whatever it is.
func TestALateResponseIsNotTheNextCalls_O17(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"503 Service Unavailable", "504 Gateway Timeout", "422 Unprocessable Entity"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			s := serveWire(t, false, nil)
			s.answer = func(p peer) bool {
				switch {
				case p.body == `"first"`:
					p.says("HTTP/1.1 " + gateway + "\r\nContent-Length: 2\r\n\r\n{}")
					return true
				case p.order > 1:
					p.says(numbered("first"))
				}
				p.says(numbered("second"))
				return true
			}
			client := s.client(t, nil)
			if _, err := client.CreateOrder(t.Context(), []byte(`"first"`)); err == nil {
				t.Fatal("the gateway's error is a success")
			}
			if idle, _, _ := client.Kept(); idle != 0 {
				t.Error("the connection is kept")
			}
			created, err := client.CreateOrder(t.Context(), []byte(`"second"`))
			if err != nil || created.OrderID != "second" || s.conns.Load() != 2 {
				t.Errorf("the second order = %q, %v on %d connections; want its own number on a new one", created.OrderID, err, s.conns.Load())
			}
		})
	}
}

// O17: a service sends an error that nobody asked for on a kept connection, after the check before the first byte, and then
// the response to the call. The outcome is unknown, and nothing is sent again.
func TestAnUnaskedErrorIsNotBelieved_O17(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"400 Bad Request", "401 Unauthorized", "422 Unprocessable Entity", "429 Too Many Requests", "503 Service Unavailable"} {
		for name, unasked := range map[string]struct {
			late time.Duration // of the response to the call
			size int           // of the error
		}{"at once": {0, 2}, "later": {100 * time.Millisecond, 2}, "larger than larder reads": {0, 1_100_000}} {
			for _, secured := range []bool{false, true} {
				t.Run(fmt.Sprint(status, " ", name, ", TLS ", secured), func(t *testing.T) {
					t.Parallel()
					for _, op := range []upstream.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
						s := serveWire(t, secured, func(p peer) bool {
							if p.order > 1 {
								p.says(fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n{%*s", status, unasked.size, unasked.size-1, "}"))
								time.Sleep(unasked.late) //testwaits:allow the service works on the call
							}
							p.says(created201)
							return true
						})
						client := s.client(t, func(cfg *upstream.Config) { cfg.RetryUnavailable = true }, upstream.WithListening(time.Minute))
						if err := operations(t.Context(), client)[op](); err != nil {
							t.Fatal(err)
						}
						awaitKept(t, client)
						err := operations(t.Context(), client)[op]()
						if idle, proven, _ := client.Kept(); !isUnknownError(err) || s.requests.Load() != 2 || idle != 0 || proven {
							t.Errorf("%s = %v after %d requests, %d idle connections, proven %v; want unknown after 2, and a doubt",
								op, err, s.requests.Load(), idle, proven)
						}
					}
				})
			}
		}
	}
}

// O17: an error on a reused connection is believed if it is complete, also if larder does not use its body.
func TestACompleteErrorIsBelieved_O17(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"gzip without a body":    "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
		"an unknown compression": "Content-Encoding: br\r\nContent-Length: 3\r\n\r\nabc",
		"chunks":                 "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"without a body":         "Content-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveWire(t, false, func(p peer) bool {
				if p.order > 1 {
					p.says("HTTP/1.1 422 Unprocessable Entity\r\n" + response)
				} else {
					p.says(created201)
				}
				return true
			})
			client := s.client(t, nil, upstream.WithListening(50*time.Millisecond))
			if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
			awaitKept(t, client)
			_, err := client.CreateOrder(t.Context(), []byte(`{}`))
			if err == nil || isUnknownError(err) || s.conns.Load() != 1 || s.requests.Load() != 2 {
				t.Errorf("the second order = %v on %d connections; want it refused on the first", err, s.conns.Load())
			}
		})
	}
}
