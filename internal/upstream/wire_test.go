package upstream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"larder.local/internal/upstream"
)

// peer is the service's end of one connection.
type peer struct {
	net.Conn // TLS, if the service uses it
	tcp      *net.TCPConn
	batch    *batch // between Conn and tcp
	order    int    // number of the request on this connection, from 1
	body     string // of the request
}

// reset closes the connection with a RST.
func (p peer) reset() {
	_ = p.tcp.SetLinger(0)
	_ = p.tcp.Close()
}

// says writes text to the connection. The orderID 1 is replaced: each response on a connection has another orderID.
func (p peer) says(text string) {
	_, _ = io.WriteString(p, strings.Replace(text, `"orderID":"1"`, `"orderID":"`+p.orderID()+`"`, 1))
}

// orderID is one character, and differs between 35 requests of a connection.
func (p peer) orderID() string { return strconv.FormatInt(int64(max(p.order-1, 0)%35+1), 36) }

// saysTogether writes texts that arrive at the same time. With TLS, each is a record.
func (p peer) saysTogether(texts ...string) {
	p.batch.held = []byte{}
	for _, text := range texts {
		p.says(text)
	}
	_, _ = p.batch.Conn.Write(p.batch.held)
	p.batch.held = nil
}

// batch is a connection that can hold back what is written.
type batch struct {
	net.Conn
	held []byte // nil: nothing is held back
}

// Write implements io.Writer.
func (b *batch) Write(p []byte) (int, error) {
	if b.held == nil {
		return b.Conn.Write(p)
	}
	b.held = append(b.held, p...)
	return len(p), nil
}

// wireService is a service that writes its responses byte by byte.
type wireService struct {
	address  string // a URL
	conns    atomic.Int64
	requests atomic.Int64
	ended    atomic.Int64 // connections
	roots    *x509.CertPool
	answer   func(peer) bool
}

// serveWire calls answer for each request, on the goroutine of the connection. If it returns false, the
// connection is closed.
func serveWire(t *testing.T, secured bool, answer func(peer) bool) *wireService {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &wireService{address: "http://" + listener.Addr().String(), answer: answer}
	var settings *tls.Config
	if secured {
		borrowed := httptest.NewUnstartedServer(nil) // for its certificate
		borrowed.StartTLS()
		defer borrowed.Close()
		s.address, s.roots = "https://"+listener.Addr().String(), x509.NewCertPool()
		s.roots.AddCert(borrowed.Certificate())
		settings = &tls.Config{Certificates: borrowed.TLS.Certificates, MinVersion: tls.VersionTLS12}
	}
	var serving sync.WaitGroup
	var open sync.Map
	serving.Go(func() {
		for {
			accepted, err := listener.Accept()
			if err != nil {
				return
			}
			open.Store(accepted, nil)
			s.conns.Add(1)
			serving.Go(func() {
				defer func() { _ = accepted.Close() }()
				s.serve(accepted, settings)
				s.ended.Add(1)
			})
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
		serving.Wait()
	})
	return s
}

func (s *wireService) serve(accepted net.Conn, settings *tls.Config) {
	p := peer{batch: &batch{Conn: accepted}}
	p.Conn = p.batch
	p.tcp, _ = accepted.(*net.TCPConn)
	if settings != nil {
		p.Conn = tls.Server(p.batch, settings)
	}
	defer func() { _ = p.Conn.Close() }()
	from := bufio.NewReader(p.Conn)
	for {
		r, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.requests.Add(1)
		p.order++
		p.body = string(body)
		if !s.answer(p) {
			return
		}
	}
}

// tokens returns the address of a service for tokens. It keeps no connections, so that a client in a synctest
// bubble has no goroutine that waits for the network: the time of the bubble would stand still.
func (*wireService) tokens(t *testing.T) string {
	t.Helper()
	tokens := httptest.NewUnstartedServer(&service{})
	tokens.Config.SetKeepAlivesEnabled(false)
	tokens.Start()
	t.Cleanup(tokens.Close)
	return tokens.URL
}

// client returns a client of the service with kept connections.
func (s *wireService) client(t *testing.T, change func(*upstream.Config), opts ...upstream.Option) *upstream.Client {
	t.Helper()
	return s.clientOf(t, s.tokens(t), change, opts...)
}

// clientOf is client with a service for tokens. It may be called in a synctest bubble, if both services are
// outside. Then time does not pass while the client waits for them.
func (s *wireService) clientOf(t *testing.T, tokens string, change func(*upstream.Config), opts ...upstream.Option) *upstream.Client {
	t.Helper()
	cfg := config(s.address)
	cfg.AuthURL, cfg.Timeouts.Reuse = tokens, new(time.Minute)
	if change != nil {
		change(&cfg)
	}
	var dialer net.Dialer
	all := []upstream.Option{upstream.WithWriteDial(dialer.DialContext, s.roots), upstream.WithProven()}
	return connect(t, cfg, append(all, opts...)...)
}

const created201 = "HTTP/1.1 201 Created\r\nContent-Length: 26\r\n\r\n{\"result\":{\"orderID\":\"1\"}}"

// withHeader returns created201 with one more header line.
func withHeader(line string) string {
	return strings.Replace(created201, "\r\n", "\r\n"+line+"\r\n", 1)
}

// awaitKept waits until a kept connection can be used.
func awaitKept(t *testing.T, client *upstream.Client) {
	t.Helper()
	await(t, func() bool { _, _, usable := client.Kept(); return usable })
}

// awaitEnd waits until the end of the last kept connection has arrived at the client. In a synctest bubble, no
// time passes.
func awaitEnd(t *testing.T, client *upstream.Client) {
	t.Helper()
	if !client.AwaitKeptEnd() {
		t.Fatal("the end of the connection did not arrive within a minute")
	}
}

// await waits for a condition.
func await(t *testing.T, reached func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !reached(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("the condition was not reached within a minute")
		}
	}
}

// overdue is a context that ends like one whose time is over, when an event happens.
type overdue struct {
	context.Context //nolint:containedctx // its values
	event           <-chan struct{}
}

// Done implements context.Context.
func (o overdue) Done() <-chan struct{} { return o.event }

// Err implements context.Context.
func (o overdue) Err() error {
	select {
	case <-o.event:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// together is a barrier for requests that a service must have at the same time.
type together struct {
	mu      sync.Mutex
	missing int
	all     chan struct{}
}

// of returns a barrier for n requests.
func of(n int) *together { return &together{missing: n, all: make(chan struct{})} }

// arrive waits until all requests have arrived, at most a minute.
func (g *together) arrive() {
	g.mu.Lock()
	if g.missing--; g.missing == 0 {
		close(g.all)
	}
	g.mu.Unlock()
	select {
	case <-g.all:
	case <-time.After(time.Minute):
	}
}

// isUnknownError reports whether the outcome of a call is unknown.
func isUnknownError(err error) bool {
	var e *upstream.Error
	return errors.As(err, &e) && e.Effect == upstream.EffectUnknown
}
