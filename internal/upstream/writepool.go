package upstream

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/sirupsen/logrus"
)

const (
	doubtTime = 10 * time.Minute // each write has its own connection after a kept one has ended or failed
	maxAge    = 5 * time.Minute  // of a kept connection, so that writes follow the service's address
	maxSlept  = time.Second      // difference of the clocks during a proof
)

// writePool sends the calls that write. It keeps connections for a short time, because a new one costs a round
// trip, or two with TLS. A request on a connection that the service is closing would have an unknown outcome.
// So a connection is used only within half of the time that another one stayed open, and only if the service
// has not closed it (decision 0062). No request is sent twice.
//
// http.Transport would not do: it checks nothing before use, and may pass on a connection with unread bytes.
type writePool struct {
	single *http.Transport // a new connection for each request; through a proxy, or with a large body
	direct bool            // no proxy, and a host name that needs no translation
	log    logrus.FieldLogger

	mu         sync.Mutex
	reuse      time.Duration // maximum time between the starts of two requests of a connection; 0: none is kept
	idle       []*writeConn
	proven     bool // an idle connection stayed open for twice the time reuse
	doubtUntil time.Time
}

func newWritePool(single *http.Transport, cfg Config, log logrus.FieldLogger) *writePool {
	base, _ := url.Parse(cfg.BaseURL) // Validate has checked it
	proxy, err := single.Proxy(&http.Request{URL: base})
	translated := strings.ContainsFunc(base.Host, func(r rune) bool { return r > unicode.MaxASCII })
	return &writePool{
		single: single,
		direct: proxy == nil && err == nil && !translated,
		log:    log,
		reuse:  cfg.Timeouts.Reuse,
	}
}

// RoundTrip implements http.RoundTripper. The caller must close the response's body. A service may respond before
// it has read a large body, so http.Transport sends that: it reads and writes concurrently.
func (p *writePool) RoundTrip(req *http.Request) (*http.Response, error) {
	if !p.direct || req.ContentLength > writeBuffer {
		return p.single.RoundTrip(req)
	}
	p.mu.Lock()
	req.Close = !p.mayKeep()
	p.mu.Unlock()
	b, _ := writeBufferPool.Get().(*writeBuffers)
	body := &writeBody{ctx: req.Context(), pool: p, buffers: b}
	if err := body.send(req); err != nil {
		return nil, cmp.Or(context.Cause(body.ctx), err)
	}
	return body.res, nil
}

// connect returns an idle connection, or a new one.
func (p *writePool) connect(ctx context.Context, to *url.URL) (*writeConn, error) {
	window, _ := ctx.Value(sendWindowKey{}).(sendWindow)
	if c := p.take(window); c != nil {
		return c, nil
	}
	dial, port := p.single.DialContext, "80"
	if to.Scheme == "https" {
		dial, port = p.single.DialTLSContext, "443"
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), port)))
	c, _ := conn.(*writeConn)
	return c, err
}

// take returns the idle connection that was used last, or nil. Before the proof, none is used, only watched.
func (p *writePool) take(window sendWindow) *writeConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range slices.Backward(p.idle) {
		if until := c.began.Add(p.reuse); p.proven && !window.fresh && !past(until) {
			p.remove(c)
			c.window, c.until = window, until
			c.written.Store(0)
			return c
		}
	}
	return nil
}

// mayKeep reports whether a connection may be kept after its request. The caller has locked p.mu.
func (p *writePool) mayKeep() bool {
	return p.reuse > 0 && (p.proven || len(p.idle) == 0 && time.Now().After(p.doubtUntil))
}

// put keeps a connection after a complete response, or returns false. If no other one is idle, it is watched for
// twice the time reuse. Otherwise it is kept while it can be used. The caller has locked p.mu.
func (p *writePool) put(c *writeConn, res *http.Response, unread int) bool {
	_, limit, announced := strings.Cut(strings.ToLower(res.Header.Get("Keep-Alive")), "timeout")
	limit, _, _ = strings.Cut(limit, ",")
	seconds, _ := strconv.ParseUint(strings.Trim(limit, "= "), 10, 16)
	c.watched = time.Time{}
	left := p.reuse - time.Since(c.began)
	if len(p.idle) == 0 {
		left, c.watched = 2*p.reuse, time.Now()
	}
	switch {
	case !p.mayKeep(), c.wire.socket == nil, res.Request.Close, res.Close, !res.ProtoAtLeast(1, 1), past(c.wire.opened.Add(maxAge)),
		announced && time.Duration(seconds)*time.Second < 2*p.reuse, left <= 0:
		return false
	case unread > 0:
		p.doubt()
		return false
	}
	c.timer = time.AfterFunc(left, func() { p.expire(c) })
	p.idle = append(p.idle, c)
	return true
}

// expire closes an idle connection. If a watched one is still open, others may be used. A machine that slept
// may not have seen its end.
func (p *writePool) expire(c *writeConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.remove(c) {
		return
	}
	now := time.Now()
	slept := now.Round(0).Sub(c.watched.Round(0)) - now.Sub(c.watched)
	switch {
	case c.watched.IsZero() || slept.Abs() > maxSlept:
	case c.quiet():
		p.proven = true // a doubt would have removed it
	default:
		p.doubt()
	}
	_ = c.Close() // does not wait, because nothing is unsent
}

// remove reports whether the connection was idle. The caller has locked p.mu.
func (p *writePool) remove(c *writeConn) bool {
	at := slices.Index(p.idle, c)
	if at >= 0 {
		c.timer.Stop()
		p.idle = slices.Delete(p.idle, at, at+1)
	}
	return at >= 0
}

// doubt stops the use of kept connections for a while, and closes idle ones. The caller has locked p.mu.
func (p *writePool) doubt() {
	if p.reuse > 0 && time.Now().After(p.doubtUntil) {
		p.log.WithField("event", "upstream.reuse").Infof("a kept connection ended early or failed: each order has its own for %s", doubtTime)
	}
	p.proven, p.doubtUntil = false, time.Now().Add(doubtTime)
	for _, c := range p.idle {
		c.timer.Stop()
		_ = c.Close()
	}
	p.idle = nil
}

// CloseIdleConnections closes the kept connections. No others are kept from now on.
func (p *writePool) CloseIdleConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reuse = 0
	p.doubt()
}
