package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// headMost limits the head of a request; a longer one closes the connection.
const headMost = 8 << 10

// connection is one client.
type connection struct {
	fd    int
	head  []byte // input without a response yet, up to its capacity
	left  []byte // the part in memory of the current response
	file  *held  // the rest of the response, or nil
	at    int64  // number of sent bytes of the file
	waits bool   // for the socket to accept more; meanwhile nothing is read
}

// loop is a running server.
type loop struct {
	answers  map[string]ready
	epoll    int
	listener int
	stop     int // an eventfd that is written when the context ends
	clients  map[int32]*connection
}

// Serve serves until ctx ends. It closes the listener.
func Serve(ctx context.Context, listener *net.TCPListener, answers Answers) (err error) {
	defer func() { err = errors.Join(err, listener.Close()) }()
	file, err := listener.File() // another descriptor of the same socket
	if err != nil {
		return fmt.Errorf("baseline: listener: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	l := &loop{listener: int(file.Fd()), clients: map[int32]*connection{}}
	l.answers, err = hold(answers)
	defer l.release()
	if err != nil {
		return err
	}
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	defer func() { _ = unix.Close(l.epoll) }()
	if l.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	reported := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(reported)
		_, _ = unix.Write(l.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // eight bytes always fit
	})
	defer func() {
		if !release() {
			<-reported // until then the eventfd is in use
		}
		_ = unix.Close(l.stop)
		for _, c := range l.clients {
			_ = unix.Close(c.fd)
		}
	}()
	if err := errors.Join(unix.SetNonblock(l.listener, true), l.watch(l.listener, unix.EPOLLIN), l.watch(l.stop, unix.EPOLLIN)); err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	return l.run()
}

func (l *loop) watch(fd int, events uint32) error {
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

func (l *loop) run() error {
	events := make([]unix.EpollEvent, 256)
	for {
		n, err := unix.EpollWait(l.epoll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("baseline: wait: %w", err)
		}
		for _, event := range events[:max(n, 0)] {
			switch int(event.Fd) {
			case l.stop:
				return nil
			case l.listener:
				if err := l.accept(); err != nil {
					return err
				}
			default:
				l.serve(l.clients[event.Fd])
			}
		}
	}
}

// accept accepts one client; epoll reports the others again.
func (l *loop) accept() error {
	fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ECONNABORTED), errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return fmt.Errorf("baseline: accept: %w", err)
	}
	l.clients[int32(fd)] = &connection{fd: fd, head: make([]byte, 0, headMost)}
	return errors.Join(
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		l.watch(fd, unix.EPOLLIN),
	)
}

// serve continues with a client that is readable or writable.
func (l *loop) serve(c *connection) {
	if c == nil {
		return
	}
	if !c.waits {
		n, err := read(c.fd, c.head[len(c.head):cap(c.head)])
		if again(err) {
			return
		}
		if err != nil || n == 0 {
			l.drop(c)
			return
		}
		c.head = c.head[:len(c.head)+n]
	}
	for {
		if !l.send(c) {
			return
		}
		end := bytes.Index(c.head, []byte("\r\n\r\n"))
		if end < 0 {
			if len(c.head) == cap(c.head) {
				l.drop(c)
			}
			return
		}
		answer, ok := l.answers[string(path(c.head[:end]))]
		if !ok {
			l.drop(c)
			return
		}
		c.head = c.head[:copy(c.head, c.head[end+4:])]
		c.left, c.file, c.at = answer.memory, answer.file, 0
	}
}

// path returns the text between the first two spaces.
func path(head []byte) []byte {
	_, rest, _ := bytes.Cut(head, []byte(" "))
	found, _, _ := bytes.Cut(rest, []byte(" "))
	return found
}

// again reports whether the call would block.
func again(err error) bool {
	return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)
}

// send sends the rest of a response. It returns false if it must wait, or if the
// client has disconnected.
func (l *loop) send(c *connection) bool {
	for len(c.left) > 0 || c.file != nil {
		switch err := c.step(); {
		case again(err):
			return l.wait(c, true)
		case err != nil:
			l.drop(c)
			return false
		}
	}
	return l.wait(c, false)
}

// step makes one system call.
func (c *connection) step() error {
	if len(c.left) > 0 {
		flags := 0
		if c.file != nil {
			flags = unix.MSG_MORE
		}
		n, err := send(c.fd, c.left, flags)
		c.left = c.left[max(n, 0):]
		return err
	}
	_, err := unix.Sendfile(c.fd, c.file.fd, &c.at, int(c.file.length-c.at))
	if c.at >= c.file.length {
		c.file = nil
	}
	return err
}

// wait watches a client for the other direction if it has changed. It reports whether
// the client may be read.
func (l *loop) wait(c *connection, waits bool) bool {
	if waits == c.waits {
		return !waits
	}
	c.waits = waits
	events := uint32(unix.EPOLLIN)
	if waits {
		events = unix.EPOLLOUT
	}
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_MOD, c.fd, &unix.EpollEvent{Events: events, Fd: int32(c.fd)}); err != nil {
		l.drop(c)
		return false
	}
	return !waits
}

// drop removes a client; closing its socket ends the watch.
func (l *loop) drop(c *connection) {
	delete(l.clients, int32(c.fd))
	_ = unix.Close(c.fd)
}
