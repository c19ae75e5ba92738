package upstream

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"github.com/sirupsen/logrus"
)

// doubtTime is how long each write has its own connection after the service has closed an idle one.
const doubtTime = 10 * time.Minute

// writePool sends the calls that write. It keeps connections for a short time, because a new one costs a round
// trip, or two with TLS. A request on a connection that the service is closing would have an unknown outcome.
// So a connection is used only within half of the time that another one stayed open, and only if the service
// has not closed it (decision 0062). No request is sent twice: http.ClientConn never repeats one.
//
// http.Transport would not do: it checks nothing before use, and may pass on a connection with unread bytes.
type writePool struct {
	single   *http.Transport // a new connection for each request; through a proxy, or with a large body
	keepable *http.Transport // opens connections that may be kept
	direct   bool            // no proxy, and a host name that needs no translation
	reuse    time.Duration   // maximum time between the starts of two requests of a connection; 0: it is not kept
	log      logrus.FieldLogger

	mu         sync.Mutex
	idle       []*writeConn
	proven     bool // an idle connection stayed open for twice the time reuse
	doubtUntil time.Time
}

// newWritePool keeps no connections through a proxy, or to a host name that only http.Transport can translate.
func newWritePool(single *http.Transport, cfg Config, log logrus.FieldLogger) *writePool {
	p := &writePool{single: single, keepable: single.Clone(), reuse: cfg.Timeouts.Reuse, log: log}
	p.keepable.DisableKeepAlives, p.keepable.Proxy = false, nil
	base, _ := url.Parse(cfg.BaseURL) // Validate has checked it
	proxy, err := single.Proxy(&http.Request{URL: base})
	p.direct = proxy == nil && err == nil && !strings.ContainsFunc(base.Host, func(r rune) bool { return r > unicode.MaxASCII })
	if !p.direct {
		p.reuse = 0
	}
	return p
}

// RoundTrip implements http.RoundTripper. The caller must close the response's body.
func (p *writePool) RoundTrip(req *http.Request) (res *http.Response, err error) {
	ctx := req.Context()
	conn, mayKeep := p.take(ctx)
	if conn == nil {
		switch {
		case mayKeep:
		case p.direct && req.ContentLength <= writeBuffer:
			return p.once(req)
		default: // a service may respond before it has read a large body: http.Transport reads and writes concurrently
			return p.single.RoundTrip(req)
		}
		conn = &writeConn{pool: p, began: time.Now()}
		conn.client, err = p.keepable.NewClientConn(context.WithValue(ctx, writeConnKey{}, conn),
			req.URL.Scheme, net.JoinHostPort(req.URL.Hostname(), req.URL.Port()))
		if err != nil {
			return nil, err
		}
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn.counted, Reused: !conn.until.IsZero()})
	}
	if res, err = conn.client.RoundTrip(req); err != nil {
		_ = conn.client.Close()
		if !conn.until.IsZero() && ctx.Err() == nil && !errors.Is(err, errTooLate) {
			p.doubt()
		}
		return nil, err
	}
	res.Body = &writeBody{ReadCloser: res.Body, end: sync.OnceFunc(func() { p.put(conn, res) })}
	return res, nil
}

// take returns a connection that the request may use. Without one, it reports whether a new one may be kept.
// The first one is not used, only watched.
func (p *writePool) take(ctx context.Context) (free *writeConn, mayKeep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range slices.Backward(p.idle) { // the one used last is first
		c.until = c.began.Add(p.reuse)
		if p.proven && !past(c.until) && c.quiet() {
			p.remove(c)
			c.began = time.Now()
			c.counted.window, _ = ctx.Value(sendWindowKey{}).(sendWindow)
			c.counted.written.Store(0)
			return c, true
		}
	}
	return nil, p.reuse > 0 && (p.proven || len(p.idle) == 0 && time.Now().After(p.doubtUntil))
}

// put keeps a connection after a response, or closes it. It is available if the response is complete and no
// side asked to close it. One connection is enough for the proof, so others are kept only for use.
func (p *writePool) put(c *writeConn, res *http.Response) {
	keep := c.socket != nil && res.ProtoAtLeast(1, 1) && c.client.Available() == 1
	p.mu.Lock() // not before Available: net/http calls writeConn.Close while it holds its own lock
	if keep = keep && (len(p.idle) == 0 || p.proven && time.Since(c.began) < p.reuse); keep {
		c.turn.Add(1)
		c.timer = time.AfterFunc(2*p.reuse, func() { p.expire(c) })
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		_ = c.client.Close()
	}
}

// expire closes a connection that was idle for twice the time reuse. If the service has not, others may be used.
func (p *writePool) expire(c *writeConn) {
	p.mu.Lock()
	expired := p.remove(c)
	if expired && c.quiet() && time.Now().After(p.doubtUntil) {
		p.proven = true
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
	begins := time.Now().After(p.doubtUntil)
	p.proven, p.doubtUntil = false, time.Now().Add(doubtTime)
	p.mu.Unlock()
	if begins {
		p.log.WithField("event", "upstream.reuse").Infof("the service ended a connection early: each order has its own for %s", doubtTime)
	}
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

// writeConn is the socket of a connection that may be kept; TLS is above it. One request at a time uses it.
type writeConn struct {
	net.Conn
	socket  syscall.RawConn // nil if it is not a connection of the system
	counted *countingConn   // the connection for net/http
	pool    *writePool
	client  *http.ClientConn
	began   time.Time // start of the last request; the service's idle time began later
	until   time.Time // latest first byte of the current request; zero for the first request
	timer   *time.Timer
	turn    atomic.Int64 // odd from the end of a response to the first byte of the next request
	reading atomic.Bool  // net/http and TLS have no unread bytes and wait for more
}

type writeConnKey struct{}

var errUnasked = errors.New("the service has sent bytes without a request or closed the connection")

// begin checks a connection, unless it is nil, before each write. A kept one may have ended in a suspended process.
func (c *writeConn) begin() error {
	switch {
	case c == nil || c.turn.Load()%2 == 0:
		return nil
	case past(c.until):
		return errTooLate
	case !c.quiet():
		return errUnasked
	}
	c.turn.Add(1)
	return nil
}

// Read implements net.Conn. Between a response and the next request, it takes nothing from the socket. So quiet
// sees what has arrived, and no early bytes are read as the response to the next request, written or not.
func (c *writeConn) Read(p []byte) (int, error) {
	c.reading.Store(true)
	defer c.reading.Store(false)
	_ = c.socket.Read(func(fd uintptr) bool { return !empty(fd) }) // waits; the next Read returns its error
	turn := c.turn.Load()
	if turn%2 == 1 {
		return 0, errUnasked
	}
	n, err := c.Conn.Read(p)
	c.reading.Store(false) // first: the connection is not taken again if turn is unchanged
	if n > 0 && c.turn.Load() != turn {
		return 0, errUnasked
	}
	return n, err
}

// Close implements net.Conn. The pool removes an idle connection before it closes it. So if it is in the list,
// the service has closed it, or sent bytes without a request.
func (c *writeConn) Close() error {
	c.pool.mu.Lock()
	ended := c.pool.remove(c)
	c.pool.mu.Unlock()
	if ended {
		c.pool.doubt()
	}
	return c.Conn.Close()
}

// quiet reports whether nothing has arrived since the last response, not even the end of the connection.
func (c *writeConn) quiet() (is bool) {
	err := c.socket.Control(func(fd uintptr) { is = empty(fd) }) // RawConn.Read would wait for Read
	return err == nil && is && c.reading.Load()
}

// empty reports whether a socket has neither bytes nor an end.
func empty(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return errors.Is(err, syscall.EAGAIN)
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

// onceBuffers are the buffers of one exchange. Most requests to a service have a connection of their own. With
// http.Transport, each would also have two goroutines and new buffers of 40 KB.
type onceBuffers struct {
	request  bytes.Buffer
	response *bufio.Reader
	head     io.LimitedReader // between the connection and response: limits interim responses and the header
}

//nolint:gochecknoglobals // only caches buffers
var oncePool = sync.Pool{New: func() any { return &onceBuffers{response: bufio.NewReader(nil)} }}

// once sends a request on a connection of its own. The caller must close the response's body.
func (p *writePool) once(req *http.Request) (*http.Response, error) {
	ctx, dial, port := req.Context(), p.single.DialContext, "80"
	if req.URL.Scheme == "https" {
		dial, port = p.single.DialTLSContext, "443"
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(req.URL.Hostname(), cmp.Or(req.URL.Port(), port)))
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn})
	}
	req.Close = true
	b, _ := oncePool.Get().(*onceBuffers)
	body := &onceBody{ctx: ctx, conn: conn, buffers: b}
	body.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	res, err := b.exchange(conn, req)
	if err != nil {
		_ = body.Close()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	body.reader, res.Body = res.Body, body
	return res, nil
}

// exchange sends the request with one write and reads the header of the response.
func (b *onceBuffers) exchange(conn net.Conn, req *http.Request) (res *http.Response, err error) {
	b.request.Reset()
	if err := req.Write(&b.request); err != nil {
		return nil, err
	}
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

// onceBody is the body of a response on a connection of its own. Close ends the connection.
type onceBody struct {
	ctx     context.Context //nolint:containedctx // of the exchange, which ends with Close
	conn    net.Conn
	stop    func() bool
	reader  io.Reader
	buffers *onceBuffers
}

// Read implements io.Reader. If ctx has ended, that is the error.
func (b *onceBody) Read(p []byte) (int, error) {
	n, err := b.reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // io.EOF is never wrapped here
		err = cmp.Or(context.Cause(b.ctx), err)
	}
	return n, err
}

// Close implements io.Closer. Nothing uses the buffers afterwards: bytes in them would answer another order.
func (b *onceBody) Close() error {
	if b.buffers != nil {
		b.stop()
		b.reader, b.buffers.head.R = http.NoBody, nil
		oncePool.Put(b.buffers)
		b.buffers = nil
	}
	return b.conn.Close()
}
