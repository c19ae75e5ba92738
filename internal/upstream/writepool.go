package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"
)

// doubtTime is how long each write has its own connection after the service has closed an idle one.
const doubtTime = 10 * time.Minute

// writePool sends the calls that write. It keeps connections for a short time, because a new one costs a round
// trip, or two with TLS. A request on a connection that the service is closing would have an unknown outcome.
// So a connection is used only within half of the time that another one stayed open, and only if the service
// has not closed it (decision 0062). No request is sent twice: http.ClientConn never repeats one.
//
// The list of http.Transport would not do. It checks nothing before use, and may pass on a connection whose
// buffer has bytes after the end of a response. They would be read as the response to the next order.
type writePool struct {
	once  *http.Transport // a new connection for each request
	kept  *http.Transport // opens connections that may be kept
	reuse time.Duration   // maximum time between two requests of a connection; 0: it is not kept

	mu      sync.Mutex
	idle    []*writeConn
	proven  time.Duration // an idle connection stayed open for this time; 0: not known
	doubted time.Time     // until then, no connection is kept
}

func newWritePool(dial DialFunc, reuse time.Duration) *writePool {
	p := &writePool{once: newWriteTransport(dial), reuse: reuse}
	p.kept = p.once.Clone()
	p.kept.DisableKeepAlives, p.kept.Proxy = false, nil
	return p
}

// RoundTrip implements http.RoundTripper. The caller must close the response's body.
func (p *writePool) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	conn := p.take(ctx)
	if conn == nil {
		if !p.keeps(req) {
			return p.once.RoundTrip(req)
		}
		var err error
		conn = &writeConn{pool: p, began: time.Now()}
		conn.client, err = p.kept.NewClientConn(context.WithValue(ctx, writeConnKey{}, conn),
			req.URL.Scheme, net.JoinHostPort(req.URL.Hostname(), req.URL.Port()))
		if err != nil {
			return nil, err
		}
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn.countingConn, Reused: !conn.until.IsZero()})
	}
	res, err := conn.client.RoundTrip(req)
	if err != nil {
		_ = conn.client.Close()
		if !conn.until.IsZero() && !errors.Is(err, errTooLate) {
			p.doubt()
		}
		return nil, err
	}
	res.Body = &writeBody{ReadCloser: res.Body, end: sync.OnceFunc(func() { p.put(conn, res) })}
	return res, nil
}

// keeps reports whether a new connection may be kept. It does not keep those through a proxy, or to a host
// name that only http.Transport can translate. The first one is not used, only watched.
func (p *writePool) keeps(req *http.Request) bool {
	proxy, err := p.once.Proxy(req)
	if proxy != nil || err != nil || strings.ContainsFunc(req.URL.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proven > 0 || p.reuse > 0 && len(p.idle) == 0 && time.Now().After(p.doubted)
}

// take returns a connection that the request may use, or nil.
func (p *writePool) take(ctx context.Context) *writeConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range slices.Backward(p.idle) { // the one used last is first
		c.until = c.began.Add(min(c.limit, p.proven/2))
		if c.usable() {
			p.remove(c)
			c.began = time.Now()
			c.window, _ = ctx.Value(sendWindowKey{}).(sendWindow)
			c.written.Store(0)
			return c
		}
	}
	return nil
}

// put keeps a connection after a response, or closes it. It is available if the response is complete and no
// side asked to close it. A service that announces when it closes the connection gets a third of that time, so
// that the connection is watched for two thirds.
func (p *writePool) put(c *writeConn, res *http.Response) {
	c.limit = p.reuse
	for param := range strings.SplitSeq(strings.Join(res.Header["Keep-Alive"], ","), ",") {
		if name, value, _ := strings.Cut(param, "="); strings.EqualFold(strings.TrimSpace(name), "timeout") {
			seconds, _ := strconv.ParseUint(strings.Trim(value, ` "`), 10, 31) // 0 if it is not a number
			c.limit = min(c.limit, time.Duration(seconds)*time.Second/3)
		}
	}
	keep := c.limit > 0 && c.socket != nil && res.ProtoAtLeast(1, 1) && c.client.Available() == 1
	p.mu.Lock() // not before Available: net/http calls writeConn.Close while it holds its own lock
	if keep = keep && !c.closed; keep {
		c.timer = time.AfterFunc(2*c.limit, func() { p.expire(c) })
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		_ = c.client.Close()
	}
}

// expire closes a connection that was idle for twice its limit. If the service has not closed it until now,
// connections may be used within this limit.
func (p *writePool) expire(c *writeConn) {
	p.mu.Lock()
	expired := p.remove(c)
	if expired && c.quiet() && time.Now().After(p.doubted) {
		p.proven = max(p.proven, 2*c.limit)
	}
	p.mu.Unlock()
	if expired {
		_ = c.client.Close()
	}
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

// doubt stops the use of kept connections for a while.
func (p *writePool) doubt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proven, p.doubted = 0, time.Now().Add(doubtTime)
}

// CloseIdleConnections closes the kept connections.
func (p *writePool) CloseIdleConnections() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		_ = c.client.Close()
	}
}

// writeConn is a connection of a writePool. One request at a time uses it.
type writeConn struct {
	*countingConn
	pool   *writePool
	client *http.ClientConn
	began  time.Time     // of the last request: the service has been idle for less time
	limit  time.Duration // from then
	until  time.Time     // latest first byte of the current request; zero for the first request
	timer  *time.Timer

	reading atomic.Bool // net/http has no unread bytes and waits for more
	closed  bool        // protected by pool.mu
}

type writeConnKey struct{}

// Write implements net.Conn. It checks a kept connection again: the process may have been suspended.
func (c *writeConn) Write(p []byte) (int, error) {
	if !c.until.IsZero() && c.written.Load() == 0 && !c.usable() {
		return 0, net.ErrClosed
	}
	return c.countingConn.Write(p)
}

// Read implements net.Conn.
func (c *writeConn) Read(p []byte) (int, error) {
	c.reading.Store(true)
	defer c.reading.Store(false)
	return c.countingConn.Read(p)
}

// Close implements net.Conn. The pool removes an idle connection before it closes it. So if it is in the list,
// the service has closed it, or sent bytes without a request.
func (c *writeConn) Close() error {
	c.pool.mu.Lock()
	c.closed = true
	ended := c.pool.remove(c)
	c.pool.mu.Unlock()
	if ended {
		c.pool.doubt()
	}
	return c.countingConn.Close()
}

func (c *writeConn) usable() bool { return !past(c.until) && c.quiet() }

// quiet reports whether nothing has arrived since the last response, not even the end of the connection.
// Control is used because Read would wait for the read in progress.
func (c *writeConn) quiet() bool {
	var next error
	err := c.socket.Control(func(fd uintptr) {
		_, _, next = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return err == nil && errors.Is(next, syscall.EAGAIN) && c.reading.Load()
}

// writeBody is the body of a response. Its Close ends the exchange.
type writeBody struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (b *writeBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
