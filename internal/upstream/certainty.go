package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"

	"golang.org/x/oauth2"
)

// departure watches one request and tells whether any byte of it may have left
// (policy O8, "nothing written").
type departure struct {
	mu    sync.Mutex
	asked bool // the transport looked for a connection, so it runs the hooks
	blind bool // it wrote to a connection that does not count
	conns []*countingConn
}

// watch gives a context whose request is watched.
func (d *departure) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.asked = true
		},
		GotConn: func(info httptrace.GotConnInfo) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if conn, ok := info.Conn.(*countingConn); ok {
				d.conns = append(d.conns, conn)
				return
			}
			d.blind = true
		},
		WroteHeaders: func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.asked = true
			d.blind = d.blind || len(d.conns) == 0
		},
	})
}

// nothingLeft tells whether certainly no byte of the request left, given the
// transport's error.
func (d *departure) nothingLeft(err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.blind {
		return false
	}
	if !d.asked { // a transport without hooks: only a failed dial is sure
		var dial *net.OpError
		return errors.As(err, &dial) && dial.Op == "dial"
	}
	// Each try has connections of its own, so all that they carried is its.
	return !slices.ContainsFunc(d.conns, func(c *countingConn) bool { return c.written.Load() != 0 })
}

// judge is the certainty of an answer to a call that writes (policies O8,
// W13); nil means done.
func (c *Client) judge(op Operation, got *answer, used *oauth2.Token) *Error {
	d := readDocument(got.body)
	if got.bodyErr != nil {
		d = document{} // half a body says nothing
	}
	if got.status >= 200 && got.status <= 299 && done(op, got, d) {
		return nil
	}
	e := c.failure(op, got, got.bodyErr, used)
	e.again = false
	switch s := got.status; {
	case s >= 200 && s <= 299:
		if op != OpCreate && d.errorShaped() {
			// The interface does not show the status of a failed payment: its
			// error shape is a no, whatever the status.
			e.refused = true
			return e
		}
		e.Effect = EffectUnknown
		if e.Err == nil {
			e.Err = fmt.Errorf("%w: a success that says nothing certain", ErrAnswer)
		}
	case s == http.StatusUnauthorized: // a second time: turned away, not judged
	case s == http.StatusTooManyRequests,
		s == http.StatusServiceUnavailable && *c.cfg.RetryUnavailable:
		e.again = true
	case s == http.StatusRequestTimeout:
		e.Effect = EffectUnknown
	case s >= 300 && s <= 499:
		e.refused = true
	case s >= 500 && s <= 599 && d.errorShaped():
		e.refused = true
	default:
		e.Effect = EffectUnknown
	}
	return e
}

// done tells whether a 2xx answer says that the call took effect: a created
// order has its id; of the others any JSON or nothing will do, unless it is
// the interface's error shape (policy W13).
func done(op Operation, got *answer, d document) bool {
	switch {
	case got.bodyErr != nil:
		return false
	case op == OpCreate:
		return d.orderID != ""
	case len(got.body) == 0:
		return true
	default:
		return d.json && (d.hasResult || !d.errorShaped())
	}
}
