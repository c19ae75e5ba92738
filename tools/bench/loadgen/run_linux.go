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
	// request is what the connection sends.
	request template
	due     time.Duration // of the current request, from the start
	busy    bool
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
	last   time.Duration // time of the last response, from the start
	found  Histogram
	buffer []byte // of responses
	out    []byte // of requests
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
		total:  plan.total(),
		buffer: make([]byte, 256<<10),
	}
	defer l.close()
	if err := l.open(ctx); err != nil {
		return Result{}, fmt.Errorf("loadgen: connect to %s: %w", plan.Addresses, err)
	}
	if err := l.run(ctx); err != nil {
		return Result{}, err
	}
	unanswered := l.missing()
	return result(plan.Rate, &l.found, unanswered, l.last-l.Warm), nil
}

// open opens all connections.
func (l *load) open(ctx context.Context) (err error) {
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	requests := make([]template, len(l.Requests))
	for i, request := range l.Requests {
		requests[i] = cut(request)
	}
	for i := range l.Connections {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		// Every address gets every request, if there are enough connections.
		request := requests[i/len(l.Addresses)%len(requests)]
		if err := l.connect(l.Addresses[i%len(l.Addresses)], request); err != nil {
			return err
		}
	}
	return nil
}

// connect opens one connection.
func (l *load) connect(to string, request template) error {
	address, err := netip.ParseAddrPort(to)
	if err != nil || !address.Addr().Is4() {
		return errors.Join(err, &net.AddrError{Err: "needs an IPv4 address and a port", Addr: to})
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	c := &connection{
		fd:      fd,
		request: request,
		answer:  answer{status: l.Status, keep: l.Body != nil, head: make([]byte, 0, headMost)},
	}
	l.all, l.idle = append(l.all, c), append(l.idle, c)
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(len(l.all) - 1)}
	return errors.Join(
		unix.Connect(fd, &unix.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}),
		unix.SetNonblock(fd, true),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &event),
	)
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

// due returns the time at which the next request was due; false if none is due.
func (l *load) due(now time.Duration) (time.Duration, bool) {
	switch {
	case l.sent >= l.total:
		return 0, false
	case l.Rate == 0:
		return now, now < l.For
	default:
		due := l.dueAt(l.sent)
		return due, due <= now
	}
}

// run sends due requests and reads responses, until all have arrived or maxWait has
// passed.
func (l *load) run(ctx context.Context) error {
	events := make([]unix.EpollEvent, l.Connections)
	l.began = time.Now()
	for {
		now := time.Since(l.began)
		over := l.sent >= l.total || l.Rate == 0 && now >= l.For
		if over && l.done == l.sent || now > l.For+maxWait {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		for len(l.idle) > 0 {
			due, ok := l.due(now)
			if !ok {
				break
			}
			if err := l.send(due); err != nil {
				return err
			}
		}
		n, err := l.wait(events, now)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("loadgen: wait: %w", err)
		}
		for _, event := range events[:max(n, 0)] {
			if err := l.take(l.all[event.Fd]); err != nil {
				return err
			}
		}
	}
}

// longWait limits the delay after the end of the context.
const longWait = 10 * time.Millisecond

// wait waits for responses, at most until the next request is due. Without Sleep it
// returns at once, except for low rates.
func (l *load) wait(events []unix.EpollEvent, now time.Duration) (int, error) {
	rest := longWait
	if l.sent < l.total && len(l.idle) > 0 && l.Rate > 0 {
		rest = min(max(l.dueAt(l.sent)-now, 0), longWait)
		if !l.Sleep {
			rest = max(rest-time.Millisecond, 0).Truncate(time.Millisecond)
		}
	}
	if rest > 0 && l.Sleep {
		timeout := unix.NsecToTimespec(rest.Nanoseconds()) // epoll_wait has only milliseconds
		if _, err := unix.Ppoll([]unix.PollFd{{Fd: int32(l.epoll), Events: unix.POLLIN}}, &timeout, nil); err != nil {
			return 0, err
		}
		rest = 0
	}
	return unix.EpollWait(l.epoll, events, int(rest/time.Millisecond))
}

// send sends the next request on an idle connection.
func (l *load) send(due time.Duration) error {
	c := l.idle[len(l.idle)-1]
	l.idle = l.idle[:len(l.idle)-1]
	c.due, c.busy = due, true
	request := l.request(c, l.sent)
	l.sent++
	n, err := unix.Write(c.fd, request)
	if err != nil || n < len(request) {
		return fmt.Errorf("loadgen: a request of %d bytes was sent as %d: %w", len(request), n, errors.Join(err, net.ErrClosed))
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
	l.last = time.Since(l.began)
	if c.due >= l.Warm {
		l.found.Add(l.last - c.due)
	}
	if l.Body != nil {
		l.Body(c.answer.text)
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
	for ; l.Rate > 0 && l.sent < l.total; l.sent++ {
		count(l.dueAt(l.sent))
	}
	return n
}
