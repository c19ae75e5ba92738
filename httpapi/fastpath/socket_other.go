//go:build !linux

package fastpath

import "net"

// socket is empty: connections are read with their own methods.
type socket struct{}

func newSocket(net.Conn) socket { return socket{} }

func (*socket) waitsForReadiness() bool { return false }

func (c *conn) serveRequests() nextStep { return c.serveGeneric() }
