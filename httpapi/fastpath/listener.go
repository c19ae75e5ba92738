// Package fastpath answers frequent reads before net/http. A Listener is between the TCP listener and an
// http.Server. It reads each plaintext HTTP/1.1 connection in a small loop. The loop parses complete GET and
// HEAD requests of a plain form, gets a response in memory from a Handler, and writes it.
//
// Its invariant: the loop answers as net/http would, or hands the connection off to net/http with all bytes
// that it has read. It hands off whatever it does not fully parse: other methods, a body, repeated headers,
// escapes in the path, unexpected bytes, and requests without a response in memory. A handed-off connection
// stays with net/http, so bytes of a body are never parsed as a request.
//
// httpapi puts it between its listeners and its servers, and httpapi/menus implements Handler. The
// package has no knowledge of menus, and does no lookup, encoding or logging.
package fastpath

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Config is the configuration of a Listener.
type Config struct {
	// Handler returns the handler for the requests of one connection.
	Handler func() Handler
	// HeadTimeout is how long a request's head may take; for the first request it starts when the
	// connection is accepted. IdleTimeout is how long a connection may be idle. WriteTimeout is how
	// long writing a response may take. The last two may end early by 1/64 of the idle timeout.
	HeadTimeout, IdleTimeout, WriteTimeout time.Duration
	// OnPanic is called with the panic of a Handler. The connection is then closed.
	OnPanic func(fault any)
}

// Handler answers the requests of one connection from memory, one after the other. Only the
// goroutine of the connection calls it.
type Handler interface {
	// Respond fills the Response. It returns false if memory has none, and net/http gets the
	// request. Respond must not wait.
	Respond(*Request, *Response) bool
	// Sent is called after a response was written, with the written bytes of its body and the
	// time since the request was read.
	Sent(body int, took time.Duration)
}

// Response is a response without Date and Connection, which the connection adds.
type Response struct {
	// Head has the status line and the header fields with their line ends, without the empty
	// line. Its initial capacity is for appending.
	Head []byte
	// Body is the body, even if it is not sent because the method is HEAD. It must not change.
	Body []byte
}

// Listener accepts connections and answers what it can. Accept returns the others to an http.Server. Run does the work.
type Listener struct {
	inner net.Listener
	cfg   Config

	handoffs chan acceptResult // unbuffered: what is sent has been received
	closing  chan struct{}     // closed by Close
	done     chan struct{}     // closed by Run when no connection is left
	draining atomic.Bool       // the same as closing, but faster to read

	mu    sync.Mutex
	conns map[*conn]struct{} // connections of the fast path
}

// acceptResult is the result of one Accept.
type acceptResult struct {
	conn net.Conn
	err  error
}

// New returns a Listener before inner. Close closes inner as well.
func New(inner net.Listener, cfg Config) *Listener {
	return &Listener{
		inner:    inner,
		cfg:      cfg,
		conns:    map[*conn]struct{}{},
		handoffs: make(chan acceptResult),
		closing:  make(chan struct{}),
		done:     make(chan struct{}),
	}
}

// Addr returns the address of the inner listener.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Accept returns the next connection with a request that the fast path did not answer. Its Read
// starts with that request. Accept waits for Run, and returns net.ErrClosed after Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case next := <-l.handoffs:
		return next.conn, next.err
	case <-l.closing:
		return nil, net.ErrClosed
	}
}

// Run accepts and answers until Close. It returns when no connection is left, and closes all of them when ctx ends.
func (l *Listener) Run(ctx context.Context) error {
	defer close(l.done)
	stop := context.AfterFunc(ctx, l.cut)
	defer stop()
	var conns sync.WaitGroup
	for {
		inner, err := l.inner.Accept()
		if err != nil && l.draining.Load() {
			break // the error is from Close
		}
		if err != nil {
			// The caller of Accept gets the error and waits before its next call.
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

// Close stops accepting, and closes idle connections as net/http does at a shutdown. Others end with their response.
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

// Wait waits until Run has returned after Close, or returns the error of ctx.
func (l *Listener) Wait(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cut closes all connections at once.
func (l *Listener) cut() {
	_ = l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Conn.Close()
	}
}

// add adds a connection. It returns false if the Listener is draining.
func (l *Listener) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining.Load() {
		return false
	}
	l.conns[c] = struct{}{}
	return true
}

// remove removes a connection, which is then neither interrupted nor cut.
func (l *Listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// handOff passes a connection to Accept, without deadlines. It closes the connection if the
// Listener is closed, as net/http would.
func (l *Listener) handOff(c *conn, next net.Conn) {
	l.remove(c)
	_ = next.SetDeadline(time.Time{})
	select {
	case l.handoffs <- acceptResult{conn: next}:
	case <-l.closing:
		_ = next.Close()
	}
}

// handedOff is a connection for net/http that starts with the bytes that were already read.
type handedOff struct {
	net.Conn
	rest []byte
}

// Read returns the rest first, then new bytes.
func (g *handedOff) Read(into []byte) (int, error) {
	if len(g.rest) == 0 {
		return g.Conn.Read(into)
	}
	n := copy(into, g.rest)
	if g.rest = g.rest[n:]; len(g.rest) == 0 {
		g.rest = nil // frees the buffer
	}
	return n, nil
}

// CloseWrite closes the write side. net/http does this before it closes a connection whose client may still be sending.
func (g *handedOff) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
