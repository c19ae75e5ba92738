package upstream

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"golang.org/x/oauth2"
)

// sendWatch knows the connection of one request, so that it can report whether any
// byte of it may have been sent (policy O8, "nothing written").
type sendWatch struct {
	conn atomic.Pointer[net.Conn] // nil: the request got none
}

// watch returns a context whose request is watched.
func (w *sendWatch) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { w.conn.Store(&info.Conn) },
	})
}

// nothingSent reports whether certainly no byte of the request was sent. Each
// attempt has one connection of its own, so all that it carried is the attempt's.
func (w *sendWatch) nothingSent() bool {
	conn := w.conn.Load()
	if conn == nil {
		return true
	}
	counted, ok := (*conn).(*countingConn) // another one, of TLS behind a proxy, does not count
	return ok && counted.written.Load() == 0
}

// certaintyOf returns the certainty of an answer to a call that writes (policies O8,
// W13); nil means done.
func (c *Client) certaintyOf(op Operation, got *answer, used *oauth2.Token) *Error {
	d := readResponseBody(got.body)
	if got.bodyErr != nil {
		d = responseBody{} // half a body says nothing
	}
	if got.status >= 200 && got.status <= 299 && done(op, got, d) {
		return nil
	}
	e := c.failure(op, got, got.bodyErr, used)
	e.again = false
	switch s := got.status; {
	case s >= 200 && s <= 299:
		if op != OpCreate && d.isErrorShape() {
			// The interface does not show the status of a failed payment: its
			// error shape is a no, whatever the status.
			e.refused = true
			return e
		}
		e.Effect = EffectUnknown
		if e.Err == nil {
			e.Err = fmt.Errorf("%w: a success that says nothing certain", ErrResponse)
		}
	case s == http.StatusUnauthorized: // a second time: turned away, not judged
	case s == http.StatusTooManyRequests,
		s == http.StatusServiceUnavailable && *c.cfg.RetryUnavailable:
		e.again = true
	case s == http.StatusRequestTimeout:
		e.Effect = EffectUnknown
	case s >= 300 && s <= 499:
		e.refused = true
	case s >= 500 && s <= 599 && d.isErrorShape():
		e.refused = true
	default:
		e.Effect = EffectUnknown
	}
	return e
}

// done reports whether a 2xx answer says that the call took effect: a created
// order has its id; of the others any JSON or nothing will do, unless it is
// the interface's error shape (policy W13).
func done(op Operation, got *answer, d responseBody) bool {
	switch {
	case got.bodyErr != nil:
		return false
	case op == OpCreate:
		return d.orderID != ""
	case len(got.body) == 0:
		return true
	default:
		return d.json && (d.hasResult || !d.isErrorShape())
	}
}
