package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Limits of the connections to the service.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	// writeBuffer holds the head and the body of all but the largest orders, so
	// that they leave in one piece.
	writeBuffer = 32 << 10
	readIdle    = 90 * time.Second
)

// DialFunc opens a connection, as net.Dialer's DialContext does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// newReadTransport returns the transport of menu, reasons and token. Answers are
// unpacked by this package, not by the transport, so that limits are its own.
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

// newWriteTransport returns the transport of the calls that write. Each attempt
// has a connection of its own: on one that has rested, however shortly, a request
// can cross the service's closing it, and then nobody knows whether it was read.
// It speaks HTTP/1.1 only, and counts the bytes that left, so that
// "nothing written" is known and not guessed.
func newWriteTransport(dial DialFunc) *http.Transport {
	settings := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(0), // handshakes stay cheap
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialCounted(ctx, dial, network, address, nil)
		},
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialCounted(ctx, dial, network, address, settings)
		},
		TLSClientConfig:     settings, // behind a proxy
		Protocols:           protocols,
		DisableKeepAlives:   true,
		WriteBufferSize:     writeBuffer,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  true,
	}
}

// dialCounted opens the connection of one call that writes, by TLS if there are
// settings, no later than the call may be begun. The connection counts what the
// request wrote, without what TLS itself wrote.
func dialCounted(ctx context.Context, dial DialFunc, network, address string, settings *tls.Config) (net.Conn, error) {
	window, _ := ctx.Value(sendWindowKey{}).(sendWindow) // the transport dials without the call's deadline
	if !window.begin.IsZero() {
		limited, cancel := context.WithDeadline(ctx, window.begin)
		defer cancel()
		ctx = limited
	}
	conn, err := dial(ctx, network, address)
	if err == nil && settings != nil {
		conn, err = handshake(ctx, conn, address, settings)
	}
	if err != nil {
		return nil, err
	}
	return &countingConn{Conn: conn, window: window}, nil
}

// handshake makes conn a TLS connection, and closes it if that fails.
func handshake(ctx context.Context, conn net.Conn, address string, settings *tls.Config) (net.Conn, error) {
	settings = settings.Clone()
	settings.ServerName, _, _ = net.SplitHostPort(address) // the transport gives every address a port
	secured := tls.Client(conn, settings)
	limited, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	if err := secured.HandshakeContext(limited); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

// countingConn counts the bytes that were written, and takes none after its
// end.
type countingConn struct {
	net.Conn
	window  sendWindow
	written atomic.Int64
}

// Write implements net.Conn. It looks at the clock itself: a process that was
// stopped beyond the call's end goes on writing before its timers tell it, and
// by then the call may have been resolved and made again (policy O12). A call
// whose connection took too long is not begun (policy O8a).
func (c *countingConn) Write(p []byte) (int, error) {
	if past(c.window.end) || c.written.Load() == 0 && past(c.window.begin) {
		return 0, errTooLate
	}
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// errTooLate: the call's time was over before its first byte, or before its
// last one, was written.
var errTooLate = errors.New("too late to be sent")

// sendWindow is when an attempt may be written: its first byte not after begin, and
// nothing after end. The zero times are no limits.
type sendWindow struct{ begin, end time.Time }

// sendWindowKey is where a context holds the sendWindow of a call that writes.
type sendWindowKey struct{}

// past reports whether a time has come, by the process's clock or by the wall's:
// the one stands still while a machine sleeps.
func past(end time.Time) bool {
	now := time.Now()
	return !end.IsZero() && (!now.Before(end) || !now.Round(0).Before(end.Round(0)))
}
