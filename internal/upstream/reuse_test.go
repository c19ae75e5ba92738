package upstream_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/internal/upstream"
)

// Two orders follow each other. The second one uses the connection of the first only if nothing indicates
// that it has ended or will end soon. Both are placed.
func TestWhichConnectionsAreKept(t *testing.T) {
	t.Parallel()
	always := func(text string) func(peer) bool {
		return func(p peer) bool { p.says(text); return true }
	}
	later := func(do func(peer)) func(peer) bool {
		return func(p peer) bool {
			p.says(created201)
			if p.order == 1 {
				<-time.After(20 * time.Millisecond) //testwaits:allow so that the connection is idle
				do(p)
			}
			return true
		}
	}
	for name, tc := range map[string]struct {
		answer func(peer) bool
		kept   bool
	}{
		"a complete response": {always(created201), true},
		"a chunked response":  {always("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\n" + created201[len(created201)-26:] + "\r\n0\r\n\r\n"), true},
		"an announced end":    {always(withHeader("Connection: close")), false},
		"HTTP/1.0":            {always(strings.Replace(withHeader("Connection: keep-alive"), "1.1", "1.0", 1)), false},
		"an announced time that ends": {func(p peer) bool {
			p.says(withHeader("Keep-Alive: timeout=1"))
			<-time.After(20 * time.Millisecond) //testwaits:allow so that the connection is idle
			return p.order > 1
		}, false},
		"closed after the response": {func(p peer) bool { p.says(created201); return false }, false},
		"a second response":         {always(created201 + strings.Replace(created201, `"1"`, `"2"`, 1)), false},
		"one more byte":             {always(created201 + "\n"), false},
		"a body that has no end": {func(p peer) bool {
			p.says("HTTP/1.1 201 Created\r\n\r\n" + created201[len(created201)-26:])
			return false
		}, false},
		"closed later":      {later(func(p peer) { _ = p.Close() }), false},
		"half closed later": {later(func(p peer) { _ = p.tcp.CloseWrite() }), false},
		"reset later":       {later(peer.reset), false},
		"a timeout response later": {later(func(p peer) {
			p.says("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}), false},
	} {
		for _, secured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TLS %v", name, secured), func(t *testing.T) {
				t.Parallel()
				s := serveWire(t, secured, tc.answer)
				client := s.client(t, nil)
				for order := range 2 {
					created, err := client.CreateOrder(t.Context(), []byte(`{"dishList":[]}`))
					want := "1" // the first of its connection
					if tc.kept {
						want = strconv.Itoa(order + 1)
					}
					if err != nil || created.OrderID != want {
						t.Fatalf("order %d = %+v, %v; want order %s placed", order, created, err, want)
					}
					switch {
					case order > 0:
					case tc.kept:
						awaitKept(t, client)
					default:
						await(t, client.KeptHasEnded)
					}
				}
				want := int64(2)
				if tc.kept {
					want = 1
				}
				if s.conns.Load() != want || s.requests.Load() != 2 {
					t.Errorf("%d connections, %d requests; want %d and 2", s.conns.Load(), s.requests.Load(), want)
				}
			})
		}
	}
}

// A kept connection breaks after the second request was sent. Its outcome is unknown, nothing is sent again, and
// the client stops using kept connections.
func TestARequestOnABrokenKeptConnectionIsUnknown(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(peer){
		"closed":            func(peer) {},
		"reset":             peer.reset,
		"half a status":     func(p peer) { p.says("HTTP/1.1 201 Cr") },
		"half a body":       func(p peer) { p.says("HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{") },
		"no HTTP":           func(p peer) { p.says("220 mail ready\r\n\r\n") },
		"a timeout answer":  func(p peer) { p.says("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n") },
		"another protocol":  func(p peer) { p.says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n") },
		"a broken encoding": func(p peer) { p.says("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n") },
	} {
		for _, secured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TLS %v", name, secured), func(t *testing.T) {
				t.Parallel()
				for _, op := range []upstream.Operation{upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
					s := serveWire(t, secured, func(p peer) bool {
						if p.order == 1 {
							p.says(created201)
							return true
						}
						breaks(p)
						return false
					})
					client := s.client(t, nil)
					call := operations(t.Context(), client)[op]
					if err := call(); err != nil {
						t.Fatalf("%s on a new connection = %v", op, err)
					}
					awaitKept(t, client)
					check(t, op, call(), s.requests.Load()-1, isUnknown)
					if s.conns.Load() != 1 {
						t.Errorf("%s: %d connections, want 1", op, s.conns.Load())
					}
				}
			})
		}
	}
}

// After the service has broken or closed a kept connection, each order has its own connection.
func TestKeptConnectionsAreDoubted(t *testing.T) {
	t.Parallel()
	for name, idle := range map[string]bool{"broken during a request": false, "closed while idle": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ended atomic.Bool
			kept := make(chan struct{})
			release := sync.OnceFunc(func() { close(kept) })
			defer release() // also if the test ends early
			s := serveWire(t, false, func(p peer) bool {
				if !idle && p.order == 2 && ended.CompareAndSwap(false, true) {
					return false
				}
				p.says(created201)
				if idle && ended.CompareAndSwap(false, true) {
					<-kept
					return false
				}
				return true
			})
			log, hook := logtest.NewNullLogger()
			client := s.client(t, nil, upstream.WithLogger(log))
			_, _ = client.CreateOrder(t.Context(), []byte(`{}`))
			awaitKept(t, client)
			if release(); idle {
				await(t, client.KeptHasEnded)
			}
			_, _ = client.CreateOrder(t.Context(), []byte(`{}`))
			if _, proven, _ := client.Kept(); proven {
				t.Error("kept connections are still used")
			}
			before := s.conns.Load()
			for range 3 {
				if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
					t.Errorf("a later order = %v", err)
				}
				if idle, _, _ := client.Kept(); idle != 0 {
					t.Errorf("%d connections are kept, want none", idle)
				}
			}
			if got := s.conns.Load() - before; got != 3 {
				t.Errorf("3 orders used %d connections, want 3", got)
			}
			if entries := hook.AllEntries(); len(entries) != 1 || entries[0].Data["event"] != "upstream.reuse" {
				t.Errorf("the log has %v, want one event upstream.reuse", entries)
			}
		})
	}
}

// All calls that write share connections.
func TestOperationsShareAConnection(t *testing.T) {
	t.Parallel()
	s := serveWire(t, true, func(p peer) bool { p.says(created201); return true })
	client := s.client(t, nil)
	for op, call := range operations(t.Context(), client) {
		if err := call(); err != nil {
			t.Errorf("%s = %v", op, err)
		}
		awaitKept(t, client)
	}
	if s.conns.Load() != 1 || s.requests.Load() != 4 {
		t.Errorf("%d connections for %d calls, want 1 for 4", s.conns.Load(), s.requests.Load())
	}
	client.Close()
	if idle, _, _ := client.Kept(); idle != 0 {
		t.Errorf("%d connections are open after Close", idle)
	}
}

// counted serves s and counts its connections and the requests that ask to close theirs.
func counted(t *testing.T, idle time.Duration, handler http.HandlerFunc) (server *httptest.Server, conns, closing *atomic.Int64) {
	t.Helper()
	conns, closing = new(atomic.Int64), new(atomic.Int64)
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Close {
			closing.Add(1)
		}
		handler(w, r)
	}))
	server.Config.IdleTimeout = idle
	state := server.Config.ConnState
	server.Config.ConnState = func(conn net.Conn, to http.ConnState) {
		if to == http.StateNew {
			conns.Add(1)
		}
		if state != nil {
			state(conn, to)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server, conns, closing
}

// A connection is used again only after another one stayed open for twice the time.
func TestReuseIsProvenFirst(t *testing.T) {
	t.Parallel()
	const reuse = 400 * time.Millisecond
	for _, tc := range []struct {
		idle  time.Duration // of the service
		reuse time.Duration
		want  bool
	}{
		{time.Minute, reuse, true},
		{reuse / 2, reuse, false},
		{time.Minute, 0, false},
	} {
		t.Run(fmt.Sprint(tc.idle, tc.reuse), func(t *testing.T) {
			t.Parallel()
			server, conns, closing := counted(t, tc.idle, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusCreated)
				_, _ = fmt.Fprintf(w, `{"orderID":%q}`, rand.Text())
			})
			cfg := config(server.URL)
			cfg.AuthURL, cfg.Timeouts.Reuse = new(wireService).tokens(t), &tc.reuse
			synctest.Test(t, func(t *testing.T) { // only the service is outside
				reuseIsProven(t, connect(t, cfg), reuse, tc.reuse > 0, tc.want, conns, closing)
			})
		})
	}
}

func reuseIsProven(t *testing.T, client *upstream.Client, reuse time.Duration, enabled, proves bool, conns, closing *atomic.Int64) {
	t.Helper()
	order := func() {
		t.Helper()
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
			t.Errorf("CreateOrder() = %v", err)
		}
	}
	order()
	time.Sleep(reuse / 5) //testwaits:allow in the synctest bubble
	order()
	if conns.Load() != 2 {
		t.Errorf("%d connections of 2 orders before the proof, want 2", conns.Load())
	}
	if !proves {
		awaitEnd(t, client)
	}
	time.Sleep(3 * reuse) //testwaits:allow in the synctest bubble
	if idle, proven, _ := client.Kept(); proven != proves || idle != 0 {
		t.Fatalf("proven %v, %d idle connections; want %v and 0", proven, idle, proves)
	}
	order()
	time.Sleep(10 * time.Millisecond) //testwaits:allow in the synctest bubble: a connection rests before it is used again
	order()
	want, closed := int64(4), int64(3)
	if proves {
		want, closed = 3, 1
	}
	if !enabled {
		closed = 4
	}
	if conns.Load() != want || closing.Load() != closed {
		t.Errorf("%d connections of 4 orders, %d closed by the client; want %d, %d", conns.Load(), closing.Load(), want, closed)
	}
	if proves {
		time.Sleep(2 * reuse) //testwaits:allow in the synctest bubble
		order()
		if conns.Load() != 4 {
			t.Errorf("an order after more than timeouts.reuse: %d connections, want 4", conns.Load())
		}
	}
}

// Many orders share connections, and each gets its own response.
func TestConcurrentOrdersOnKeptConnections(t *testing.T) {
	t.Parallel()
	const callers, orders = 12, 60
	s := serveWire(t, true, func(p peer) bool {
		id := strings.Trim(p.body, "{}")
		p.says(fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n{\"orderID\":%s}", len(id)+12, id))
		return true
	})
	client := s.client(t, nil)
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for order := range orders {
				id := strconv.Itoa(1 + caller*orders + order)
				created, err := client.CreateOrder(t.Context(), []byte("{"+id+"}"))
				if err != nil || created.OrderID != id {
					t.Errorf("order %s = %s, %v", id, created.OrderID, err)
				}
			}
		})
	}
	all.Wait()
	if s.requests.Load() != callers*orders || s.conns.Load() >= callers*orders/2 {
		t.Errorf("%d requests on %d connections, want %d on less than half as many", s.requests.Load(), s.conns.Load(), callers*orders)
	}
}

// The end of a call closes its kept connection: its late response must not answer the next order. If its time was
// over, the connection may have been lost. If it was cancelled, that says nothing.
func TestACallThatEndsClosesItsKeptConnection(t *testing.T) {
	t.Parallel()
	for _, cancelled := range []bool{false, true} {
		t.Run(fmt.Sprint("cancelled ", cancelled), func(t *testing.T) {
			t.Parallel()
			endOfACall(t, cancelled)
		})
	}
}

func endOfACall(t *testing.T, cancelled bool) {
	t.Helper()
	sent, gone := make(chan struct{}), make(chan struct{})
	s := serveWire(t, false, func(p peer) bool {
		if p.order == 2 {
			close(sent)
			<-gone
			p.says(strings.Replace(created201, `"1"`, `"late"`, 1))
			return false
		}
		p.says(created201)
		return true
	})
	client := s.client(t, nil)
	if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	awaitKept(t, client)
	var ctx context.Context = overdue{t.Context(), sent}
	if cancelled {
		withCancel, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { <-sent; cancel() }()
		ctx = withCancel
	}
	_, err := client.CreateOrder(ctx, []byte(`{}`))
	close(gone)
	if !isUnknownError(err) {
		t.Errorf("an order without a response = %v, want unknown", err)
	}
	if _, proven, _ := client.Kept(); proven != cancelled {
		t.Errorf("kept connections are used afterwards: %v, want %v", proven, cancelled)
	}
	created, err := client.CreateOrder(t.Context(), []byte(`{}`))
	if err != nil || created.OrderID != "1" || s.conns.Load() != 2 {
		t.Errorf("the next order = %+v, %v on connection %d; want order 1 on connection 2", created, err, s.conns.Load())
	}
}

// Behind a proxy, each request has its own connection.
func TestWritesThroughAProxyHaveTheirOwnConnections(t *testing.T) {
	t.Parallel()
	var hosts []string
	proxy, conns, closing := counted(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.URL.Host)
		_, _ = io.WriteString(w, `{"orderID":"1"}`)
	})
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := withTokens(t, "http://service.test", upstream.WithProxy(http.ProxyURL(at)), upstream.WithProven())
	for range 2 {
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
			t.Errorf("CreateOrder() = %v", err)
		}
	}
	if conns.Load() != 2 || closing.Load() != 2 || !slices.Equal(hosts, []string{"service.test", "service.test"}) {
		t.Errorf("hosts %v, %d connections, %d closed by the client; want service.test twice, 2, 2", hosts, conns.Load(), closing.Load())
	}
}
