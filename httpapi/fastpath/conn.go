package fastpath

import (
	"bytes"
	"errors"
	"io"
	"net"
	"time"
)

// firstRead is the initial size of a connection's buffer in bytes. It grows up to maxHead.
const firstRead = 2 << 10

// nextStep is the next step of a connection.
type nextStep uint8

const (
	stepContinue nextStep = iota // wait for more bytes
	stepClose                    // answer nothing more
	stepHandOff                  // net/http answers
)

// conn is a connection that the fast path answers.
type conn struct {
	net.Conn
	socket
	listener *Listener
	handler  Handler

	buf             []byte // buf[at:] has arrived and is not answered yet
	at              int
	scanned         int       // bytes of an incomplete head that were scanned
	headDeadlineSet bool      // the incomplete head has its own deadline
	used            bool      // a request has been answered
	deadlinesSetAt  time.Time // when the usual deadlines were set; zero if others are set
	shortRead       bool      // the read deadline is that of recheck
	lastSent        bool      // the last response was written
	date            Date

	request  Request
	response Response
	parts    [2][]byte // of a large response
	vector   net.Buffers
}

// serve answers requests until one of them has to be handed off.
func (c *conn) serve() {
	defer c.listener.remove(c)
	next := stepContinue
	defer func() {
		fault := recover()
		if next != stepHandOff || fault != nil {
			_ = c.Close()
		}
		if fault != nil {
			c.listener.cfg.OnPanic(fault)
		}
	}()
	c.handler = c.listener.cfg.Handler()
	c.buf = make([]byte, 0, firstRead)
	_ = c.SetReadDeadline(time.Now().Add(c.listener.cfg.HeadTimeout))
	if next = c.advance(); next == stepContinue {
		next = c.serveRequests()
	}
	switch {
	case next == stepHandOff:
		c.listener.handOff(c, &handedOff{Conn: c.Conn, rest: c.buf[c.at:]})
	case c.lastSent:
		c.linger()
	}
}

// receive processes n more bytes in the free part of the buffer, or a read that failed with err.
func (c *conn) receive(n int, err error) nextStep {
	c.buf = c.buf[:len(c.buf)+n]
	if n == 0 && err != nil && !c.listener.draining.Load() {
		if errors.Is(err, io.EOF) && c.scanned > 0 && c.enoughForNetHTTP(c.scanned) {
			return stepHandOff // net/http answers an incomplete request
		}
		return stepClose
	}
	return c.advance()
}

// advance answers the requests that have arrived. If it returns stepContinue, the buffer has
// space for at least one more byte.
func (c *conn) advance() nextStep {
	for {
		arrived := c.buf[c.at:]
		from := max(0, c.scanned-len(emptyLine)+1)
		if !bytes.HasSuffix(arrived, []byte(emptyLine)) && !bytes.Contains(arrived[from:], []byte(emptyLine)) {
			return c.await(arrived)
		}
		size, ok := c.request.read(arrived)
		if !ok {
			return stepHandOff
		}
		if next := c.respond(size); next != stepContinue {
			return next
		}
		c.scanned, c.headDeadlineSet = 0, false
	}
}

// await prepares for the rest of an incomplete head.
func (c *conn) await(arrived []byte) nextStep {
	if len(arrived) >= maxHead || c.enoughForNetHTTP(len(arrived)) && !couldBeFast(arrived, c.scanned) {
		return stepHandOff
	}
	c.scanned = len(arrived)
	if c.scanned > 0 && c.used && !c.headDeadlineSet { // the deadline of the first head was set when the connection was accepted
		c.headDeadlineSet, c.shortRead, c.deadlinesSetAt = true, false, time.Time{}
		_ = c.SetReadDeadline(time.Now().Add(c.listener.cfg.HeadTimeout))
	}
	if c.listener.draining.Load() { // after the deadline is set: see interrupt
		return stepClose
	}
	c.makeRoom()
	return stepContinue
}

// enoughForNetHTTP reports whether net/http would answer these bytes. After the first request
// it ignores fewer than four.
func (c *conn) enoughForNetHTTP(arrived int) bool { return !c.used || arrived >= 4 }

const emptyLine = "\r\n\r\n"

// couldBeFast reports whether an incomplete head may become a request of the fast path. The bytes before scanned were
// checked earlier. It checks only what makes waiting useless: a method other than GET and HEAD, and other line ends.
func couldBeFast(head []byte, scanned int) bool {
	if scanned < len("HEAD /") && !hasPrefix(head, "GET /") && !hasPrefix(head, "HEAD /") {
		return false
	}
	for i := scanned; ; i++ {
		end := bytes.IndexByte(head[i:], '\n')
		if end < 0 {
			return true
		}
		if i += end; i == 0 || head[i-1] != '\r' {
			return false
		}
	}
}

// hasPrefix reports whether the bytes of the head that have arrived match the prefix.
func hasPrefix(head []byte, start string) bool {
	n := min(len(head), len(start))
	return string(head[:n]) == start[:n]
}

// makeRoom makes space for at least one more byte.
func (c *conn) makeRoom() {
	switch {
	case c.at == len(c.buf):
		c.buf = c.buf[:0]
	case len(c.buf) < cap(c.buf):
		return
	case c.at > 0:
		c.buf = c.buf[:copy(c.buf, c.buf[c.at:])]
	default: // the capacity is less than maxHead: longer heads were handed off
		c.buf = append(make([]byte, 0, maxHead), c.buf...)
	}
	c.at = 0
}

// free returns the unused part of the buffer.
func (c *conn) free() []byte { return c.buf[len(c.buf):cap(c.buf)] }

// serveGeneric reads with the connection's own methods.
func (c *conn) serveGeneric() nextStep {
	for {
		n, err := c.Read(c.free())
		if next := c.receive(n, err); next != stepContinue {
			return next
		}
	}
}

// setDeadlines renews the deadlines, unless it did so recently: setting them costs a noticeable
// part of the time of a small response.
func (c *conn) setDeadlines(now time.Time) {
	moment := c.listener.cfg.IdleTimeout / 64
	if now.Sub(c.deadlinesSetAt) < moment {
		return
	}
	c.deadlinesSetAt = now
	rest := c.listener.cfg.IdleTimeout
	if c.shortRead = c.waitsForReadiness(); c.shortRead {
		rest = 2 * moment
	}
	_ = c.SetReadDeadline(now.Add(rest))
	_ = c.SetWriteDeadline(now.Add(c.listener.cfg.WriteTimeout))
}

// recheck reports whether the connection should be read again after its deadline. The system
// does not report the end of a connection that arrived together with the last bytes.
func (c *conn) recheck() bool {
	if !c.shortRead || c.listener.draining.Load() {
		return false
	}
	c.shortRead = false
	_ = c.SetReadDeadline(c.deadlinesSetAt.Add(c.listener.cfg.IdleTimeout))
	return !c.listener.draining.Load() // see interrupt
}

// interrupt ends a waiting or future Read. Code that sets a deadline afterwards checks that the Listener is draining.
func (c *conn) interrupt() { _ = c.SetReadDeadline(time.Unix(1, 0)) }
