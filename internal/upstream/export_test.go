package upstream

import (
	"crypto/x509"
	"net/http"
	"time"

	"github.com/sirupsen/logrus"
)

// What the tests of package upstream_test reach inside for.

// Option changes a client of a test: what it is made of, or the client itself.
type Option struct {
	deps   func(*Deps)
	client func(*Client)
}

// Make makes a client as New does, with options.
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

// WithObserver sets what is called after every exchange.
func WithObserver(observe func(Call)) Option {
	return Option{deps: func(d *Deps) { d.Observe = observe }}
}

// WithDial opens connections by dial.
func WithDial(dial DialFunc) Option { return Option{deps: func(d *Deps) { d.Dial = dial }} }

// WithJitter replaces the random part of the pauses between attempts.
func WithJitter(jitter func(most time.Duration) time.Duration) Option {
	return Option{deps: func(d *Deps) { d.Jitter = jitter }}
}

// WithTransports replaces the transports; the one of writes must not repeat requests
// by itself.
func WithTransports(reads, writes http.RoundTripper) Option {
	return Option{client: func(c *Client) { c.reads, c.writes = reads, writes }}
}

// WithWriteDial keeps the real write transport over other connections, which trust
// roots too if it is not nil.
func WithWriteDial(dial DialFunc, roots *x509.CertPool) Option {
	return Option{client: func(c *Client) {
		transport := newWriteTransport(dial)
		transport.TLSClientConfig.RootCAs = roots
		c.writes = transport
	}}
}

// WithClock replaces the clock that token lifetimes are measured by.
func WithClock(clock func() time.Time) Option {
	return Option{client: func(c *Client) { c.clock = clock }}
}

// ReadResponseBody exposes the decoder of answers to the fuzz target.
func ReadResponseBody(body []byte) (orderID, code, msg, requestID string, isJSON bool) {
	d := readResponseBody(body)
	return d.orderID, d.code, d.msg, d.requestID, d.json
}

// ReadReasons exposes the decoder of rejection reasons to the fuzz target.
func ReadReasons(body []byte) ([]Reason, error) { return readReasons(body) }

// ReadTokenReply exposes the decoder of token replies to the fuzz target.
func ReadTokenReply(body []byte, now time.Time) (token string, lifetime time.Duration) {
	reply := readTokenReply(body)
	if reply.lifetime > 0 {
		return reply.accessToken, reply.lifetime
	}
	return reply.accessToken, jwtLifetime(reply.accessToken, now)
}

// String returns the effect's name, for messages of tests.
func (e Effect) String() string { return [...]string{"none", "done", "unknown"}[e] }
