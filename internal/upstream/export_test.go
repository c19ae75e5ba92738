package upstream

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"
)

// Access to internals for the tests of package upstream_test.

// Option changes the dependencies of a client or the client itself.
type Option struct {
	deps   func(*Deps)
	client func(*Client)
}

// Make returns a client as New does, with options.
func Make(cfg Config, opts ...Option) (*Client, error) {
	deps := Deps{}
	for _, opt := range opts {
		if opt.deps != nil {
			opt.deps(&deps)
		}
	}
	c, err := New(cfg, deps)
	for _, opt := range opts {
		if err == nil && opt.client != nil {
			opt.client(c)
		}
	}
	return c, err
}

// WithLogger sets the log.
func WithLogger(log logrus.FieldLogger) Option {
	return Option{deps: func(d *Deps) { d.Log = log }}
}

// WithObserver sets the function that is called after every exchange.
func WithObserver(observe func(Exchange)) Option {
	return Option{deps: func(d *Deps) { d.Observe = observe }}
}

// WithDial sets the function that opens connections.
func WithDial(dial DialFunc) Option { return Option{deps: func(d *Deps) { d.Dial = dial }} }

// WithJitter replaces the random part of the pauses between attempts.
func WithJitter(jitter func(most time.Duration) time.Duration) Option {
	return Option{deps: func(d *Deps) { d.Jitter = jitter }}
}

// WithTransports replaces the transports. The transport of writes must not repeat requests. It gets no bodies.
func WithTransports(reads, writes http.RoundTripper) Option {
	return Option{client: func(c *Client) { c.reads, c.writes = reads, writes }}
}

// WithWriteDial keeps the real write transport with other connections. If roots is not nil,
// they trust roots.
func WithWriteDial(dial DialFunc, roots *x509.CertPool) Option {
	return Option{client: func(c *Client) {
		single := newWriteTransport(dial)
		single.TLSClientConfig.RootCAs = roots
		c.writes = newWritePool(single, c.cfg, c.log)
	}}
}

// WithProven makes the client use kept connections as if one had stayed open for a long time.
func WithProven() Option {
	return Option{client: func(c *Client) {
		if pool, ok := c.writes.(*writePool); ok {
			pool.proven = true
		}
	}}
}

// WithReuse makes the client keep connections for writes. If reuse is not 0, they are used at once.
func WithReuse(reuse time.Duration) Option {
	return Option{client: func(c *Client) {
		if pool, ok := c.writes.(*writePool); ok {
			pool.reuse, pool.proven = reuse, reuse > 0
		}
	}}
}

// WithoutProof makes the client watch a connection before it uses kept ones.
func WithoutProof() Option {
	return Option{client: func(c *Client) {
		if pool, ok := c.writes.(*writePool); ok {
			pool.proven = false
		}
	}}
}

// WithProxy sends writes through a proxy.
func WithProxy(proxy func(*http.Request) (*url.URL, error)) Option {
	return Option{client: func(c *Client) {
		single := newWriteTransport(new(net.Dialer).DialContext)
		single.Proxy = proxy
		c.writes = newWritePool(single, c.cfg, c.log)
	}}
}

// AgeKept makes the idle connections for writes older.
func (c *Client) AgeKept(by time.Duration) {
	if pool, ok := c.writes.(*writePool); ok {
		pool.mu.Lock()
		defer pool.mu.Unlock()
		for _, conn := range pool.idle {
			conn.wire.opened = conn.wire.opened.Add(-by)
		}
	}
}

// Kept returns the number of idle connections for writes, whether they may be used, and whether the last one
// could be used now.
func (c *Client) Kept() (idle int, proven, usable bool) {
	pool, ok := c.writes.(*writePool)
	if !ok {
		return 0, false, false
	}
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if idle = len(pool.idle); idle > 0 {
		last := pool.idle[idle-1]
		if usable = last.quiet(); !usable {
			_ = last.Close() // quiet has read what arrived: a second call would find nothing
		}
		usable = usable && !past(last.began.Add(pool.reuse))
	}
	return idle, pool.proven, usable
}

// KeptHasEnded reports whether the service has closed the last idle connection, or sent something on it. It is also
// true if none is idle. Without TLS it consumes one byte of what was sent: a service that has sent a single byte has
// sent nothing for the next call.
func (c *Client) KeptHasEnded() bool {
	pool, ok := c.writes.(*writePool)
	if !ok {
		return false
	}
	pool.mu.Lock()
	defer pool.mu.Unlock()
	return len(pool.idle) == 0 || !pool.idle[len(pool.idle)-1].quiet()
}

// AwaitKeptEnd waits until KeptHasEnded, and returns false after a minute of real time. In a synctest bubble, no time
// passes meanwhile.
func (c *Client) AwaitKeptEnd() bool {
	pool, ok := c.writes.(*writePool)
	if !ok {
		return false
	}
	for !c.KeptHasEnded() {
		pool.mu.Lock()
		var last *writeConn
		if n := len(pool.idle); n > 0 {
			last = pool.idle[n-1]
		}
		pool.mu.Unlock()
		if last != nil && !Arrives(last) {
			return c.KeptHasEnded()
		}
	}
	return true
}

// Arrives waits until something, or the end, has arrived at a connection of a call that writes. It reads nothing. It
// returns false after a minute of real time. In a synctest bubble, no time passes meanwhile.
func Arrives(conn net.Conn) (arrived bool) {
	c, ok := conn.(*writeConn)
	if !ok {
		return false
	}
	for range time.Minute / time.Millisecond {
		_ = c.wire.socket.Control(func(fd uintptr) { // fails only if the connection is closed
			n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1) // an interrupted one is repeated
			arrived = n > 0
		})
		if arrived {
			return true
		}
	}
	return false
}

// WithClock replaces the clock for token lifetimes.
func WithClock(clock func() time.Time) Option {
	return Option{client: func(c *Client) { c.clock = clock }}
}

// HostOf returns the host to which a request under an address is sent.
func HostOf(address string) string { return at(address, pathOrders).Host }

// ReadResponseBody exports the decoder of responses for fuzzing.
func ReadResponseBody(body []byte) (orderID, code, msg, requestID string, isJSON bool) {
	d := readResponseBody(body)
	return d.orderID, d.code, d.msg, d.requestID, d.json
}

// ReadReasons exports the decoder of rejection reasons for fuzzing.
func ReadReasons(body []byte) ([]Reason, error) { return readReasons(body) }

// ReadTokenReply exports the decoder of token replies for fuzzing.
func ReadTokenReply(body []byte, now time.Time) (token string, lifetime time.Duration) {
	reply := readTokenReply(body)
	if reply.lifetime > 0 {
		return reply.accessToken, reply.lifetime
	}
	return reply.accessToken, jwtLifetime(reply.accessToken, now)
}

// String returns the effect's name for test failures.
func (e Effect) String() string { return [...]string{"none", "done", "unknown"}[e] }

// The limits and errors that only tests compare with.
const (
	DefaultMenuTimeout = defaultMenuTimeout
	MaxErrorBytes      = maxErrorBytes
)

// ErrOrderID and ErrResponse are errOrderID and errResponse.
var (
	ErrOrderID  = errOrderID
	ErrResponse = errResponse
)
