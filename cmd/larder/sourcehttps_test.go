package main

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"larder/internal/testkit/clitest"
)

// The address of the same service changes from http to https, and back. Its orders are paid, its menu is fetched with its
// validator, and nothing is published again.
func TestTheSameServiceOverHTTPS_O16(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	service.Close()
	service.Server = httptest.NewUnstartedServer(service)
	borrowed := httptest.NewUnstartedServer(nil) // for its certificate
	borrowed.StartTLS()
	t.Cleanup(borrowed.Close)
	service.Listener = newBothSchemes(service.Listener, borrowed.TLS)
	service.Start()
	t.Cleanup(service.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: borrowed.Certificate().Raw})
	m.env = []string{"SSL_CERT_FILE=" + clitest.WriteFile(t, "ca.pem", string(certificate))}

	plain, secure := over(service), over(service)
	secure.connections[0] = strings.Replace(secure.connections[0], "http://", "https://", 1)
	first := m.start(t, "", plain)
	version := first.waitFor(t, 10)
	first.place(t, "key-1-over-http").is(t, "an order", http.StatusCreated, "")
	first.kill(t)

	second := m.start(t, "", secure)
	second.validate(t, "").is(t, "validate with https", http.StatusOK, "")
	second.pay(t, "1", "").is(t, "a payment of the order", http.StatusOK, "")
	second.place(t, "key-1-over-http").is(t, "the repeated key", http.StatusCreated, "")
	second.place(t, "key-2-over-https").is(t, "another order", http.StatusCreated, "")
	must(t, clitest.AsOps(second.base, "sync", "r")...)
	if v, price, stale := second.serves(t); v != version || price != 10 || stale {
		t.Errorf("https: version %d, price %d, stale %v; want version %d", v, price, stale, version)
	}
	second.kill(t)

	third := m.start(t, "", plain)
	third.pay(t, "2", "").is(t, "a payment over http", http.StatusOK, "")
	reads, orders, changes := service.seen()
	if len(orders) != 2 || len(changes) != 2 || reads[len(reads)-1] == "" {
		t.Errorf("the service got the validators %q, %d orders and the changes %q", reads, len(orders), changes)
	}
}

// bothSchemes is a listener for http and https at one address.
type bothSchemes struct {
	net.Listener
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newBothSchemes(l net.Listener, settings *tls.Config) *bothSchemes {
	b := &bothSchemes{Listener: l, accepted: make(chan net.Conn), closed: make(chan struct{})}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.sort(conn, settings) // a client may open a connection that it does not use
		}
	}()
	return b
}

func (b *bothSchemes) sort(conn net.Conn, settings *tls.Config) {
	peeked := &peekedConn{Conn: conn, reader: bufio.NewReader(conn)}
	var sorted net.Conn = peeked
	if first, err := peeked.reader.Peek(1); err == nil && first[0] == 0x16 { // a handshake of TLS
		sorted = tls.Server(peeked, settings)
	}
	select {
	case b.accepted <- sorted:
	case <-b.closed:
		_ = conn.Close()
	}
}

// Accept implements net.Listener.
func (b *bothSchemes) Accept() (net.Conn, error) {
	select {
	case conn := <-b.accepted:
		return conn, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (b *bothSchemes) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements net.Conn.
func (c *peekedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }
