//go:build !linux

package express

import "net"

// socket is nothing here: connections are read and written by their own methods.
type socket struct{}

func newSocket(net.Conn) socket { return socket{} }

func (*socket) blind() bool { return false }

func (c *conn) listen() fate { return c.pump() }

func (c *conn) send(head, body []byte) (int64, error) { return c.vectored(head, body) }

// shelf is nothing here: large bodies are written.
type shelf struct{}

func (*shelf) close() {}
