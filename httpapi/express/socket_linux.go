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
	raw syscall.RawConn
	fd  int // good during a callback of raw; 0 otherwise
}

func newSocket(conn net.Conn) socket {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return socket{}
	}
	raw, err := tcp.SyscallConn()
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

// send writes a small answer: at once, or what is left of it as the client
// takes it.
func (c *conn) send(p []byte) (int, error) {
	sent := 0
	if c.fd > 0 {
		n, errno := send(c.fd, p)
		switch {
		case errno == 0:
			if sent = n; sent == len(p) {
				return sent, nil
			}
		case errno != unix.EAGAIN && errno != unix.EINTR:
			return 0, os.NewSyscallError("write", errno)
		}
	}
	n, err := c.Conn.Write(p[sent:])
	return sent + n, err
}
