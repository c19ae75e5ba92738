// Package keptconn sends HTTP/1.1 requests that must not be sent twice, and knows whether a byte of a request was
// sent. It keeps TCP connections for a short time. It exists for speed only: a new connection costs a round trip, or
// two with TLS, and a third of the CPU time of an order (decision 0062). Package upstream could use a new
// http.Transport for each call instead.
//
// A connection carries one request at a time. It is used again only if nothing indicates that the service has closed
// it or sent anything, 5 ms or more after the caller has released the last response.
package keptconn

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// DoubtTime is the time after a doubt in which each call has its own connection.
	DoubtTime = 10 * time.Minute

	maxAge           = 5 * time.Minute // of a kept connection, so that calls follow the service's address
	rest             = 5 * time.Millisecond
	handshakeTimeout = 10 * time.Second
)

// DialFunc opens a connection; see net.Dialer.DialContext.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Pool keeps connections to one service. It is safe for concurrent use. The service may close a connection while a
// request is on its way, and its outcome would be unknown. So a connection is reused only for half of the time for
// which another one stayed open while idle.
type Pool struct {
	Address string      // host and port of the service
	TLS     *tls.Config // with the name of the server; nil: no TLS; see Secure
	Open    DialFunc
	Reuse   time.Duration // maximum time between the starts of two requests of a connection; 0: none is kept
	Proven  bool          // an idle connection stayed open for twice the time Reuse; only tests set it
	Doubted func()        // is called when the pool stops using kept connections

	mu         sync.Mutex
	closed     bool
	idle       []*Conn
	doubtUntil time.Time
}

// take returns the rested idle connection that was used last, or nil. Before the end of the proof, it returns nil.
func (p *Pool) take(limits Limits, fresh bool) *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, c := range slices.Backward(p.idle) {
		until := c.began.Add(p.Reuse)
		// A timer that cannot be stopped has started expire, which waits for p.mu.
		if p.Proven && !fresh && !time.Now().Before(c.rested) && !Past(until) && c.timer.Stop() {
			p.idle = slices.Delete(p.idle, at, at+1)
			c.limits, c.until, c.checked = limits, until, true
			c.written.Store(0)
			return c
		}
	}
	return nil
}

// mayKeep reports whether a connection may be kept after its request. The caller has locked p.mu.
func (p *Pool) mayKeep() bool {
	return p.Reuse > 0 && !p.closed && (p.Proven || len(p.idle) == 0 && time.Now().After(p.doubtUntil))
}

// put keeps a connection after a complete response, or returns false. If no other one is idle, it is watched for
// twice the time reuse. Otherwise it is kept while it can be used. The caller has locked p.mu.
func (p *Pool) put(c *Conn, res *http.Response) bool {
	if !p.mayKeep() {
		return false
	}
	c.watched = time.Time{}
	left := p.Reuse - time.Since(c.began)
	if len(p.idle) == 0 {
		left, c.watched = 2*p.Reuse, time.Now()
	}
	switch {
	case c.settings != p.TLS, c.wire.socket == nil, res.Request.Close, res.Close, !res.ProtoAtLeast(1, 1), Past(c.wire.opened.Add(maxAge)),
		announced(res.Header) < 2*p.Reuse, left <= 0:
		return false
	case c.reader.Buffered() > 0:
		p.doubt()
		return false
	}
	c.rested = time.Now().Add(rest)
	if c.timer == nil {
		c.timer = time.AfterFunc(left, func() { p.expire(c) })
	} else {
		c.timer.Reset(left) // take has stopped it
	}
	p.idle = append(p.idle, c)
	return true
}

// announced returns how long the service keeps an idle connection, by its Keep-Alive header. It is 0 if the time is not
// readable, and has no end if the header names none.
func announced(header http.Header) time.Duration {
	value := header.Get("Keep-Alive")
	_, limit, found := strings.Cut(strings.ToLower(value), "timeout")
	if value == "" || !found {
		return math.MaxInt64
	}
	limit, _, _ = strings.Cut(limit, ",")
	seconds, _ := strconv.ParseUint(strings.Trim(limit, "= "), 10, 16)
	return time.Duration(seconds) * time.Second
}

// expire closes an idle connection. If it was watched and is still open, other connections may be reused from
// now on. If the machine slept in between, nothing is proven: the end of the connection may have been missed.
func (p *Pool) expire(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.idle, c)
	if at < 0 {
		return
	}
	p.idle = slices.Delete(p.idle, at, at+1)
	now := time.Now()
	slept := now.Round(0).Sub(c.watched.Round(0)) - now.Sub(c.watched)
	switch {
	case c.watched.IsZero() || slept.Abs() > time.Second:
	case c.quiet():
		p.Proven = true // a doubt would have removed it
	default:
		p.doubt()
	}
	_ = c.Close() // does not wait, because nothing is unsent
}

// Settings returns the settings of TLS for new connections.
func (p *Pool) Settings() *tls.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.TLS
}

// Secure sets other settings of TLS. Connections that were opened before it carry no other request.
func (p *Pool) Secure(settings *tls.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.TLS = settings
	p.closeIdle()
}

// Doubt closes the idle connections. Each call has its own connection for ten minutes from now on.
func (p *Pool) Doubt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doubt()
}

// doubt is Doubt. The caller has locked p.mu.
func (p *Pool) doubt() {
	if p.Reuse > 0 && !p.closed && time.Now().After(p.doubtUntil) {
		p.Doubted()
	}
	p.Proven, p.doubtUntil = false, time.Now().Add(DoubtTime)
	p.closeIdle()
}

// closeIdle closes the idle connections. The caller has locked p.mu.
func (p *Pool) closeIdle() {
	for _, c := range p.idle {
		c.timer.Stop()
		_ = c.Close()
	}
	p.idle = nil
}

// Close closes the idle connections. No others are kept from now on.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.doubt()
}

// Inspect calls fn with the idle connections, the one that was used last at the end. Only tests use it.
func (p *Pool) Inspect(fn func(idle []*Conn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn(p.idle)
}
