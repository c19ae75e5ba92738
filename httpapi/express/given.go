package express

import "net"

// given is a connection on its way to net/http: what had been read of it is
// read again first.
type given struct {
	net.Conn
	rest []byte
}

// Read gives the rest, and then what comes.
func (g *given) Read(into []byte) (int, error) {
	if len(g.rest) == 0 {
		return g.Conn.Read(into)
	}
	n := copy(into, g.rest)
	if g.rest = g.rest[n:]; len(g.rest) == 0 {
		g.rest = nil // lets the buffer go
	}
	return n, nil
}

// CloseWrite ends what is written: net/http does so before it closes a
// connection whose client may still be sending.
func (g *given) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
