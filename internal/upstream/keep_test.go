package upstream_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/upstream"
)

// A request on a kept connection has its own time limit, not that of the request before it.
func TestAKeptConnectionHasTheLimitsOfTheNewRequest(t *testing.T) {
	t.Parallel()
	s := serveWire(t, true, func(p peer) bool { p.says(created201); return true })
	tokens := s.tokens(t)
	synctest.Test(t, func(t *testing.T) {
		client := s.clientOf(t, tokens, nil)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.CreateOrder(short, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		<-short.Done()
		synctest.Wait()
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil || s.conns.Load() != 1 {
			t.Errorf("%v, %d connections, want 1", err, s.conns.Load())
		}
	})
}

// Many orders are sent at the same time, again and again. Only one connection is kept after it can be used.
func TestIdleConnectionsAreClosedInTime(t *testing.T) {
	t.Parallel()
	const callers = 4
	s := serveWire(t, false, func(p peer) bool { <-time.After(20 * time.Millisecond); p.says(created201); return true }) //testwaits:allow the service responds late
	client := s.client(t, func(cfg *upstream.Config) { cfg.Timeouts.Reuse = new(300 * time.Millisecond) })
	most := 0
	for range 6 {
		var all sync.WaitGroup
		for range callers {
			all.Go(func() { _, _ = client.CreateOrder(t.Context(), []byte(`{}`)) })
		}
		all.Wait()
		<-time.After(150 * time.Millisecond) //testwaits:allow half of timeouts.reuse: unused connections are closed, a used one is not
		idle, _, _ := client.Kept()
		most = max(most, idle)
		<-time.After(140 * time.Millisecond) //testwaits:allow the next orders come within timeouts.reuse
	}
	if most > callers+1 {
		t.Errorf("%d idle connections, %d orders at the same time; want at most one more", most, callers)
	}
}

// A call in progress during Close leaves no idle connection.
func TestACallThatEndsAfterCloseKeepsNothing(t *testing.T) {
	t.Parallel()
	arrived, closed := make(chan struct{}), make(chan struct{})
	s := serveWire(t, false, func(p peer) bool { close(arrived); <-closed; p.says(created201); return true })
	client := s.client(t, nil)
	_, _ = client.Token(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _, _ = client.CreateOrder(t.Context(), []byte(`{}`)) })
	<-arrived
	client.Close()
	close(closed)
	all.Wait()
	if idle, _, _ := client.Kept(); idle != 0 {
		t.Errorf("%d idle connections after Close", idle)
	}
}

// A connection that is not kept is closed by the client, even if the service would keep it.
func TestOtherConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a short announced time":    withHeader("Keep-Alive: max=9, timeout=119"),
		"an unreadable time":        withHeader("Keep-Alive: timeout=soon"),
		"an announced end":          withHeader("Connection: close"),
		"HTTP/1.0":                  strings.Replace(created201, "1.1", "1.0", 1),
		"an error that is too long": "HTTP/1.1 400 Bad Request\r\nContent-Length: 9000000\r\n\r\n" + strings.Repeat("x", 2<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveWire(t, false, func(p peer) bool { p.says(text); return true })
			client := s.client(t, nil)
			_, _ = client.CreateOrder(t.Context(), []byte(`{}`))
			if idle, proven, _ := client.Kept(); idle != 0 || !proven {
				t.Errorf("%d idle connections, proven %v; want 0, true", idle, proven)
			}
			await(t, func() bool { return s.ended.Load() == 1 })
		})
	}
}

// A long enough announced time is no reason to close a connection.
func TestAnAnnouncedTimeIsLongEnough(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"Keep-Alive: timeout=120", "keep-alive: max=9, Timeout = 99999999999"} {
		s := serveWire(t, false, func(p peer) bool { p.says(withHeader(line)); return true })
		client := s.client(t, nil)
		_, _ = client.CreateOrder(t.Context(), []byte(`{}`))
		awaitKept(t, client)
		_, _ = client.CreateOrder(t.Context(), []byte(`{}`))
		if s.conns.Load() != 1 {
			t.Errorf("%s: %d connections, want 1", line, s.conns.Load())
		}
	}
}

// A connection is not kept forever, even if it is used all the time.
func TestAnOldConnectionIsNotKept(t *testing.T) {
	t.Parallel()
	s := serveWire(t, false, func(p peer) bool { p.says(created201); return true })
	client := s.client(t, nil)
	for order, conns := range []int64{1, 1, 2} {
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil || s.conns.Load() != conns {
			t.Errorf("order %d = %v on connection %d, want %d", order, err, s.conns.Load(), conns)
		}
		if order == 0 {
			awaitKept(t, client)
		}
		client.AgeKept(5 * time.Minute)
	}
}

// After a failed choice of a proxy, nothing is sent without one.
func TestAnErrorOfTheProxyIsNotIgnored(t *testing.T) {
	t.Parallel()
	s := serveWire(t, false, func(p peer) bool { p.says(created201); return true })
	client := s.client(t, nil, upstream.WithProxy(func(*http.Request) (*url.URL, error) { return nil, errors.New("no proxy") }))
	_, err := client.CreateOrder(t.Context(), []byte(`{}`))
	if e := asError(t, err); e.Effect != upstream.EffectNone || s.conns.Load() != 0 {
		t.Errorf("CreateOrder() = %v on %d connections, want not sent", err, s.conns.Load())
	}
}

// A host name that is not ASCII is translated.
func TestAHostNameIsTranslated(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	dialed := map[string]bool{}
	client := withTokens(t, "http://кафе.test", upstream.WithWriteDial(func(_ context.Context, _, address string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		dialed[address] = true
		return nil, net.ErrClosed
	}, nil))
	_, _ = client.CreateOrder(t.Context(), []byte(`{}`))
	mu.Lock()
	defer mu.Unlock()
	if len(dialed) != 1 || !dialed["xn--80akn5b.test:80"] {
		t.Errorf("dialed %v", dialed)
	}
}

// writes records the sizes of the writes to a connection.
type writes struct {
	net.Conn
	sizes chan<- int
}

// Write implements net.Conn.
func (w writes) Write(p []byte) (int, error) {
	w.sizes <- len(p)
	return w.Conn.Write(p)
}

// An order of 12 KB over TLS is one record, sent with one write.
func TestAnOrderIsOneRecord(t *testing.T) {
	t.Parallel()
	const size = 12 << 10
	s := serveWire(t, true, func(p peer) bool { p.says(created201); return true })
	sizes := make(chan int, 100)
	client := s.client(t, nil, upstream.WithWriteDial(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return writes{conn, sizes}, err
	}, s.roots))
	if _, err := client.CreateOrder(t.Context(), []byte(`"`+strings.Repeat("x", size)+`"`)); err != nil {
		t.Fatal(err)
	}
	client.Close()
	close(sizes)
	largest := 0
	for n := range sizes {
		largest = max(largest, n)
	}
	if largest <= size {
		t.Errorf("the largest write has %d bytes, want the whole order of %d", largest, size)
	}
}

// After a refusal of the token on a kept connection, the call is repeated on a new one.
func TestARefusedTokenOnAKeptConnectionIsRenewed(t *testing.T) {
	t.Parallel()
	s := &service{}
	answers(s, reply(http.StatusOK, ""), reply(http.StatusUnauthorized, ""), reply(http.StatusOK, ""))
	client := start(t, s, upstream.WithReuse(2*time.Second))
	for call := range int64(2) {
		if _, err := client.Complete(t.Context(), "1"); err != nil {
			t.Errorf("call %d = %v", call, err)
		}
		if calls, tokens := s.calls.Load(), s.tokens.Load(); calls != 1+2*call || tokens != 1+call {
			t.Errorf("call %d: %d requests and %d tokens in total, want %d and %d", call, calls, tokens, 1+2*call, 1+call)
		}
	}
}
