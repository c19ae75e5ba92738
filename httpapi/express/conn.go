package express

import (
	"bytes"
	"errors"
	"io"
	"net"
	"time"
)

// firstRead is the room that a connection begins with, in bytes; it grows up to
// maxHead.
const firstRead = 2 << 10

// fate is what becomes of a connection next.
type fate uint8

const (
	again fate = iota // the next request
	over              // nothing more is answered
	away              // net/http's
)

// conn is one connection while it is answered here.
type conn struct {
	net.Conn
	lane     *Listener
	answerer Answerer

	buf   []byte    // buf[at:] has arrived and is not answered yet
	at    int       //
	used  bool      // a request has been answered
	armed time.Time // when the time-outs were set last; zero: they are others
	date  date

	request Request
	answer  Answer
	parts   [2][]byte // of a large answer
	vector  net.Buffers
}

// serve answers requests until there is one that it has no answer for.
func (c *conn) serve() {
	defer c.lane.leave(c)
	next := again
	defer func() {
		fault := recover()
		if next != away || fault != nil {
			_ = c.Close()
		}
		if fault != nil {
			c.lane.cfg.Panicked(fault)
		}
	}()
	c.answerer = c.lane.cfg.Answerer()
	c.buf = make([]byte, 0, firstRead)
	_ = c.SetReadDeadline(time.Now().Add(c.lane.cfg.HeadTimeout))
	for next == again {
		next = c.step()
	}
	if next == away {
		c.lane.give(c, &given{Conn: c.Conn, rest: c.buf[c.at:]})
	}
}

// step reads one request and answers it.
func (c *conn) step() fate {
	arrived, next := c.head()
	if next != again {
		return next
	}
	size, ok := c.request.read(arrived)
	if !ok {
		return away
	}
	return c.respond(size)
}

// head gives bytes that begin with the next request's head, once all of that
// has arrived.
func (c *conn) head() ([]byte, fate) {
	looked, begun := 0, false
	for {
		arrived := c.buf[c.at:]
		from := max(0, looked-len(emptyLine)+1)
		if bytes.HasSuffix(arrived, []byte(emptyLine)) || bytes.Contains(arrived[from:], []byte(emptyLine)) {
			return arrived, again
		}
		// net/http takes fewer bytes for no request where there has been one.
		judged := !c.used || len(arrived) >= 4
		if len(arrived) >= maxHead || judged && !promising(arrived, looked) {
			return nil, away
		}
		looked = len(arrived)
		if looked > 0 && c.used && !begun { // the first one's time runs since it was accepted
			begun, c.armed = true, time.Time{}
			_ = c.SetReadDeadline(time.Now().Add(c.lane.cfg.HeadTimeout))
		}
		if c.lane.draining.Load() { // after the time-outs are set: see wake
			return nil, over
		}
		c.makeRoom()
		n, err := c.Read(c.buf[len(c.buf):cap(c.buf)])
		c.buf = c.buf[:len(c.buf)+n]
		switch {
		case n > 0 || err == nil || c.lane.draining.Load():
		case errors.Is(err, io.EOF) && looked > 0 && judged:
			return nil, away // half a request has an answer
		default:
			return nil, over
		}
	}
}

const emptyLine = "\r\n\r\n"

// promising tells whether the beginning of a head may become one that is
// answered here; what stands before looked has been found to. Only what would
// otherwise be waited for in vain is looked at: what is no GET or HEAD, and
// lines that end in another way.
func promising(head []byte, looked int) bool {
	if looked < len("HEAD /") && !begins(head, "GET /") && !begins(head, "HEAD /") {
		return false
	}
	for i := looked; ; i++ {
		end := bytes.IndexByte(head[i:], '\n')
		if end < 0 {
			return true
		}
		if i += end; i == 0 || head[i-1] != '\r' {
			return false
		}
	}
}

// begins tells whether the head, as far as it has arrived, begins so.
func begins(head []byte, start string) bool {
	n := min(len(head), len(start))
	return string(head[:n]) == start[:n]
}

// makeRoom makes room for at least one byte more.
func (c *conn) makeRoom() {
	switch {
	case c.at == len(c.buf):
		c.buf = c.buf[:0]
	case len(c.buf) < cap(c.buf):
		return
	case c.at > 0:
		c.buf = c.buf[:copy(c.buf, c.buf[c.at:])]
	default: // cap is less than maxHead: more has been given away
		c.buf = append(make([]byte, 0, maxHead), c.buf...)
	}
	c.at = 0
}

// arm sets the time-outs anew, unless that was done a moment ago: each takes a
// fraction of what a small answer takes.
func (c *conn) arm(now time.Time) {
	if now.Sub(c.armed) < c.lane.cfg.IdleTimeout/64 {
		return
	}
	c.armed = now
	_ = c.SetReadDeadline(now.Add(c.lane.cfg.IdleTimeout))
	_ = c.SetWriteDeadline(now.Add(c.lane.cfg.WriteTimeout))
}

// wake ends a Read that waits, or is about to. Whoever sets a time-out after it
// sees that the Listener is draining.
func (c *conn) wake() { _ = c.SetReadDeadline(time.Unix(1, 0)) }
