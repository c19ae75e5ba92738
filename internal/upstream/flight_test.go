package upstream_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/upstream"
)

// silent does not respond. Its first read consumes the request's header.
func silent(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn) // until the client disconnects
}

// after reads the request, sends the start of a response, and then nothing.
func after(beginning string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 64<<10))
		_, _ = io.WriteString(conn, beginning)
		silent(conn)
	}
}

// dripping sends the start, and then the same bytes every second, without end.
func dripping(beginning, piece string) func(net.Conn) {
	return func(conn net.Conn) {
		_, err := conn.Read(make([]byte, 64<<10))
		for text := beginning; err == nil; text = piece {
			_, err = io.WriteString(conn, text)
			<-time.After(time.Second) //testwaits:allow in the synctest bubble
		}
	}
}

// deaf reads a single byte of the request, so that the request cannot be written
// completely. It notices that the client has disconnected when a later write fails.
func deaf(conn net.Conn) {
	_, err := conn.Read(make([]byte, 1))
	for err == nil {
		<-time.After(time.Minute) //testwaits:allow in the synctest bubble
		_, err = conn.Write([]byte("H"))
	}
}

// In every situation the call ends with its context or with the write limit (policy O8a:
// earlier if it cannot be sent any more). Its connection is closed at that moment. net/http
// may continue to dial for some time, but sends nothing of the request on that connection.
func TestAWriteEndsWithItsContext(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	none, unknown := upstream.EffectNone, upstream.EffectUnknown
	for name, tc := range map[string]struct {
		scheme string
		serve  func(net.Conn) // nil: no connection is accepted
		effect upstream.Effect
	}{
		"no accept":                         {"http", nil, none},
		"no TLS handshake":                  {"https", silent, none},
		"nothing is read":                   {"http", deaf, unknown},
		"no response":                       {"http", silent, unknown},
		"only the first byte of a response": {"http", after("H"), unknown},
		"headers without end":               {"http", dripping("HTTP/1.1 200 OK\r\n", "X: y\r\n"), unknown},
		"early hints without end":           {"http", dripping("", "HTTP/1.1 103 Early Hints\r\n\r\n"), unknown},
		"a body that does not start":        {"http", after(ok + "Content-Length: 9\r\n\r\n"), unknown},
		"a body that does not end":          {"http", after(ok + "Content-Length: 99\r\n\r\n{}"), unknown},
		"a slow body":                       {"http", dripping(ok+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"), unknown},
		"a slow compressed body":            {"http", dripping(ok+"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", "\x00\x00\x00\xff\xff"), unknown},
		"a slow refusal":                    {"http", dripping("HTTP/1.1 500 Oops\r\n\r\n", "{"), unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, given := range []time.Duration{3 * time.Second, time.Hour} {
				for _, kept := range []bool{false, true} {
					synctest.Test(t, func(t *testing.T) { flight(t, tc.scheme, tc.serve, given, tc.effect, kept) })
				}
			}
		})
	}
}

// flight makes a create call whose context has the duration given. The service uses serve.
// flight checks that the call ends at the shorter limit. If kept, connections may be kept.
func flight(t *testing.T, scheme string, serve func(net.Conn), given time.Duration, effect upstream.Effect, kept bool) {
	t.Helper()
	network := newMemory()
	var served sync.WaitGroup
	if serve != nil {
		served.Go(func() {
			if conn, err := network.Accept(); err == nil {
				serve(conn)
				_ = conn.Close()
			}
		})
	}
	var closed atomic.Int64 // nanoseconds since the start
	begun := time.Now()
	dial := func(ctx context.Context, kind, address string) (net.Conn, error) {
		conn, err := network.Dial(ctx, kind, address)
		if err != nil {
			return nil, err
		}
		return &closing{Conn: conn, note: func() { closed.Store(int64(time.Since(begun))) }}, nil
	}
	cfg := config(scheme + "://service.test")
	client, err := upstream.Make(cfg, upstream.WithTransports(roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(`{"access_token":"token"}`))}, nil
	}), nil), upstream.WithWriteDial(dial, nil), upstream.WithReuse(reuseOf(kept)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), given)
	defer cancel()
	limit := min(given, upstream.DefaultWriteTimeout)
	if effect == upstream.EffectNone { // no retry starts with less than a third of the limit left
		limit = min(given, 2*upstream.DefaultWriteTimeout/3)
	}
	_, err = client.CreateOrder(ctx, []byte(`{"dishList":[]}`))
	if took := time.Since(begun); took != limit {
		t.Errorf("the call took %s, want %s: %v", took, limit, err)
	}
	if e := asError(t, err); e.Effect != effect || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call ended with %v: effect %s; want its deadline, effect %s", err, e.Effect, effect)
	}
	synctest.Wait()
	if at := time.Duration(closed.Load()); effect == upstream.EffectUnknown && at != limit {
		t.Errorf("the connection was closed after %s, want %s", at, limit)
	}
	served.Wait()
	_ = network.Close()
}

// closing records the time of the first Close.
type closing struct {
	net.Conn
	note func()
	once sync.Once
}

// Close implements net.Conn.
func (c *closing) Close() error {
	c.once.Do(c.note)
	return c.Conn.Close()
}
