package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"

	"larder.local/internal/keptconn"
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
func WithObserver(observe Observer) Option {
	return Option{deps: func(d *Deps) { d.Observe = observe }}
}

// WithDial sets the function that opens connections.
func WithDial(dial keptconn.DialFunc) Option { return Option{deps: func(d *Deps) { d.Dial = dial }} }

// WithJitter replaces the random part of the pauses between attempts.
func WithJitter(jitter func(most time.Duration) time.Duration) Option {
	return Option{deps: func(d *Deps) { d.Jitter = jitter }}
}

// WithTransports replaces the transports. The transport of writes must not repeat requests.
func WithTransports(reads, writes http.RoundTripper) Option {
	return Option{client: func(c *Client) {
		other := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}} // no HTTP/2
		other.RegisterProtocol("http", reads)
		other.RegisterProtocol("https", reads)
		c.reads.Store(other)
		c.writes = double{writes}
	}}
}

// double sends requests of calls that write with a test double. Its connections are not known.
type double struct{ http.RoundTripper }

func (d double) Send(req *http.Request, _ keptconn.Limits, _ bool) (*keptconn.Response, bool, error) {
	res, err := d.RoundTrip(req) //nolint:bodyclose // the caller releases it
	return &keptconn.Response{Response: res}, true, err
}

func (double) Doubt() {}
func (double) Close() {}

// kept returns the sender of a client that has kept connections.
func (c *Client) kept() *writeSender {
	w, ok := c.writes.(*writeSender)
	if !ok {
		panic("the client has other transports")
	}
	return w
}

// WithWriteDial keeps the real connections for writes and changes how they are opened. If roots is not nil,
// they trust roots.
func WithWriteDial(dial keptconn.DialFunc, roots *x509.CertPool) Option {
	return Option{client: func(c *Client) {
		c.writes = newWriteSender(c.cfg, dial, http.ProxyFromEnvironment, c.log)
		if settings := c.kept().TLS; settings != nil {
			settings.RootCAs = roots
		}
	}}
}

// WithProven makes the client use kept connections as if one had stayed open for a long time.
func WithProven() Option { return Option{client: func(c *Client) { c.kept().Proven = true }} }

// WithListening makes the client listen for a time after an error on a reused connection.
func WithListening(d time.Duration) Option { return Option{client: func(c *Client) { c.listen = d }} }

// WithReuse makes the client keep connections for writes. If reuse is not 0, they are used at once.
func WithReuse(reuse time.Duration) Option {
	return Option{client: func(c *Client) { c.kept().Reuse, c.kept().Proven = reuse, reuse > 0 }}
}

// WithoutProof makes the client watch a connection before it uses kept ones.
func WithoutProof() Option { return Option{client: func(c *Client) { c.kept().Proven = false }} }

// WithProxy sends writes through a proxy.
func WithProxy(proxy func(*http.Request) (*url.URL, error)) Option {
	return Option{client: func(c *Client) {
		c.writes = newWriteSender(c.cfg, new(net.Dialer).DialContext, proxy, c.log)
	}}
}

// AgeKept makes the idle connections for writes older.
func (c *Client) AgeKept(by time.Duration) {
	c.kept().Inspect(func(idle []*keptconn.Conn) {
		for _, conn := range idle {
			conn.Age(by)
		}
	})
}

// Kept returns the number of idle connections for writes, whether they may be used, and whether the last one
// could be used now. If something has arrived at it, Kept closes it.
func (c *Client) Kept() (idle int, proven, usable bool) {
	pool := c.kept().Pool
	pool.Inspect(func(all []*keptconn.Conn) {
		if idle, proven = len(all), pool.Proven; idle > 0 {
			last := all[idle-1]
			usable = !last.HasEnded() && last.Usable(pool.Reuse)
		}
	})
	return idle, proven, usable
}

// KeptHasEnded reports whether the service has closed the last idle connection, or sent something on it. It is also
// true if none is idle. Without TLS it consumes one byte of what was sent: a service that has sent a single byte has
// sent nothing for the next call. If something has arrived, it closes the connection.
func (c *Client) KeptHasEnded() (ended bool) {
	c.kept().Inspect(func(idle []*keptconn.Conn) {
		ended = len(idle) == 0 || idle[len(idle)-1].HasEnded()
	})
	return ended
}

// AwaitKeptEnd waits until KeptHasEnded, and returns false after a minute of real time. In a synctest bubble, no time
// passes meanwhile.
func (c *Client) AwaitKeptEnd() bool {
	for !c.KeptHasEnded() {
		var last *keptconn.Conn
		c.kept().Inspect(func(idle []*keptconn.Conn) {
			if len(idle) > 0 {
				last = idle[len(idle)-1]
			}
		})
		if last != nil && !Arrives(last) {
			return c.KeptHasEnded()
		}
	}
	return true
}

// Arrives waits until something, or the end, has arrived at a connection of a call that writes. It reads nothing. It
// returns false after a minute of real time. In a synctest bubble, no time passes meanwhile.
func Arrives(conn net.Conn) (arrived bool) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	socket, err := c.SyscallConn()
	if err != nil {
		return false
	}
	for range time.Minute / time.Millisecond {
		_ = socket.Control(func(fd uintptr) { // fails only if the connection is closed
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
func (e Effect) String() string { return [...]string{"none", "refused", "done", "unknown"}[e] }

// Refused reports whether the service certainly refused the call.
func (e *Error) Refused() bool { return e.Effect == EffectRefused }

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

// ClearText is clearText.
func ClearText(err error) error { return clearText(err) }

type callKey struct{}

// WithCall returns a context for one of the calls below, with its slot and a function that gets its attempts.
func WithCall(ctx context.Context, slot *Slot, report func(Attempt)) context.Context {
	return context.WithValue(ctx, callKey{}, WriteRequest{Slot: slot, Report: report})
}

func (c *Client) call(ctx context.Context, op Operation, orderID string, body []byte) (Answer, error) {
	r, _ := ctx.Value(callKey{}).(WriteRequest)
	r.Operation, r.OrderID, r.Body = op, orderID, body
	return c.Write(ctx, r)
}

// CreateOrder creates an order.
func (c *Client) CreateOrder(ctx context.Context, body []byte) (Answer, error) {
	return c.call(ctx, OpCreate, "", body)
}

// Pay pays an order.
func (c *Client) Pay(ctx context.Context, orderID string, body []byte) (Answer, error) {
	return c.call(ctx, OpPay, orderID, body)
}

// Complete closes an order.
func (c *Client) Complete(ctx context.Context, orderID string) (Answer, error) {
	return c.call(ctx, OpComplete, orderID, nil)
}

// Reject rejects an order.
func (c *Client) Reject(ctx context.Context, orderID string, body []byte) (Answer, error) {
	return c.call(ctx, OpReject, orderID, body)
}
