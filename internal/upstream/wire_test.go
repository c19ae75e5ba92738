package upstream_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
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

	"larder/internal/upstream"
)

// peer is the service's end of one connection.
type peer struct {
	net.Conn // TLS, if the service uses it
	tcp      *net.TCPConn
	order    int    // number of the request on this connection, from 1
	body     string // of the request
}

// reset closes the connection with a RST.
func (p peer) reset() {
	_ = p.tcp.SetLinger(0)
	_ = p.tcp.Close()
}

// says writes text to the connection.
func (p peer) says(text string) { _, _ = io.WriteString(p, text) }

// wireService is a service that writes its responses byte by byte.
type wireService struct {
	address  string // a URL
	conns    atomic.Int64
	requests atomic.Int64
	roots    *x509.CertPool
}

// serveWire calls answer for each request, on the goroutine of the connection. If it returns false, the
// connection is closed.
func serveWire(t *testing.T, secured bool, answer func(peer) bool) *wireService {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &wireService{address: "http://" + listener.Addr().String()}
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
				s.serve(accepted, settings, answer)
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

func (s *wireService) serve(accepted net.Conn, settings *tls.Config, answer func(peer) bool) {
	p := peer{Conn: accepted}
	p.tcp, _ = accepted.(*net.TCPConn)
	if settings != nil {
		p.Conn = tls.Server(accepted, settings)
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
		if !answer(p) {
			return
		}
	}
}

// client returns a client of the service with kept connections.
func (s *wireService) client(t *testing.T, change func(*upstream.Config), opts ...upstream.Option) *upstream.Client {
	t.Helper()
	tokens := httptest.NewServer(&service{})
	t.Cleanup(tokens.Close)
	cfg := config(s.address)
	cfg.AuthURL = tokens.URL
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

// await waits for a condition.
func await(t *testing.T, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !reached(); <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the condition was not reached within 10 s")
		}
	}
}

// isUnknownError reports whether the outcome of a call is unknown.
func isUnknownError(err error) bool {
	var e *upstream.Error
	return errors.As(err, &e) && e.Effect == upstream.EffectUnknown
}

// A service sends each response twice. The second one never answers another order.
func TestASecondResponseNeverAnswersAnotherOrder(t *testing.T) {
	t.Parallel()
	s := serveWire(t, false, func(p peer) bool {
		id := strings.Trim(p.body, "{}")
		text := fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n{\"orderID\":%s}", len(id)+12, id)
		p.says(text + text)
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
}
