package upstream

import (
	"context"
	"crypto/tls"
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

// dialFunc opens a connection.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// newReadTransport is the transport of menu, reasons and token. Answers are
// unpacked by this package, not by the transport, so that limits are its own.
func newReadTransport(cfg Config) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        cfg.Concurrency,
		MaxIdleConnsPerHost: cfg.Concurrency,
		IdleConnTimeout:     readIdle,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  true,
	}
}

// newWriteTransport is the transport of the calls that write. Each try has a
// connection of its own: on one that has rested, however shortly, a request can
// cross the service's closing it, and then nobody knows whether it was read
// (trap 14). It speaks HTTP/1.1 only, and counts the bytes that left, so that
// "nothing written" is known and not guessed. dial and tlsConfig may be nil.
func newWriteTransport(dial dialFunc, tlsConfig *tls.Config) *http.Transport {
	if dial == nil {
		dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
		dial = dialer.DialContext
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if tlsConfig != nil {
		settings = tlsConfig.Clone()
	}
	settings.NextProtos = []string{"http/1.1"}
	settings.ClientSessionCache = tls.NewLRUClientSessionCache(0) // handshakes stay cheap
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &countingConn{Conn: conn}, nil
		},
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return handshake(ctx, conn, address, settings)
		},
		TLSClientConfig:     settings, // behind a proxy
		Protocols:           protocols,
		DisableKeepAlives:   true,
		WriteBufferSize:     writeBuffer,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  true,
	}
}

// handshake makes conn a TLS connection that counts what the request wrote,
// without what TLS itself wrote.
func handshake(ctx context.Context, conn net.Conn, address string, settings *tls.Config) (net.Conn, error) {
	if settings.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		settings = settings.Clone()
		settings.ServerName = host
	}
	secured := tls.Client(conn, settings)
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &countingConn{Conn: secured}, nil
}

// countingConn counts the bytes that were written.
type countingConn struct {
	net.Conn
	written atomic.Int64
}

// Write implements net.Conn.
func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}
