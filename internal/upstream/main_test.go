package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"larder.local/internal/testkit/leaktest"
	"larder.local/internal/upstream"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const secret = "s3cret+/value"

// service is a small ordering service: numbered tokens from 1, and one handler for all
// other requests. It records requests.
type service struct {
	tokens  atomic.Int64
	calls   atomic.Int64
	token   http.HandlerFunc // nil: a valid token
	handler http.HandlerFunc
}

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/connect/token" {
		n := s.tokens.Add(1)
		if s.token != nil {
			s.token(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":3600,"token_type":"Bearer"}`, n)
		return
	}
	s.calls.Add(1)
	s.handler(w, r)
}

func config(address string) upstream.Config {
	return upstream.Config{
		Name:         "main",
		BaseURL:      address,
		AuthURL:      address,
		ClientID:     "client",
		ClientSecret: secret,
	}
}

// noPause makes attempts follow each other immediately.
func noPause(time.Duration) time.Duration { return 0 }

// start serves s on a real socket and returns a client for it.
func start(t *testing.T, s http.Handler, opts ...upstream.Option) *upstream.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return connect(t, config(server.URL), opts...)
}

func connect(t *testing.T, cfg upstream.Config, opts ...upstream.Option) *upstream.Client {
	t.Helper()
	client, err := upstream.Make(cfg, append([]upstream.Option{upstream.WithJitter(noPause)}, opts...)...)
	if err != nil {
		t.Fatalf("New(%+v) = %v", cfg, err)
	}
	t.Cleanup(client.Close)
	return client
}

// asError returns the *upstream.Error of a failed call, and fails if it is another error.
func asError(t *testing.T, err error) *upstream.Error {
	t.Helper()
	var e *upstream.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v (%T), want an *upstream.Error", err, err)
	}
	return e
}

// connKey is the context key of a request's connection.
type connKey struct{}

// memory is an in-process network for tests in a synctest bubble.
type memory struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
	dials atomic.Int64
	delay atomic.Int64 // of the next dial, in nanoseconds
}

// hold makes the next dial take the given time.
func (m *memory) hold(d time.Duration) { m.delay.Store(int64(d)) }

func newMemory() *memory {
	return &memory{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial returns the client's end of a new connection.
func (m *memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	select {
	case <-time.After(time.Duration(m.delay.Swap(0))):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		m.dials.Add(1)
		return near, nil
	case <-m.done:
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *memory) Close() error { m.once.Do(func() { close(m.done) }); return nil }

// Addr implements net.Listener.
func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

// within serves s in memory and returns a client for it. The caller, in a bubble, calls
// stop before it returns.
func within(
	t *testing.T, s http.Handler, opts ...upstream.Option,
) (client *upstream.Client, network *memory, stop func()) {
	t.Helper()
	return withinConfig(t, s, func(*upstream.Config) {}, opts...)
}

// withinConfig is within with a changed configuration.
func withinConfig(
	t *testing.T, s http.Handler, change func(*upstream.Config), opts ...upstream.Option,
) (client *upstream.Client, network *memory, stop func()) {
	t.Helper()
	network = newMemory()
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: time.Hour,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(network) }()
	cfg := config("http://service.test")
	change(&cfg)
	client, err := upstream.Make(cfg, append([]upstream.Option{
		upstream.WithJitter(noPause), upstream.WithDial(network.Dial),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return client, network, func() {
		client.Close()
		if err := server.Close(); err != nil {
			t.Errorf("closing the service: %v", err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving: %v", err)
		}
	}
}

// startWith is start with a changed configuration.
func startWith(t *testing.T, s http.Handler, change func(*upstream.Config)) *upstream.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	cfg := config(server.URL)
	change(&cfg)
	return connect(t, cfg)
}

// hang does not respond until the client disconnects.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // net/http detects a disconnected client only after that
	<-r.Context().Done()
}
