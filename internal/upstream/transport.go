package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Limits of the connections to the service.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	// writeBuffer holds the header and the body of all but the largest orders. They are sent with one write.
	writeBuffer = 32 << 10
	readIdle    = 90 * time.Second
)

// DialFunc opens a connection; see net.Dialer.DialContext.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// newReadTransport returns the transport for menus, reasons and tokens. This package, not the
// transport, decompresses answers, because it has its own limits.
func newReadTransport(cfg Config, dial DialFunc) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        cfg.Concurrency,
		MaxIdleConnsPerHost: cfg.Concurrency,
		IdleConnTimeout:     readIdle,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  true,
	}
}

// newWriteTransport returns a transport for calls that write, with a new connection for each request; writePool
// keeps some of them. It uses only HTTP/1.1 and counts the bytes written, so that "nothing written" is certain.
func newWriteTransport(dial DialFunc) *http.Transport {
	settings := &tls.Config{
		MinVersion:                  tls.VersionTLS12,
		NextProtos:                  []string{"http/1.1"},
		ClientSessionCache:          tls.NewLRUClientSessionCache(0), // for cheap handshakes
		DynamicRecordSizingDisabled: true,                            // an order is one record
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialWrite(ctx, dial, network, address, nil)
		},
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialWrite(ctx, dial, network, address, settings)
		},
		TLSClientConfig:     settings, // for a proxy
		Protocols:           protocols,
		DisableKeepAlives:   true,
		WriteBufferSize:     writeBuffer,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  true,
	}
}

// dialWrite opens a writeConn for one call; it uses TLS if settings are given. It must finish before the call's
// latest start.
func dialWrite(ctx context.Context, dial DialFunc, network, address string, settings *tls.Config) (net.Conn, error) {
	window := sendWatchOf(ctx).sendWindow // http.Transport dials without the call's deadline
	if !window.begin.IsZero() {
		limited, cancel := context.WithDeadline(ctx, window.begin)
		defer cancel()
		ctx = limited
	}
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	below := &wire{Conn: conn, opened: time.Now()}
	if system, ok := conn.(*net.TCPConn); ok {
		below.socket, _ = system.SyscallConn() // no error: it is open
	}
	conn = below
	if settings != nil {
		conn, err = handshake(ctx, conn, address, settings)
	}
	return &writeConn{Conn: conn, wire: below, window: window}, err
}

// handshake returns a TLS connection over conn. It closes conn on an error.
func handshake(ctx context.Context, conn net.Conn, address string, settings *tls.Config) (net.Conn, error) {
	settings = settings.Clone()
	settings.ServerName, _, _ = net.SplitHostPort(address) // the transport adds a port to every address
	secured := tls.Client(conn, settings)
	limited, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	if err := secured.HandshakeContext(limited); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

// errTooLate means that the call's time was over before its first or its last byte was written.
var errTooLate = errors.New("the time limit of the call was over before it was sent")

// sendWindow limits the time of an attempt: its first byte until begin, its last until end. Zero times are no limits.
// If fresh is set, the attempt uses a new connection.
type sendWindow struct {
	begin, end time.Time
	fresh      bool
}

// past reports whether end has passed by the monotonic or by the wall clock, because the monotonic
// one stops while a machine sleeps.
func past(end time.Time) bool {
	now := time.Now()
	return !end.IsZero() && (!now.Before(end) || !now.Round(0).Before(end.Round(0)))
}

// wire is the connection below TLS. It knows whether TLS has a part of a record.
type wire struct {
	net.Conn
	socket     syscall.RawConn // nil if it is not a connection of the system
	instant    bool            // Read does not wait
	one        [1]byte         // for quiet
	readNow    func(fd uintptr)
	into       []byte // for readNow, with got and err. Local variables would be allocated for each order.
	got        int
	err        error
	opened     time.Time
	head, rest int // bytes of the current TLS record: of its head, and missing after that
}

const recordHead = 5 // bytes of a TLS record's head; the last two are the length of the rest

// readInstantly reads what has arrived, without waiting.
func (w *wire) readInstantly(p []byte) (int, error) {
	if w.readNow == nil {
		w.readNow = func(fd uintptr) { w.got, w.err = syscall.Read(int(fd), w.into) }
	}
	w.into, w.got, w.err = p, 0, nil
	if gone := w.socket.Control(w.readNow); gone != nil || w.got == 0 {
		w.err = cmp.Or(w.err, gone, io.EOF)
	}
	return max(w.got, 0), w.err
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (n int, err error) {
	if w.instant {
		n, err = w.readInstantly(p)
	} else {
		n, err = w.Conn.Read(p)
	}
	for _, b := range p[:n] {
		if w.head < recordHead {
			w.head, w.rest = w.head+1, (w.rest<<8|int(b))&math.MaxUint16
		} else {
			w.rest--
		}
		if w.head == recordHead && w.rest == 0 {
			w.head = 0
		}
	}
	return n, err
}
