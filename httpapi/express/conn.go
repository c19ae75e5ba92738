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
	again fate = iota // it waits for more bytes
	over              // nothing more is answered
	away              // net/http's
)

// conn is one connection while it is answered here.
type conn struct {
	net.Conn
	socket
	lane     *Listener
	answerer Answerer

	buf    []byte    // buf[at:] has arrived and is not answered yet
	at     int       //
	looked int       // how much of a head that is not whole was looked at
	begun  bool      // that head has a time of its own
	used   bool      // a request has been answered
	armed  time.Time // when the time-outs were set last; zero: they are others
	short  bool      // the read deadline is that of recheck
	last   bool      // the last answer was written
	date   date

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
	if next = c.advance(); next == again {
		next = c.serveRequests()
	}
	switch {
	case next == away:
		c.lane.give(c, &given{Conn: c.Conn, rest: c.buf[c.at:]})
	case c.last:
		c.linger()
	}
}

// receive answers what can be answered after n bytes more were read into the
// buffer's room, or none for a reason.
func (c *conn) receive(n int, err error) fate {
	c.buf = c.buf[:len(c.buf)+n]
	if n == 0 && err != nil && !c.lane.draining.Load() {
		if errors.Is(err, io.EOF) && c.looked > 0 && c.judged(c.looked) {
			return away // half a request has an answer
		}
		return over
	}
	return c.advance()
}

// advance answers the requests that have arrived. Where it says again there is
// room for at least one byte more.
func (c *conn) advance() fate {
	for {
		arrived := c.buf[c.at:]
		from := max(0, c.looked-len(emptyLine)+1)
		if !bytes.HasSuffix(arrived, []byte(emptyLine)) && !bytes.Contains(arrived[from:], []byte(emptyLine)) {
			return c.await(arrived)
		}
		size, ok := c.request.read(arrived)
		if !ok {
			return away
		}
		if next := c.respond(size); next != again {
			return next
		}
		c.looked, c.begun = 0, false
	}
}

// await prepares for the rest of a head that has arrived in part, or not at all.
func (c *conn) await(arrived []byte) fate {
	if len(arrived) >= maxHead || c.judged(len(arrived)) && !promising(arrived, c.looked) {
		return away
	}
	c.looked = len(arrived)
	if c.looked > 0 && c.used && !c.begun { // the first one's time runs since it was accepted
		c.begun, c.short, c.armed = true, false, time.Time{}
		_ = c.SetReadDeadline(time.Now().Add(c.lane.cfg.HeadTimeout))
	}
	if c.lane.draining.Load() { // after the time-outs are set: see interrupt
		return over
	}
	c.makeRoom()
	return again
}

// judged tells whether so many bytes are the beginning of a request: net/http
// takes fewer for none where there has been one.
func (c *conn) judged(arrived int) bool { return !c.used || arrived >= 4 }

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

// room is where the next bytes go.
func (c *conn) room() []byte { return c.buf[len(c.buf):cap(c.buf)] }

// serveGeneric reads and answers by the connection's own methods.
func (c *conn) serveGeneric() fate {
	for {
		n, err := c.Read(c.room())
		if next := c.receive(n, err); next != again {
			return next
		}
	}
}

// setDeadlines sets the deadlines again unless that was done a moment ago: it
// takes a fraction of the time of a small answer.
func (c *conn) setDeadlines(now time.Time) {
	moment := c.lane.cfg.IdleTimeout / 64
	if now.Sub(c.armed) < moment {
		return
	}
	c.armed = now
	rest := c.lane.cfg.IdleTimeout
	if c.short = c.waitsForReadiness(); c.short {
		rest = 2 * moment
	}
	_ = c.SetReadDeadline(now.Add(rest))
	_ = c.SetWriteDeadline(now.Add(c.lane.cfg.WriteTimeout))
}

// recheck reports whether a deadline that has passed asks for another read and
// does not end the connection: the system does not report an end that came
// together with the last bytes.
func (c *conn) recheck() bool {
	if !c.short || c.lane.draining.Load() {
		return false
	}
	c.short = false
	_ = c.SetReadDeadline(c.armed.Add(c.lane.cfg.IdleTimeout))
	return !c.lane.draining.Load() // see interrupt
}

// interrupt ends a Read that waits or is about to. Code that sets a deadline
// afterwards sees that the Listener is draining.
func (c *conn) interrupt() { _ = c.SetReadDeadline(time.Unix(1, 0)) }
