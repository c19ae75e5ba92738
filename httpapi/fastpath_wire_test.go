package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/testkit/apitest"
)

// wire is a connection in memory. The client has sent all its bytes and closed its sending side.
type wire struct {
	sent  []byte
	chunk int // maximum bytes per Read

	mu       sync.Mutex
	answered bytes.Buffer
	ended    sync.Once
	end      chan struct{}
}

func newWire(sent []byte, chunk int) *wire {
	return &wire{sent: sent, chunk: max(chunk, 1), end: make(chan struct{})}
}

func (w *wire) Read(into []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sent) == 0 {
		return 0, io.EOF
	}
	n := copy(into, w.sent[:min(w.chunk, len(w.sent))])
	w.sent = w.sent[n:]
	return n, nil
}

func (w *wire) Write(from []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answered.Write(from)
}

func (w *wire) CloseWrite() error {
	w.ended.Do(func() { close(w.end) })
	return nil
}

func (w *wire) Close() error      { return w.CloseWrite() }
func (*wire) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (*wire) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50_000} }
func (*wire) SetDeadline(time.Time) error      { return nil }
func (*wire) SetReadDeadline(time.Time) error  { return nil }
func (*wire) SetWriteDeadline(time.Time) error { return nil }

// wires is a listener of such connections.
type wires struct {
	queue  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newWires() *wires { return &wires{queue: make(chan net.Conn), closed: make(chan struct{})} }

func (l *wires) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *wires) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (*wires) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// ask sends a stream over one connection and returns all bytes that came back.
func (l *wires) ask(tb testing.TB, stream []byte, chunk int) string {
	tb.Helper()
	w := newWire(stream, chunk)
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for queue := l.queue; ; {
		select {
		case queue <- w:
			queue = nil
			continue
		case <-w.end:
		case <-limit.C:
			tb.Fatalf("no end of the answer to %q", stream)
		}
		break
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answered.String()
}

// bothPaths is one Server whose routes are behind net/http alone, and behind the fast path with
// net/http after it.
type bothPaths struct {
	plain, fast *wires
	fell        atomic.Int64 // requests that the fast path passed on
}

// readsOf returns a handler for the routes without effects. Requests that would change something or
// never end get their method and body as the response.
func readsOf(w *apitest.Fixture) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead || strings.Contains(r.URL.Path, "events") || r.URL.Path == "/metrics" {
			body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
			_, _ = io.WriteString(rw, r.Method+" "+strconv.Quote(string(body))+" "+strconv.FormatBool(err == nil))
			return
		}
		// Closing the sending side must not cancel earlier requests.
		w.Server.Handler().ServeHTTP(rw, r.WithContext(context.WithoutCancel(r.Context())))
	}
}

func newBothPaths(tb testing.TB, w *apitest.Fixture) *bothPaths {
	tb.Helper()
	l := &bothPaths{plain: newWires(), fast: newWires()}
	routes := readsOf(w)
	counted := func(rw http.ResponseWriter, r *http.Request) {
		l.fell.Add(1)
		routes(rw, r)
	}
	fastPath := w.Server.FastPath(l.fast)
	ctx, cut := context.WithCancel(context.WithoutCancel(tb.Context()))
	var group errgroup.Group
	group.Go(func() error { return fastPath.Run(ctx) })
	for listener, handler := range map[net.Listener]http.HandlerFunc{l.plain: routes, fastPath: counted} {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
		group.Go(func() error { return server.Serve(listener) })
		tb.Cleanup(func() { _ = server.Close() })
	}
	tb.Cleanup(func() {
		cut()
		_ = l.plain.Close()
		_ = group.Wait() // http.ErrServerClosed, or the listener's error
	})
	return l
}

// Values that differ between two responses to the same request.
var (
	madeID   = regexp.MustCompile(`01[0-9A-HJKMNP-TV-Z]{24}`)
	dateLine = regexp.MustCompile(`(?m)^Date: .*\r$`)
)

func leveled(answer string) string {
	return madeID.ReplaceAllString(dateLine.ReplaceAllString(answer, "Date: now\r"), "ID")
}

// same checks that both paths return the same. It returns the responses and the number of requests
// that the fast path passed on.
func (l *bothPaths) same(tb testing.TB, stream []byte, chunk int) (answer string, fell int) {
	tb.Helper()
	want := l.plain.ask(tb, stream, 1<<20)
	before := l.fell.Load()
	got := l.fast.ask(tb, stream, chunk)
	if leveled(got) != leveled(want) {
		tb.Fatalf("the stream %q\nin pieces of %d got\n%q\nfrom the fast path, and from net/http\n%q", stream, chunk, got, want)
	}
	return got, int(l.fell.Load() - before)
}
