package express

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is a TCP connection as the kernel has it. Its zero value is that of a
// connection which has none: it is read and written by its own methods.
//
// net.Conn asks the kernel for bytes before it waits for them. Here a request
// is waited for first, which saves a call of the kernel for each, and lets the
// other connections have their turn in between: with a client that asks again
// at once, a loop that reads first would go on with it alone until the
// scheduler takes the processor away, ten milliseconds later.
type socket struct {
	raw  syscall.RawConn
	fd   int // good during a callback of raw; 0 otherwise
	push func(fd uintptr) bool
	left outgoing
}

// outgoing is what is left of an answer that is being written.
type outgoing struct {
	head, body []byte
	file       *copied // holds the body; nil: it is written
	sent       int64
	err        error
}

func newSocket(conn net.Conn) socket {
	system, ok := conn.(syscall.Conn) // a TCP connection, or what is built on one
	if !ok {
		return socket{}
	}
	raw, err := system.SyscallConn()
	if err != nil { // it is closed: its own methods say so
		return socket{}
	}
	return socket{raw: raw}
}

// blind tells whether the connection is read only when there is something.
func (s *socket) blind() bool { return s.raw != nil }

// listen answers requests until there is none to be answered here.
func (c *conn) listen() (next fate) {
	if c.raw == nil {
		return c.pump()
	}
	c.push = c.hand
	for {
		err := c.raw.Read(func(fd uintptr) (done bool) {
			c.fd = int(fd)
			next = c.drain()
			return next != again
		})
		c.fd = 0
		if err == nil {
			return next
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && c.look() {
			continue
		}
		return c.receive(0, err)
	}
}

// drain reads and answers until nothing more has arrived. A read that leaves
// room has taken every byte, and what comes later is told of; but an end that
// came with them is not. It is looked for where it may be near or matters:
// after a connection's first request and behind half of one. Elsewhere the
// time-out of look finds it.
func (c *conn) drain() fate {
	for {
		room, first := c.room(), !c.used
		n, errno := receive(c.fd, room)
		var err error
		switch {
		case errno == unix.EAGAIN:
			return again
		case errno == unix.EINTR:
			continue
		case errno != 0:
			err = os.NewSyscallError("read", errno)
		case n == 0:
			err = io.EOF
		}
		next := c.receive(n, err)
		if next != again || n < len(room) && !first && c.at == len(c.buf) {
			return next
		}
	}
}

// send writes an answer: what the system takes at once by calls that it does
// not wait in, and what is left as the client takes it.
func (c *conn) send(head, body []byte) (sent int64, err error) {
	if c.fd == 0 {
		return c.vectored(head, body)
	}
	c.left = outgoing{head: head, body: body}
	if file := c.lane.shelf.take(body); file != nil {
		defer c.lane.shelf.release(file)
		c.left = outgoing{head: append(head, body[:shelfFirst]...), body: body[shelfFirst:], file: file}
	}
	if !c.hand(uintptr(c.fd)) {
		err = c.raw.Write(c.push) // the time-out of writing ends it
	}
	sent, err = c.left.sent, errors.Join(c.left.err, err)
	c.left = outgoing{}
	return sent, err
}

// hand hands over what is left; false where the system takes no more now.
func (c *conn) hand(fd uintptr) (done bool) {
	left := &c.left
	for len(left.head)+len(left.body) > 0 {
		n, errno := left.some(int(fd))
		switch {
		case errno == unix.EAGAIN:
			return false
		case errno == unix.EINTR:
			continue
		case errno != 0:
			left.err = os.NewSyscallError("write", errno)
			return true
		}
		left.sent += int64(n)
		of := min(n, len(left.head))
		left.head, left.body = left.head[of:], left.body[n-of:]
	}
	return true
}

// some sends some of what is left by one call. Where a file cannot be sent, the
// body is written; if that fails too, it tells why.
func (left *outgoing) some(fd int) (int, syscall.Errno) {
	switch {
	case left.file == nil:
		return send(fd, left.head, left.body, 0)
	case len(left.head) > 0:
		return send(fd, left.head, nil, unix.MSG_MORE)
	}
	n, errno := sendfile(fd, left.file.fd, left.file.size-len(left.body), len(left.body))
	if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR || errno == 0 && n == 0 {
		left.file = nil
		return 0, unix.EINTR // again, by a write
	}
	return n, errno
}
