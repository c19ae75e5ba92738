package upstream

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"slices"
	"sync"
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
