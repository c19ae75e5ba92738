package upstream

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"github.com/sirupsen/logrus"
)

const (
	doubtTime = 10 * time.Minute // each write has its own connection after a kept one has ended or failed
	maxAge    = 5 * time.Minute  // of a kept connection, so that writes follow the service's address
)

// writePool sends the calls that write. It keeps connections for a short time, because a new one costs a round
// trip, or two with TLS. A request on a connection that the service is closing would have an unknown outcome.
// So a connection is reused only for half of the time for which another one stayed open while idle, and only
// if the service has not closed it (decision 0062). No request is sent twice.
type writePool struct {
	single *http.Transport // a new connection for each request; through a proxy, or with a large body
	direct bool            // no proxy, and a host that is sent as it is
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
	translated := strings.ContainsFunc(base.Host, func(r rune) bool { return r > unicode.MaxASCII || r == '%' })
	return &writePool{
		single: single,
		direct: proxy == nil && err == nil && !translated,
		log:    log,
		reuse:  *cfg.Timeouts.Reuse,
	}
}

// RoundTrip implements http.RoundTripper. The caller must close the response's body. http.Transport sends
// large bodies: a service may respond before it has read one, and http.Transport reads while it writes.
func (p *writePool) RoundTrip(req *http.Request) (*http.Response, error) {
	watch := sendWatchOf(req.Context())
	watch.used = true
	if !p.direct || req.ContentLength > writeBuffer {
		req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			GotConn: func(info httptrace.GotConnInfo) { watch.got.Store(&info) },
		}))
		setBody(req, watch.body)
		return p.single.RoundTrip(req)
	}
	p.mu.Lock()
	req.Close = !p.mayKeep()
	p.mu.Unlock()
	b, _ := writeBufferPool.Get().(*writeBuffers)
	body := &writeBody{ctx: req.Context(), watch: watch, pool: p, buffers: b}
	if err := body.send(req); err != nil {
		return nil, cmp.Or(context.Cause(req.Context()), err)
	}
	return body.res, nil
}

// connect returns an idle connection, or a new one.
func (p *writePool) connect(ctx context.Context, window sendWindow, to *url.URL) (*writeConn, error) {
	if c := p.take(window); c != nil {
		return c, nil
	}
	dial, port := p.single.DialContext, "80"
	if to.Scheme == "https" {
		dial, port = p.single.DialTLSContext, "443"
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), port)))
	c, ok := conn.(*writeConn)
	if ok && c.Conn == net.Conn(c.wire) { // without TLS, whose first messages may be incomplete
		c.checked = c.wire.socket != nil
	}
	return c, err
}

// take returns the idle connection that was used last, or nil. Before the end of the proof, it returns nil.
func (p *writePool) take(window sendWindow) *writeConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, c := range slices.Backward(p.idle) {
		until := c.began.Add(p.reuse)
		if p.proven && !window.fresh && !past(until) && c.timer.Stop() { // otherwise expire is waiting for p.mu
			p.idle = slices.Delete(p.idle, at, at+1)
			c.window, c.until, c.checked = window, until, true
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
	if !p.mayKeep() {
		return false
	}
	seconds, announced := uint64(0), false
	if header := res.Header.Get("Keep-Alive"); header != "" {
		var limit string
		_, limit, announced = strings.Cut(strings.ToLower(header), "timeout")
		limit, _, _ = strings.Cut(limit, ",")
		seconds, _ = strconv.ParseUint(strings.Trim(limit, "= "), 10, 16)
	}
	c.watched = time.Time{}
	left := p.reuse - time.Since(c.began)
	if len(p.idle) == 0 {
		left, c.watched = 2*p.reuse, time.Now()
	}
	switch {
	case c.wire.socket == nil, res.Request.Close, res.Close, !res.ProtoAtLeast(1, 1), past(c.wire.opened.Add(maxAge)),
		announced && time.Duration(seconds)*time.Second < 2*p.reuse, left <= 0:
		return false
	case unread > 0:
		p.doubt()
		return false
	}
	if c.timer == nil {
		c.timer = time.AfterFunc(left, func() { p.expire(c) })
	} else {
		c.timer.Reset(left) // take has stopped it
	}
	p.idle = append(p.idle, c)
	return true
}

// expire closes an idle connection. If it was watched and is still open, other connections may be reused from
// now on. If the machine slept in between, nothing is proven: the end of the connection may have been missed.
func (p *writePool) expire(c *writeConn) {
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
		p.proven = true // a doubt would have removed it
	default:
		p.doubt()
	}
	_ = c.Close() // does not wait, because nothing is unsent
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

// writeConn is a connection for calls that write, one at a time. It counts the bytes of a request.
type writeConn struct {
	net.Conn // TLS, if the service uses it
	wire     *wire
	window   sendWindow
	written  atomic.Int64
	began    time.Time // start of the last request; the service's idle time began later
	until    time.Time // latest start of the current request; zero for the first one
	timer    *time.Timer
	checked  bool      // Write checks first that nothing has arrived; nobody else reads
	watched  time.Time // since when it is idle, for the proof; zero if it is kept only for use
}

func (c *writeConn) used() bool { return !c.until.IsZero() }

var errUnasked = errors.New("the service has sent bytes without a request or closed the connection")

// Write implements net.Conn. It checks the clock itself: a process that was suspended until after
// the call's end could write before its timers fire, and by then the call may have been resolved
// and sent again (policy O12). A call whose connection took too long is not started (policy O8a).
func (c *writeConn) Write(p []byte) (int, error) {
	first := c.written.Load() == 0
	switch {
	case past(c.window.end), first && (past(c.window.begin) || past(c.until)):
		return 0, errTooLate
	case first && c.checked && !c.quiet(): // for a new one, a proxy without a backend may accept and close at once
		return 0, errUnasked
	}
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// quiet reports whether nothing has arrived since the last response, not even the end of the connection. It
// reads without waiting: TLS returns what it holds, processes its own messages, and asks the socket for more.
func (c *writeConn) quiet() bool {
	c.wire.instant = true
	_, err := c.Conn.Read(c.wire.one[:])
	c.wire.instant = false
	_, secured := c.Conn.(*tls.Conn)
	return errors.Is(err, syscall.EAGAIN) && (!secured || c.wire.head == 0)
}

// writeBuffers are the buffers of one exchange. They are reused. http.Transport would need two goroutines and
// new buffers of 40 KB for each connection.
type writeBuffers struct {
	request  bytes.Buffer
	response *bufio.Reader
	head     io.LimitedReader // between the connection and response: limits interim responses and the header
}

//nolint:gochecknoglobals // only caches buffers
var writeBufferPool = sync.Pool{New: func() any { return &writeBuffers{response: bufio.NewReader(nil)} }}

// writeBody is the body of a response. Its Close ends the exchange.
type writeBody struct {
	io.Reader
	ctx     context.Context //nolint:containedctx // of the exchange, which ends with Close
	watch   *sendWatch
	pool    *writePool
	conn    *writeConn
	res     *http.Response // nil without one
	stop    func() bool    // nil if the connection has a deadline
	buffers *writeBuffers
	err     error // of the exchange; io.EOF after a complete response
}

// send sends the request and reads the header of the response. If a kept connection has ended, it uses another.
func (b *writeBody) send(req *http.Request) error {
	b.buffers.writeRequest(req, b.watch.body)
	for {
		conn, err := b.pool.connect(b.ctx, b.watch.sendWindow, req.URL)
		if err != nil {
			return err
		}
		info := &b.watch.conn
		*info = httptrace.GotConnInfo{Conn: conn, Reused: conn.used()}
		b.watch.got.Store(info)
		if trace := httptrace.ContextClientTrace(b.ctx); trace != nil && trace.GotConn != nil { // as http.Transport does; tests use it
			trace.GotConn(*info)
		}
		b.conn, b.stop = conn, nil
		_ = conn.SetDeadline(b.watch.deadline) // fails only if the connection is closed; then Write fails too
		if b.watch.deadline.IsZero() {
			b.stop = context.AfterFunc(b.ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
		}
		if b.res, b.err = b.buffers.exchange(conn, req); b.err == nil { //nolint:bodyclose // Close does
			b.Reader, b.res.Body = b.res.Body, b
			return nil
		}
		b.releaseConn()
		if !errors.Is(b.err, errUnasked) || !conn.used() {
			return b.err
		}
	}
}

// writeRequest writes the request to the buffer, as http.Request.Write does with eight allocations.
func (b *writeBuffers) writeRequest(req *http.Request, body []byte) {
	out := &b.request
	out.Reset()
	for _, text := range [...]string{req.Method, " ", req.URL.RequestURI(), " HTTP/1.1\r\nHost: ", req.Host, "\r\nContent-Length: "} {
		out.WriteString(text)
	}
	out.Write(strconv.AppendInt(out.AvailableBuffer(), req.ContentLength, 10))
	if out.WriteString("\r\n"); req.Close {
		out.WriteString("Connection: close\r\n")
	}
	_ = req.Header.Write(out) // replaces line ends in values; a buffer returns no error
	out.WriteString("\r\n")
	out.Write(body)
}

// exchange sends the request with one write and reads the header of the response.
func (b *writeBuffers) exchange(conn *writeConn, req *http.Request) (res *http.Response, err error) {
	conn.began = time.Now()
	if _, err := conn.Write(b.request.Bytes()); err != nil {
		return nil, err
	}
	b.head = io.LimitedReader{R: conn, N: http.DefaultMaxHeaderBytes}
	b.response.Reset(&b.head)
	for interim := true; interim && err == nil; { // until the limit of head
		if res, err = http.ReadResponse(b.response, req); err == nil {
			interim = res.StatusCode < http.StatusOK && res.StatusCode != http.StatusSwitchingProtocols
		}
	}
	b.head.N = math.MaxInt64 // readBody limits the body
	return res, err
}

// Read implements io.Reader. If the request's context has ended, it returns the error of the context.
func (b *writeBody) Read(p []byte) (n int, err error) {
	if n, b.err = b.Reader.Read(p); b.err != nil && b.err != io.EOF { //nolint:errorlint // io.EOF is never wrapped here
		b.err = cmp.Or(context.Cause(b.ctx), b.err)
	}
	return n, b.err
}

// Close implements io.Closer. Nothing may use the buffers afterwards, because another order could get the
// bytes in them as its response.
func (b *writeBody) Close() error {
	if b.buffers != nil {
		b.releaseConn()
		b.Reader, b.buffers.head.R = http.NoBody, nil
		writeBufferPool.Put(b.buffers)
		b.buffers = nil
	}
	return nil
}

// releaseConn keeps the connection or closes it. If a reused connection has failed, it also stops the use of the others.
func (b *writeBody) releaseConn() {
	running := b.ctx.Err() == nil
	if b.stop != nil {
		running = b.stop() // the connection still has no deadline
	}
	complete := b.Reader != nil && errors.Is(b.err, io.EOF)
	failed := b.err != nil && !complete ||
		b.res != nil && (b.res.StatusCode < http.StatusOK || b.res.StatusCode == http.StatusRequestTimeout)
	b.pool.mu.Lock()
	kept := complete && !failed && running && b.pool.put(b.conn, b.res, b.buffers.response.Buffered())
	if failed && b.conn.used() && !errors.Is(b.ctx.Err(), context.Canceled) && !errors.Is(b.err, errTooLate) {
		b.pool.doubt()
	}
	b.pool.mu.Unlock()
	if !kept {
		_ = b.conn.Close()
	}
}
