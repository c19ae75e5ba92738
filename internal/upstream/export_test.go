package upstream

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// What the tests of package upstream_test reach inside for.

// WithWriteDial keeps the real write transport over other connections.
func WithWriteDial(
	dial func(ctx context.Context, network, address string) (net.Conn, error), settings *tls.Config,
) Option {
	return func(c *Client) { c.writes = newWriteTransport(dial, settings) }
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
