package loadgen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// connection is one open connection.
type connection struct {
	fd     int
	answer answer
	due    time.Duration // of the current request, from the start
	busy   bool
}

// load is a running plan, in one goroutine.
type load struct {
	Plan
	epoll  int
	all    []*connection
	idle   []*connection
	began  time.Time
	total  int // number of requests
	sent   int
	done   int
	found  Histogram
	buffer []byte
}

// Run runs the load and returns the result. A response with another status, or a
// closed connection, is an error, because such a load is not valid.
func Run(ctx context.Context, plan Plan) (Result, error) {
	if err := plan.check(); err != nil {
		return Result{}, err
	}
	l := &load{
		Plan:   plan,
		epoll:  -1,
		total:  int(plan.Rate * plan.For.Seconds()),
		buffer: make([]byte, 256<<10),
	}
	defer l.close()
	if err := l.open(ctx); err != nil {
		return Result{}, fmt.Errorf("loadgen: connect to %s: %w", plan.Address, err)
	}
	if err := l.run(ctx); err != nil {
		return Result{}, err
	}
	unanswered := l.missing()
	return result(plan.Rate, &l.found, unanswered), nil
}

// open opens all connections.
func (l *load) open(ctx context.Context) error {
	address, err := netip.ParseAddrPort(l.Address)
	if err != nil || !address.Addr().Is4() {
		return errors.Join(err, &net.AddrError{Err: "needs an IPv4 address and a port", Addr: l.Address})
	}
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	for range l.Connections {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		c := &connection{fd: fd, answer: answer{status: l.Status, head: make([]byte, 0, headMost)}}
		l.all, l.idle = append(l.all, c), append(l.idle, c)
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(len(l.all) - 1)}
		if err := errors.Join(
			unix.Connect(fd, &unix.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}),
			unix.SetNonblock(fd, true),
			unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
			unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &event),
		); err != nil {
			return err
		}
	}
	return nil
}

func (l *load) close() {
	for _, c := range l.all {
		_ = unix.Close(c.fd)
	}
	if l.epoll >= 0 {
		_ = unix.Close(l.epoll)
	}
}

// dueAt returns the time at which the n-th request is due, from the start.
func (l *load) dueAt(n int) time.Duration {
	return time.Duration(float64(n) / l.Rate * float64(time.Second))
}

// run sends due requests and reads responses, until all have arrived or maxWait has
// passed.
func (l *load) run(ctx context.Context) error {
	events := make([]unix.EpollEvent, l.Connections)
	l.began = time.Now()
	for l.done < l.total {
		now := time.Since(l.began)
		if now > l.For+maxWait {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		for l.sent < l.total && len(l.idle) > 0 && l.dueAt(l.sent) <= now {
			if err := l.send(); err != nil {
				return err
			}
		}
		n, err := unix.EpollWait(l.epoll, events, l.rest(now))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("loadgen: wait: %w", err)
		}
		for _, event := range events[:max(n, 0)] {
			if err := l.take(l.all[event.Fd]); err != nil {
				return err
			}
		}
	}
	return nil
}

// rest returns the timeout of the next poll in milliseconds. It is 0 except for low
// rates. If all connections are busy, it waits for a response.
func (l *load) rest(now time.Duration) int {
	const long = 10 // limits the delay after the end of ctx
	if l.sent >= l.total || len(l.idle) == 0 {
		return long
	}
	return int(min(max((l.dueAt(l.sent)-now)/time.Millisecond-1, 0), long))
}

// send sends the next request on an idle connection.
func (l *load) send() error {
	c := l.idle[len(l.idle)-1]
	l.idle = l.idle[:len(l.idle)-1]
	c.due, c.busy = l.dueAt(l.sent), true
	l.sent++
	n, err := unix.Write(c.fd, l.Request)
	if err != nil || n < len(l.Request) {
		return fmt.Errorf("loadgen: a request of %d bytes was sent as %d: %w", len(l.Request), n, errors.Join(err, net.ErrClosed))
	}
	return nil
}

// take reads from a connection.
func (l *load) take(c *connection) error {
	n, err := unix.Read(c.fd, l.buffer)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return fmt.Errorf("loadgen: read an answer: %w", err)
	case n == 0:
		return errors.New("loadgen: the server closed a connection")
	case !c.busy:
		return errors.New("loadgen: an answer that nobody asked for")
	}
	ended, err := c.answer.take(l.buffer[:n])
	if err != nil || !ended {
		return err
	}
	if c.due >= l.Warm {
		l.found.Add(time.Since(l.began) - c.due)
	}
	c.busy = false
	l.done++
	l.idle = append(l.idle, c)
	return nil
}

// missing counts due requests without a response, with the time that they waited.
func (l *load) missing() int {
	now, n := time.Since(l.began), 0
	count := func(due time.Duration) {
		if due >= l.Warm {
			l.found.Add(now - due)
			n++
		}
	}
	for _, c := range l.all {
		if c.busy {
			count(c.due)
		}
	}
	for ; l.sent < l.total; l.sent++ {
		count(l.dueAt(l.sent))
	}
	return n
}
