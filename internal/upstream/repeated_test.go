package upstream_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/upstream"
)

// moment is when a service sends the copy of a response.
type moment int

const (
	withTheResponse moment = iota // in the same segment
	duringTheRest                 // after the call has returned
	beforeTheByte                 // after the next call has the connection, before its first byte
	afterTheByte                  // after the next call's request has arrived
	moments
)

func numbered(id string) string {
	return fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n{\"orderID\":%q}", len(id)+14, id)
}

// O17: a service sends each response twice, at each moment. No order gets the orderID of another, and none is sent twice.
func TestAnOrderIDIsBelievedOnce_O17(t *testing.T) {
	t.Parallel()
	for at := range moments {
		for _, secured := range []bool{false, true} {
			t.Run(fmt.Sprintf("moment %d, TLS %v", at, secured), func(t *testing.T) {
				t.Parallel()
				returned, taken, copied := make(chan struct{}), make(chan struct{}), make(chan struct{})
				s := serveWire(t, secured, nil)
				s.answer = func(p peer) bool {
					id := strings.Trim(p.body, `"`)
					if id != "first" {
						if at == afterTheByte && s.conns.Load() == 1 {
							p.says(numbered("first"))
						}
						p.says(numbered(id))
						return true
					}
					switch at {
					case withTheResponse:
						p.saysTogether(numbered(id), numbered(id))
						close(copied)
					case duringTheRest:
						p.says(numbered(id))
						<-returned
						p.says(numbered(id))
						close(copied)
					case beforeTheByte:
						p.says(numbered(id))
						<-taken
						p.says(numbered(id))
						close(copied)
					default:
						p.says(numbered(id))
						close(copied)
					}
					return true
				}
				client := s.client(t, nil)
				if created, err := client.CreateOrder(t.Context(), []byte(`"first"`)); err != nil || created.OrderID != "first" {
					t.Fatal(created, err)
				}
				close(returned)
				ctx := t.Context()
				switch at {
				case beforeTheByte, afterTheByte:
					awaitKept(t, client)
				default:
					await(t, client.KeptHasEnded)
					<-time.After(10 * time.Millisecond) //testwaits:allow until the connection has rested
				}
				if at == beforeTheByte {
					ctx = beforeWrite(ctx, func(conn net.Conn) {
						close(taken)
						<-copied
						if !upstream.Arrives(conn) {
							t.Error("the copy did not arrive")
						}
					})
				} else {
					<-copied
				}
				created, err := client.CreateOrder(ctx, []byte(`"second"`))
				if at != afterTheByte {
					if err != nil || created.OrderID != "second" || s.conns.Load() != 2 {
						t.Errorf("the second order = %q, %v on %d connections; want its own number on a new one", created.OrderID, err, s.conns.Load())
					}
				} else if !isUnknownError(err) || !repeats(err) {
					t.Errorf("the second order = %q, %v; want unknown, because its number is repeated", created.OrderID, err)
				}
				if idle, proven, _ := client.Kept(); idle != 0 || proven {
					t.Errorf("%d idle connections, proven %v; want a doubt", idle, proven)
				}
				if s.requests.Load() != 2 {
					t.Errorf("%d requests of 2 orders", s.requests.Load())
				}
			})
		}
	}
}

// O17: a connection rests for 5 ms before it carries the next call.
func TestAConnectionRests_O17(t *testing.T) {
	t.Parallel()
	s := serveWire(t, false, func(p peer) bool { p.says(created201); return true })
	tokens := s.tokens(t)
	synctest.Test(t, func(t *testing.T) { // only the service is outside, so no time passes between two orders
		client := s.clientOf(t, tokens, nil)
		for order, wait := range []time.Duration{0, 5*time.Millisecond - 1, 1, 5 * time.Millisecond} {
			time.Sleep(wait)
			if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
			if conns, want := s.conns.Load(), []int64{1, 2, 2, 2}[order]; conns != want {
				t.Errorf("after order %d: %d connections, want %d", order+1, conns, want)
			}
		}
	})
}

// O17: the same orderID again, once as a number and once as a text. If each restaurant numbers its orders, it is another
// restaurant's: a create has its own connection, other calls may use that.
func TestTheSameNumberTwice_O17(t *testing.T) {
	t.Parallel()
	for where, conns := range map[upstream.OrderNumbers]int64{upstream.OrderNumbersService: 1, upstream.OrderNumbersRestaurant: 2} {
		t.Run(string(where), func(t *testing.T) {
			t.Parallel()
			s := serveWire(t, false, nil)
			s.answer = func(p peer) bool {
				text := `{"result":{"orderID":7}}`
				if s.requests.Load() > 1 {
					text = `{"orderId":"7"}`
				}
				p.says(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text))
				return true
			}
			client := s.client(t, func(cfg *upstream.Config) { cfg.OrderNumbers = where })
			if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
			awaitKept(t, client)
			if _, err := client.Pay(t.Context(), "7", []byte(`[]`)); err != nil || s.conns.Load() != 1 {
				t.Fatalf("a payment = %v on %d connections, want 1", err, s.conns.Load())
			}
			awaitKept(t, client)
			_, err := client.CreateOrder(t.Context(), []byte(`{}`))
			if (err == nil) != (where == upstream.OrderNumbersRestaurant) || err != nil && !repeats(err) || s.conns.Load() != conns {
				t.Errorf("the second order = %v on %d connections, want %d", err, s.conns.Load(), conns)
			}
		})
	}
}

// everyCopy is what 12 clients get from a service that sends each response twice, always at the same moment.
type everyCopy struct {
	at                                                          moment
	last                                                        sync.Map // by the client's address of a connection: send, which sends its last response again
	reused, orders, changes, unknown, wrongOrders, wrongChanges atomic.Int64
}

// O17: 12 clients place 10,000 orders and send 3,000 changes to a service that sends each response twice. No order gets
// the orderID of another. A change gets the response to another call only if the copy arrives after its first byte.
func TestNoOrderGetsAnothersID_O17(t *testing.T) {
	t.Parallel()
	const clients, calls = 12, 13_000
	for at := range moments {
		t.Run(fmt.Sprint("moment ", int(at)), func(t *testing.T) {
			t.Parallel()
			e := &everyCopy{at: at}
			s := serveWire(t, false, e.answer)
			tokens := s.tokens(t)
			var all sync.WaitGroup
			for c := range clients {
				all.Go(func() {
					client := s.clientOf(t, tokens, nil)
					for i := c; i < calls/int(moments); i += clients {
						e.call(t, client, i)
						if idle, proven, _ := client.Kept(); !proven && idle == 0 { // a doubt lasts ten minutes: another instance goes on
							client.Close()
							client = s.clientOf(t, tokens, nil)
						}
					}
				})
			}
			all.Wait()
			t.Logf("%d orders, %d changes, %d calls on a used connection: %d unknown; with the response to another call: %d orders, %d changes",
				e.orders.Load(), e.changes.Load(), e.reused.Load(), e.unknown.Load(), e.wrongOrders.Load(), e.wrongChanges.Load())
			if e.wrongOrders.Load() > 0 || at != afterTheByte && e.wrongChanges.Load()+e.unknown.Load() > 0 {
				t.Error("a call got the response to another one")
			}
			if at == afterTheByte && e.unknown.Load() == 0 {
				t.Error("no connection was used again")
			}
		})
	}
}

// answer responds with the body of the request, twice.
func (e *everyCopy) answer(p peer) bool {
	text := numbered(strings.Trim(p.body, `"`))
	if strings.HasPrefix(p.body, "[") {
		text = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n{\"result\":%s}", len(p.body)+11, p.body)
	}
	from := p.tcp.RemoteAddr().String()
	before, _ := e.last.Swap(from, func() { p.says(text) }) // an earlier connection may have had the address
	copyBefore, _ := before.(func())
	used := p.order > 1
	if used {
		e.reused.Add(1)
	}
	switch {
	case e.at == withTheResponse:
		p.saysTogether(text, text)
	case e.at == afterTheByte && used:
		copyBefore()
		p.says(text)
	default:
		p.says(text)
	}
	return true
}

// call places an order, or pays one. Its copy is sent when the call has returned, or when the next one has the
// connection.
func (e *everyCopy) call(t *testing.T, client *upstream.Client, i int) {
	t.Helper()
	var conn net.Conn
	again := func() {
		if send, ok := e.last.Load(conn.LocalAddr().String()); ok {
			send.(func())() //nolint:forcetypeassert,errcheck // nothing else is stored
		}
	}
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if conn = info.Conn; e.at == beforeTheByte && info.Reused {
			if again(); !upstream.Arrives(conn) {
				t.Error("the copy did not arrive")
			}
		}
	}})
	id := fmt.Sprintf("o-%d", i)
	if i%13 < 3 {
		e.changes.Add(1)
		switch got, err := client.Pay(ctx, "1", []byte(`["`+id+`"]`)); {
		case err != nil:
			e.unknown.Add(1)
		case !strings.Contains(string(got.Body), `"`+id+`"`):
			e.wrongChanges.Add(1)
		}
	} else {
		e.orders.Add(1)
		switch created, err := client.CreateOrder(ctx, []byte(`"`+id+`"`)); {
		case err != nil:
			e.unknown.Add(1)
		case created.OrderID != id:
			e.wrongOrders.Add(1)
		}
	}
	if e.at == duringTheRest {
		again()
	} else if e.at != withTheResponse && i%3 > 0 { // the next call uses this connection
		await(t, func() bool { _, _, usable := client.Kept(); return usable || client.KeptHasEnded() })
	}
}

var copies = flag.Int("copies", 0, "measure a service that sends each response twice, with this number of starts for each row; 0: not")

// copyRow is what 12 clients get from a service that sends each response twice.
type copyRow struct{ calls, unknown, wrongOrders, wrongChanges atomic.Int64 }

// TestPausesBetweenCopies measures how many calls get the response to another call, by the pause before the copy. Such
// an order is unknown, because its orderID shows it (policy O17). A change has nothing to compare. make twice runs it.
func TestPausesBetweenCopies(t *testing.T) { //nolint:paralleltest // it measures pauses
	if *copies == 0 {
		t.Skip("make twice runs it")
	}
	for _, reuse := range []time.Duration{0, 2 * time.Second} {
		for _, most := range []time.Duration{0, 800 * time.Microsecond, 4 * time.Millisecond, 8 * time.Millisecond, 20 * time.Millisecond} {
			row := new(copyRow)
			row.measure(t, reuse, most)
			t.Logf("reuse %-3v copy after 0 to %-6v %5d calls, %3d unknown, wrong: %d orders, %d changes", reuse, most,
				row.calls.Load(), row.unknown.Load(), row.wrongOrders.Load(), row.wrongChanges.Load())
			if row.wrongOrders.Load() > 0 || reuse == 0 && row.unknown.Load()+row.wrongChanges.Load() > 0 {
				t.Error("an order got the number of another one, or a call with its own connection the response to another one")
			}
		}
	}
}

func (row *copyRow) measure(t *testing.T, reuse, most time.Duration) {
	t.Helper()
	s := serveWire(t, false, nil)
	s.answer = func(p peer) bool {
		text := numbered(strings.Trim(p.body, `"`))
		if strings.HasPrefix(p.body, "[") {
			text = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n{\"result\":%s}", len(p.body)+11, p.body)
		}
		p.says(text)
		time.AfterFunc(rand.N(most+1), func() { p.says(text) }) // the connection may be closed
		return true
	}
	tokens := s.tokens(t)
	for start := range *copies { // a doubt ends the reuse of connections until the next start
		client := s.clientOf(t, tokens, nil, upstream.WithReuse(reuse))
		var all sync.WaitGroup
		for c := range 12 {
			all.Go(func() {
				for i := range 10 {
					row.call(t, client, fmt.Sprintf("o-%d-%d-%d", start, c, i), i%4 == 3)
				}
			})
		}
		all.Wait()
		client.Close()
	}
}

// call places an order, or pays one.
func (row *copyRow) call(t *testing.T, client *upstream.Client, id string, pays bool) {
	t.Helper()
	row.calls.Add(1)
	if pays {
		switch got, err := client.Pay(t.Context(), "1", []byte(`["`+id+`"]`)); {
		case err != nil:
			row.unknown.Add(1)
		case !strings.Contains(string(got.Body), `"`+id+`"`):
			row.wrongChanges.Add(1)
		}
		return
	}
	switch got, err := client.CreateOrder(t.Context(), []byte(`"`+id+`"`)); {
	case err != nil:
		row.unknown.Add(1)
	case got.OrderID != id:
		row.wrongOrders.Add(1)
	}
}

// repeats reports whether an error says that the orderID is that of another order.
func repeats(err error) bool {
	_, ok := errors.AsType[*upstream.IDRepeatedError](err)
	return ok
}
