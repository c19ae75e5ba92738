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
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// writeConn is a connection for calls that write, one at a time. It counts the bytes of a request.
type writeConn struct {
	net.Conn // TLS, if the service uses it
	wire     *wire
	window   sendWindow
	written  atomic.Int64
	began    time.Time // start of the last request; the service's idle time began later
	until    time.Time // latest start of the current request; zero for the first one
	timer    *time.Timer
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
	case first && c.used() && !c.quiet():
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
	_, err := c.Conn.Read(make([]byte, 1))
	c.wire.instant = false
	_, secured := c.Conn.(*tls.Conn)
	return errors.Is(err, syscall.EAGAIN) && (!secured || c.wire.head == 0)
}

// wire is the connection below TLS. It knows whether TLS has a part of a record.
type wire struct {
	net.Conn
	socket     syscall.RawConn // nil if it is not a connection of the system
	instant    bool            // Read does not wait
	opened     time.Time
	head, rest int // bytes of the current TLS record: of its head, and missing after that
}

// recordHead is the size of the head of a TLS record. Its last two bytes are the length of the rest.
const recordHead = 5

// Read implements net.Conn.
func (w *wire) Read(p []byte) (n int, err error) {
	if !w.instant {
		n, err = w.Conn.Read(p)
	} else if gone := w.socket.Control(func(fd uintptr) { n, err = syscall.Read(int(fd), p) }); gone != nil || n == 0 {
		err = cmp.Or(err, gone, io.EOF)
	}
	n = max(n, 0)
	for _, b := range p[:n] {
		if w.head < recordHead {
			w.head, w.rest = w.head+1, (w.rest<<8|int(b))&math.MaxUint16
		} else {
			w.rest--
		}
		if w.head == recordHead && w.rest == 0 {
			w.head = 0
		}
	}
	return n, err
}

// writeBuffers are the buffers of one exchange. With http.Transport, each connection would have two goroutines
// and new buffers of 40 KB.
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
	pool    *writePool
	conn    *writeConn
	res     *http.Response // nil without one
	stop    func() bool
	buffers *writeBuffers
	err     error // of the exchange; io.EOF after a complete response
}

// send sends the request, and reads the header of the response. A kept connection that has ended is not used.
func (b *writeBody) send(req *http.Request) error {
	b.buffers.request.Reset()
	if err := req.Write(&b.buffers.request); err != nil {
		return err
	}
	for {
		conn, err := b.pool.connect(b.ctx, req.URL)
		if err != nil {
			return err
		}
		if trace := httptrace.ContextClientTrace(b.ctx); trace != nil && trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: conn.used()})
		}
		b.conn, b.stop = conn, context.AfterFunc(b.ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
		if b.res, b.err = b.buffers.exchange(conn, req); b.err == nil {
			b.Reader, b.res.Body = b.res.Body, b
			return nil
		}
		_ = b.end()
		if !errors.Is(b.err, errUnasked) {
			return b.err
		}
	}
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

// Read implements io.Reader. If ctx has ended, that is the error.
func (b *writeBody) Read(p []byte) (n int, err error) {
	if n, b.err = b.Reader.Read(p); b.err != nil && b.err != io.EOF { //nolint:errorlint // io.EOF is never wrapped here
		b.err = cmp.Or(context.Cause(b.ctx), b.err)
	}
	return n, b.err
}

// Close implements io.Closer. Nothing uses the buffers afterwards: bytes in them would answer another order.
func (b *writeBody) Close() (err error) {
	if b.buffers != nil {
		err = b.end()
		b.Reader, b.buffers.head.R = http.NoBody, nil
		writeBufferPool.Put(b.buffers)
		b.buffers = nil
	}
	return err
}

// end keeps the connection or closes it. A used one that failed is a reason to doubt the others.
func (b *writeBody) end() error {
	running := b.stop() // ctx has not ended, so the connection has no deadline
	failed := b.err != nil && !errors.Is(b.err, io.EOF) ||
		b.res != nil && (b.res.StatusCode < http.StatusOK || b.res.StatusCode == http.StatusRequestTimeout)
	b.pool.mu.Lock()
	kept := !failed && b.err != nil && running && b.pool.put(b.conn, b.res, b.buffers.response.Buffered())
	if failed && b.conn.used() && !errors.Is(b.ctx.Err(), context.Canceled) && !errors.Is(b.err, errTooLate) {
		b.pool.doubt()
	}
	b.pool.mu.Unlock()
	if kept {
		return nil
	}
	return b.conn.Close()
}
