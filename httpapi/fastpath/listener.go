// Package fastpath answers hot reads before net/http sees them. A Listener
// stands between the TCP listener and an ordinary http.Server: each plaintext
// HTTP/1.1 connection is read by a small loop that takes complete GET and HEAD
// requests of a plain form, asks a Handler for a response from memory, and writes it.
//
// Its one invariant: a request gets from the loop what net/http would have
// given it, or is left to net/http with every byte read so far. Whatever the
// loop is not sure of goes there: another method, a body or a mention of one,
// a header that stands twice, escapes in the path, a byte out of place, or a
// Handler that has no response in memory. This is one way: a connection that was
// handed off to net/http stays there, so nothing in a body can be taken for a
// request.
//
// The package knows nothing of menus, and looks up, encodes and logs nothing.
package fastpath

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what a Listener needs beside the listener that it stands before.
type Config struct {
	// Handler makes what answers the requests of one connection.
	Handler func() Handler
	// HeadTimeout is how long a request's head may take to arrive, of the first
	// request from when the connection was accepted; IdleTimeout how long a
	// connection may rest; WriteTimeout how long an answer may take to be sent.
	// The last two may end by a sixty-fourth of the idle time early.
	HeadTimeout, IdleTimeout, WriteTimeout time.Duration
	// OnPanic is told what a Handler panicked with; the connection is then
	// closed.
	OnPanic func(fault any)
}

// Handler answers the requests of one connection from memory, one after
// the other. Every method is called by the one goroutine of its connection.
type Handler interface {
	// Respond fills the Response, or is false where memory has none: the request
	// is then handed off to net/http. It may take a while, but must not wait.
	Respond(*Request, *Response) bool
	// Sent tells that the last answer was handed to the system, how many bytes
	// of its body, and how long it took from when the request was read.
	Sent(body int, took time.Duration)
}

// Response is a response with everything but Date and Connection, which the
// connection adds.
type Response struct {
	// Head is the status line and the header fields, each with its line end,
	// without the empty line. It comes with room, to be appended to.
	Head []byte
	// Body is what follows, also where it is not sent: of HEAD. It must not
	// change; it is not kept.
	Body []byte
}

// Listener answers what it can of the connections it accepts, and gives the
// others to whoever calls Accept, an http.Server. Run does its work.
type Listener struct {
	inner net.Listener
	cfg   Config

	handoffs chan acceptResult // without a buffer: whatever is sent has been taken
	closing  chan struct{}     // closed by Close
	done     chan struct{}     // closed by Run when no connection is left
	draining atomic.Bool       // closing, quickly read

	mu    sync.Mutex
	conns map[*conn]struct{} // those that are answered here
}

// acceptResult is what Accept returns.
type acceptResult struct {
	conn net.Conn
	err  error
}

// New puts a Listener before another one, which it closes with itself.
func New(inner net.Listener, cfg Config) *Listener {
	return &Listener{
		inner: inner, cfg: cfg, conns: map[*conn]struct{}{},
		handoffs: make(chan acceptResult), closing: make(chan struct{}), done: make(chan struct{}),
	}
}

// Addr is where the inner listener stands.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Accept returns the next connection with a request that was not answered here;
// its Read begins with that request. After Close it gives net.ErrClosed. It
// waits for Run.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case next := <-l.handoffs:
		return next.conn, next.err
	case <-l.closing:
		return nil, net.ErrClosed
	}
}

// Run accepts and answers until Close, and returns when none of its connections
// is left. It cuts them when ctx ends.
func (l *Listener) Run(ctx context.Context) error {
	defer close(l.done)
	stop := context.AfterFunc(ctx, l.cut)
	defer stop()
	var conns sync.WaitGroup
	for {
		inner, err := l.inner.Accept()
		if err != nil && l.draining.Load() {
			break // the error is Close's
		}
		if err != nil {
			// Whoever calls Accept is told, and waits before the next call.
			select {
			case l.handoffs <- acceptResult{err: err}:
			case <-l.closing:
			}
			continue
		}
		c := &conn{Conn: inner, socket: newSocket(inner), listener: l}
		if !l.add(c) {
			_ = inner.Close()
			continue
		}
		conns.Go(c.serve)
	}
	conns.Wait()
	return nil
}

// Close stops accepting and closes the connections that wait for a request, as
// net/http does at a shutdown. Those that have one end with its answer.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining.Swap(true) {
		return nil
	}
	close(l.closing)
	for c := range l.conns {
		c.interrupt()
	}
	return l.inner.Close()
}

// Wait waits until no connection is left after Close and Run has returned.
// The error is ctx's.
func (l *Listener) Wait(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cut closes everything at once.
func (l *Listener) cut() {
	_ = l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Conn.Close()
	}
}

// add takes a connection in; false when it comes too late.
func (l *Listener) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining.Load() {
		return false
	}
	l.conns[c] = struct{}{}
	return true
}

// remove forgets a connection: nothing here interrupts or cuts it any more.
func (l *Listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// handOff hands a connection over, with its time-outs off. It is closed where
// nobody takes it: net/http would answer nothing then either.
func (l *Listener) handOff(c *conn, next net.Conn) {
	l.remove(c)
	_ = next.SetDeadline(time.Time{})
	select {
	case l.handoffs <- acceptResult{conn: next}:
	case <-l.closing:
		_ = next.Close()
	}
}

// handedOff is a connection that net/http takes over: it first reads again what
// was read here.
type handedOff struct {
	net.Conn
	rest []byte
}

// Read returns the rest, and then what comes.
func (g *handedOff) Read(into []byte) (int, error) {
	if len(g.rest) == 0 {
		return g.Conn.Read(into)
	}
	n := copy(into, g.rest)
	if g.rest = g.rest[n:]; len(g.rest) == 0 {
		g.rest = nil // lets the buffer go
	}
	return n, nil
}

// CloseWrite ends what is written: net/http does so before it closes a
// connection whose client may still be sending.
func (g *handedOff) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
