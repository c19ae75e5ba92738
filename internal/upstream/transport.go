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
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(0), // for cheap handshakes
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
		TLSClientConfig:     settings, // for a proxy
		Protocols:           protocols,
		DisableKeepAlives:   true,
		WriteBufferSize:     writeBuffer,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  true,
	}
}

// dialCounted opens the connection of one call that writes; it uses TLS if settings are given. It must finish
// before the call's latest start. The connection counts the bytes of the request, without those of TLS. It
// uses the writeConn of ctx, if there is one.
func dialCounted(ctx context.Context, dial DialFunc, network, address string, settings *tls.Config) (net.Conn, error) {
	window, _ := ctx.Value(sendWindowKey{}).(sendWindow) // the transport dials without the call's deadline
	if !window.begin.IsZero() {
		limited, cancel := context.WithDeadline(ctx, window.begin)
		defer cancel()
		ctx = limited
	}
	conn, err := dial(ctx, network, address)
	counted := &countingConn{window: window}
	if kept, ok := ctx.Value(writeConnKey{}).(*writeConn); ok {
		kept.counted = counted
		if system, ok := conn.(*net.TCPConn); ok {
			kept.socket, _ = system.SyscallConn() // no error: it is open
			kept.Conn, counted.kept, conn = conn, kept, kept
		}
	}
	if err == nil && settings != nil {
		conn, err = handshake(ctx, conn, address, settings)
	}
	if err != nil {
		return nil, err
	}
	counted.Conn = conn
	return counted, nil
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

// countingConn counts the bytes of one request, and rejects writes after the end of the call.
type countingConn struct {
	net.Conn
	kept    *writeConn // the socket, if the connection may be kept; otherwise nil
	window  sendWindow
	written atomic.Int64
}

// Write implements net.Conn. It checks the clock itself: a process that was suspended until after
// the call's end could write before its timers fire, and by then the call may have been resolved
// and sent again (policy O12). A call whose connection took too long is not started (policy O8a).
func (c *countingConn) Write(p []byte) (int, error) {
	if past(c.window.end) || c.written.Load() == 0 && past(c.window.begin) {
		return 0, errTooLate
	}
	if err := c.kept.begin(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// errTooLate means that the call's time was over before its first or its last byte was written.
var errTooLate = errors.New("the time limit of the call was over before it was sent")

// sendWindow limits the time of an attempt: its first byte until begin, its last until end. Zero times are no limits.
type sendWindow struct{ begin, end time.Time }

type sendWindowKey struct{}

// past reports whether end has passed by the monotonic or by the wall clock, because the monotonic
// one stops while a machine sleeps.
func past(end time.Time) bool {
	now := time.Now()
	return !end.IsZero() && (!now.Before(end) || !now.Round(0).Before(end.Round(0)))
}
