package fastpath_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/httpapi/fastpath"
	"larder.local/internal/testkit/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const limit = 30 * time.Second // for each condition that a test waits for

// ready answers /body with a body, blocks /held until it is released, and panics at /panic. All
// other requests go to net/http.
type ready struct {
	body    []byte
	held    chan struct{} // closed when a request for /held has arrived
	release chan struct{}
}

func (r *ready) Respond(request *fastpath.Request, answer *fastpath.Response) bool {
	switch request.Path {
	case "/held":
		close(r.held)
		<-r.release
	case "/panic":
		panic("on purpose")
	case "/body":
	default:
		return false
	}
	answer.Head = append(answer.Head, "HTTP/1.1 200 OK\r\nContent-Length: "+strconv.Itoa(len(r.body))+"\r\n"...)
	answer.Body = r.body
	return true
}

func (*ready) Sent(int, time.Duration) {}

// fixture is a Listener on a real port in front of net/http, which answers "behind" and counts its
// requests.
type fixture struct {
	t        *testing.T
	ready    *ready
	listener *fastpath.Listener
	server   *http.Server
	behind   atomic.Int64
	panicked atomic.Int64
	reported chan struct{} // closed by a panic
	cut      context.CancelFunc
	group    errgroup.Group
}

func newFixture(t *testing.T, size int) *fixture {
	t.Helper()
	return newFixtureOf(t, bodyOf(size), nil, nil)
}

func bodyOf(size int) []byte { return bytes.Repeat([]byte("larder "), size/7+1)[:size] }

// newFixtureOf is newFixture with other timeouts, for the fast path and for net/http.
func newFixtureOf(t *testing.T, body []byte, change func(*fastpath.Config), behind func(*http.Server)) *fixture {
	t.Helper()
	r := &fixture{t: t, reported: make(chan struct{}), ready: &ready{body: body, held: make(chan struct{}), release: make(chan struct{})}}
	var config net.ListenConfig
	inner, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := fastpath.Config{
		Handler:      func() fastpath.Handler { return r.ready },
		HeadTimeout:  limit,
		IdleTimeout:  limit,
		WriteTimeout: limit,
		OnPanic:      func(any) { r.panicked.Add(1); close(r.reported) },
	}
	if change != nil {
		change(&cfg)
	}
	r.listener = fastpath.New(inner, cfg)
	r.server = &http.Server{ReadHeaderTimeout: limit, Handler: http.HandlerFunc(func(rw http.ResponseWriter, request *http.Request) {
		r.behind.Add(1)
		if request.URL.Path == "/large" {
			_, _ = rw.Write(r.ready.body)
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			rw.WriteHeader(http.StatusRequestTimeout)
		} else {
			_, _ = io.WriteString(rw, "behind "+request.Method+" "+string(body))
		}
	})}
	if behind != nil {
		behind(r.server)
	}
	ctx, cut := context.WithCancel(context.WithoutCancel(t.Context()))
	r.cut = cut
	r.group.Go(func() error { return r.listener.Run(ctx) })
	r.group.Go(func() error {
		if err := r.server.Serve(r.listener); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	t.Cleanup(func() {
		_ = r.server.Close()
		cut()
		if err := r.group.Wait(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// stop shuts down as the server does, and fails the test if that takes too long.
func (r *fixture) stop() error {
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	return errors.Join(r.server.Shutdown(ctx), r.listener.Wait(ctx))
}

// client is a connection to the fixture.
type client struct {
	*testing.T
	net.Conn
	in *bufio.Reader
}

func (r *fixture) dial() *client {
	r.t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(r.t.Context(), "tcp", r.listener.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	c := &client{r.t, conn, bufio.NewReader(conn)}
	c.renew()
	return c
}

// renew restarts the time limit for the next step, because all steps together can take long on a
// busy machine.
func (c *client) renew() {
	c.Helper()
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		c.Fatal(err)
	}
}

func (c *client) send(text string) {
	c.Helper()
	c.renew()
	if _, err := io.WriteString(c.Conn, text); err != nil {
		c.Fatal(err)
	}
}

// received is one response.
type received struct {
	body, date string
	last       bool // the response had Connection: close
}

// receive reads one response.
func (c *client) receive() received {
	c.Helper()
	c.renew()
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.Fatalf("no answer: %v", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.Fatal(err)
	}
	return received{string(text), answer.Header.Get("Date"), answer.Close}
}

// ends fails unless the connection is closed without another byte.
func (c *client) ends() {
	c.Helper()
	c.renew()
	if rest, err := io.ReadAll(c.in); err != nil || len(rest) > 0 {
		c.Fatalf("the connection goes on with %.100q, %v", rest, err)
	}
}

func ask(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: l\r\n\r\n" }

func TestBodiesOfAllSizesArriveComplete(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 16<<10 - 1, 16 << 10, 16<<10 + 1, 3 << 20} {
		r := newFixture(t, size)
		c := r.dial()
		c.send(strings.Repeat(ask("/body"), 3) + "HEAD" + ask("/body")[3:] + ask("/body"))
		for i := range 5 {
			if i == 3 { // HEAD
				line, err := c.in.ReadString('\n')
				for err == nil && line != "\r\n" {
					line, err = c.in.ReadString('\n')
				}
				continue
			}
			if got := c.receive(); got.body != string(r.ready.body) || got.date == "" {
				t.Errorf("answer %d of %d bytes has %d, date %q", i, size, len(got.body), got.date)
			}
		}
		if n := r.behind.Load(); n != 0 {
			t.Errorf("%d requests got to net/http", n)
		}
	}
}

// A connection that was handed to net/http stays there, with all later requests.
func TestAHandedOverConnectionStaysHandedOver(t *testing.T) {
	t.Parallel()
	r := newFixture(t, 10)
	c := r.dial()
	c.send(ask("/body"))
	if got := c.receive(); got.body != string(r.ready.body) {
		t.Fatalf("got %q", got.body)
	}
	hidden := ask("/body")
	c.send("POST /other HTTP/1.1\r\nHost: l\r\nContent-Length: " + strconv.Itoa(len(hidden)) + "\r\n\r\n" + hidden + ask("/body"))
	if got := c.receive(); got.body != "behind POST "+hidden {
		t.Errorf("got %q", got.body)
	}
	if got := c.receive(); got.body != "behind GET " {
		t.Errorf("the next one got %q", got.body)
	}
}

func TestAPanicClosesItsConnectionAlone(t *testing.T) {
	t.Parallel()
	r := newFixture(t, 10)
	other, c := r.dial(), r.dial()
	c.send(ask("/panic"))
	c.ends()
	other.send(ask("/body"))
	other.receive()
	select { // the connection is closed before the report
	case <-r.reported:
	case <-time.After(limit):
		t.Fatal("the panic is not reported")
	}
	if n := r.panicked.Load(); n != 1 {
		t.Errorf("%d panics were reported", n)
	}
}

// At a shutdown, a response in progress is completed with Connection: close. Idle connections are
// closed, and new ones are rejected.
func TestShutdown(t *testing.T) {
	t.Parallel()
	r := newFixture(t, 1<<20)
	resting, busy, fresh, given := r.dial(), r.dial(), r.dial(), r.dial()
	given.send(ask("/other"))
	given.receive()
	fresh.send("GET /bo")
	resting.send(ask("/body"))
	resting.receive()
	busy.send(ask("/held") + ask("/body"))
	<-r.ready.held

	var stopped errgroup.Group
	stopped.Go(r.stop)
	resting.ends()
	given.ends()
	var dialer net.Dialer
	for begun := time.Now(); ; {
		conn, err := dialer.DialContext(t.Context(), "tcp", r.listener.Addr().String())
		if err != nil {
			break
		}
		_ = conn.Close()
		if time.Since(begun) > limit {
			t.Fatal("the port is still open")
		}
	}
	close(r.ready.release)
	if got := busy.receive(); got.body != string(r.ready.body) || !got.last {
		t.Errorf("the answer in flight has %d bytes and close %v", len(got.body), got.last)
	}
	busy.ends()
	fresh.ends()
	if err := stopped.Wait(); err != nil {
		t.Error(err)
	}
	if conn, err := r.listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after the end gave %v, %v", conn, err)
	}
}

// Requests that do not finish are aborted when the context of Run ends.
func TestRunIsCut(t *testing.T) {
	t.Parallel()
	r := newFixture(t, 64<<20)
	c := r.dial()
	c.send(ask("/body"))
	if _, err := c.in.Peek(1); err != nil { // the response is being sent
		t.Fatal(err)
	}
	_ = r.listener.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.listener.Wait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait gave %v while a connection is answered", err)
	}
	r.cut()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := r.listener.Wait(ctx); err != nil {
		t.Error(err)
	}
}

// faulty is a listener whose Accept sometimes fails.
type faulty struct {
	net.Listener
	faults atomic.Int64
}

type passing struct{ error }

func (passing) Timeout() bool   { return false }
func (passing) Temporary() bool { return true }

func (f *faulty) Accept() (net.Conn, error) {
	if f.faults.Add(-1) >= 0 {
		return nil, passing{errors.New("too many open files")}
	}
	return f.Listener.Accept()
}

// A temporary error of Accept is passed to net/http, which waits and tries again.
func TestAcceptSurvivesPassingFaults(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	inner, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	broken := &faulty{Listener: inner}
	broken.faults.Store(3)
	r := &fixture{t: t, reported: make(chan struct{}), ready: &ready{body: []byte("b")}, server: &http.Server{
		ReadHeaderTimeout: limit, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}}
	r.listener = fastpath.New(broken, fastpath.Config{
		Handler:      func() fastpath.Handler { return r.ready },
		HeadTimeout:  limit,
		IdleTimeout:  limit,
		WriteTimeout: limit,
		OnPanic:      func(any) {},
	})
	r.group.Go(func() error { return r.listener.Run(t.Context()) })
	r.group.Go(func() error { return r.server.Serve(r.listener) })
	c := r.dial()
	c.send(ask("/body"))
	c.receive()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if err := r.group.Wait(); !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
