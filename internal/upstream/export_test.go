package upstream

import (
	"crypto/x509"
	"net/http"
	"time"
)

// What the tests of package upstream_test reach inside for.

// WithTransports replaces the transports; the one of writes must not repeat requests
// by itself.
func WithTransports(reads, writes http.RoundTripper) Option {
	return func(c *Client) { c.reads, c.writes = reads, writes }
}

// WithWriteDial keeps the real write transport over other connections, which trust
// roots too if it is not nil.
func WithWriteDial(dial DialFunc, roots *x509.CertPool) Option {
	return func(c *Client) {
		transport := newWriteTransport(dial)
		transport.TLSClientConfig.RootCAs = roots
		c.writes = transport
	}
}

// WithClock replaces the clock that token lifetimes are measured by.
func WithClock(clock func() time.Time) Option { return func(c *Client) { c.clock = clock } }

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
