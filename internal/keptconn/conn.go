package keptconn

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrTooLate means that the time of the call was over before its first or its last byte was written.
var ErrTooLate = errors.New("the time limit of the call was over before it was sent")

var errUnasked = errors.New("the service has sent bytes without a request or closed the connection")

// Limits limit a call.
type Limits struct {
	Begin time.Time // latest time of the first byte of the request
	End   time.Time // latest time of its last byte; zero is no limit
}

// Conn is a connection for one request at a time. It counts the bytes of the request.
type Conn struct {
	net.Conn // TLS, if the service uses it
	wire     *wire
	settings *tls.Config // nil without TLS
	reader   *bufio.Reader
	head     io.LimitedReader // below reader: limits interim responses and the header

	limits  Limits // of the current call
	written atomic.Int64
	checked bool      // Write checks first that nothing has arrived; nobody else reads
	began   time.Time // start of the last request; the service's idle time began later
	until   time.Time // latest start of the current request; zero for the first one
	rested  time.Time // earliest time of the next request
	watched time.Time // since when it is idle, for the proof; zero if it is kept only for use
	timer   *time.Timer
	seen    map[string]bool // names; see Response.Seen
}

// Written returns the number of bytes of the current request that were written.
func (c *Conn) Written() int64 { return c.written.Load() }

// used reports whether the connection has carried an earlier request.
func (c *Conn) used() bool { return !c.until.IsZero() }

// Write implements net.Conn. It checks the clock itself: a process that was suspended until after
// the call's end could write before its timers fire, and by then the call may have been resolved
// and sent again (policy O12). A call whose connection took too long is not started (policy O8a).
func (c *Conn) Write(p []byte) (int, error) {
	first := c.written.Load() == 0
	switch {
	case Past(c.limits.End), first && (Past(c.limits.Begin) || Past(c.until)):
		return 0, ErrTooLate
	case first && c.checked && !c.quiet(): // for a new one, a proxy without a backend may accept and close at once
		return 0, errUnasked
	}
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// quiet reports whether nothing has arrived since the last response, not even the end of the connection. It
// reads without waiting: TLS returns what it holds, processes its own messages, and asks the socket for more.
func (c *Conn) quiet() bool {
	var one [1]byte
	c.wire.instant = true
	_, err := c.Conn.Read(one[:])
	c.wire.instant = false
	// EAGAIN is a temporary error, so TLS does not keep it.
	return errors.Is(err, syscall.EAGAIN) && (c.Conn == net.Conn(c.wire) || c.wire.head == 0)
}

// Past reports whether end has passed by the monotonic or by the wall clock, because the monotonic
// one stops while a machine sleeps. A zero end never passes.
func Past(end time.Time) bool {
	now := time.Now()
	return !end.IsZero() && (!now.Before(end) || !now.Round(0).Before(end.Round(0)))
}

// Dial opens a connection for one call, until its latest start. It uses TLS if settings are given; they contain the
// name of the server.
func Dial(ctx context.Context, open DialFunc, address string, settings *tls.Config, limits Limits) (*Conn, error) {
	ctx, cancel := context.WithDeadline(ctx, limits.Begin)
	defer cancel()
	opened, err := open(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &Conn{wire: &wire{Conn: opened, opened: time.Now()}, settings: settings, limits: limits}
	if system, ok := opened.(*net.TCPConn); ok {
		c.wire.socket, _ = system.SyscallConn() // no error: it is open
	}
	if c.Conn = c.wire; settings == nil {
		return c, nil
	}
	secured := tls.Client(c.wire, settings)
	ctx, cancel = context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = opened.Close()
		return nil, err
	}
	c.Conn = secured
	return c, nil
}

// wire is the connection below TLS. It knows whether TLS has a part of a record.
type wire struct {
	net.Conn
	socket     syscall.RawConn // nil if it is not a connection of the system
	instant    bool            // Read does not wait
	opened     time.Time
	head, rest int // bytes of the current TLS record: of its head, and missing after that
}

const recordHead = 5 // bytes of a TLS record's head; the last two are the length of the rest

// Read implements net.Conn.
func (w *wire) Read(p []byte) (n int, err error) {
	if w.instant {
		n, err = w.readInstantly(p)
	} else {
		n, err = w.Conn.Read(p)
	}
	for _, b := range p[:n] {
		if w.head < recordHead {
			w.head, w.rest = w.head+1, (w.rest<<8|int(b))&math.MaxUint16 // after five bytes, the last two
		} else {
			w.rest--
		}
		if w.head == recordHead && w.rest == 0 {
			w.head = 0
		}
	}
	return n, err
}

// readInstantly reads what has arrived, without waiting.
func (w *wire) readInstantly(p []byte) (int, error) {
	var n int
	var err error
	gone := w.socket.Control(func(fd uintptr) { n, err = syscall.Read(int(fd), p) })
	if gone != nil || n == 0 {
		err = cmp.Or(err, gone, io.EOF)
	}
	return max(n, 0), err
}

// HasEnded reports whether the service has closed the connection or sent something on it. Then it closes the connection.
//
// Only tests use it and the methods below.
func (c *Conn) HasEnded() bool {
	if c.quiet() {
		return false
	}
	_ = c.Close() // quiet has read what arrived: a second call would find nothing
	return true
}

// Usable reports whether the connection could be used now, if it has not ended.
func (c *Conn) Usable(reuse time.Duration) bool {
	return !time.Now().Before(c.rested) && !Past(c.began.Add(reuse))
}

// SyscallConn implements syscall.Conn.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return c.wire.socket, nil }

// Age makes the connection older.
func (c *Conn) Age(by time.Duration) { c.wire.opened = c.wire.opened.Add(-by) }
