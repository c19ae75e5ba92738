package httpapi

import (
	"cmp"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/sirupsen/logrus"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/ratelimit"
)

// openConnections counts and limits the connections of the public listener, of both paths.
// Connections above the limit wait in the listen backlog and use no open file.
type openConnections struct {
	limit  int // 0 means no limit
	each   *addressConnections
	log    logrus.FieldLogger
	places chan struct{} // one element per open connection, and one for the next Accept
	open   atomic.Int64
	full   atomic.Bool   // the limit was reached, and less than a tenth of it is free again
	filled atomic.Uint64 // how often the limit was reached
}

// newOpenConnections limits the connections to http.max_connections, and to seven eighths of
// the open files of this process. The rest is for Redis and the ordering services.
func newOpenConnections(limit, files int, each *addressConnections, log logrus.FieldLogger) *openConnections {
	o := &openConnections{limit: limit, each: each, log: log}
	if fit := files - files/8; files > 0 && fit < limit { // never without a limit
		o.limit = max(fit, 1)
		log.WithFields(logrus.Fields{
			"event":           "http.fd_limit_low",
			"max_connections": limit,
			"connections":     o.limit,
			"files":           files,
		}).
			Warn("the limit of open files is too low for http.max_connections: raise LimitNOFILE or ulimit -n")
	}
	o.places = make(chan struct{}, cmp.Or(o.limit, math.MaxInt32)) // its elements take no memory
	return o
}

// enter reserves a place for a connection and waits for a free one. It returns false when closed ends.
func (o *openConnections) enter(closed <-chan struct{}) bool {
	select {
	case o.places <- struct{}{}:
		return true
	default:
	}
	if o.full.CompareAndSwap(false, true) { // logged once, until a tenth of the places is free again
		o.filled.Add(1)
		o.log.WithFields(logrus.Fields{"event": "http.connection_limit", "connections": o.limit}).
			Warn("connection limit reached: further connections wait until one closes")
	}
	select {
	case o.places <- struct{}{}:
		return true
	case <-closed:
		return false
	}
}

// leave releases the place of a closed connection.
func (o *openConnections) leave() {
	open := o.open.Add(-1)
	<-o.places
	if open <= int64(o.limit-(o.limit+9)/10) && o.full.CompareAndSwap(true, false) {
		o.log.WithFields(logrus.Fields{"event": "http.connections_available", "connections": open}).Info("connections are available again")
	}
}

// limitedListener accepts connections while places are free. Its connections embed
// *net.TCPConn, because both paths need its methods.
type limitedListener struct {
	*net.TCPListener
	conns  *openConnections
	once   sync.Once
	closed chan struct{}
}

// Accept waits for a place and then for a connection. It closes connections of an address that
// has reached its limit. It returns net.ErrClosed after Close.
func (l *limitedListener) Accept() (net.Conn, error) {
	if !l.conns.enter(l.closed) {
		return nil, net.ErrClosed
	}
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			<-l.conns.places
			return nil, err
		}
		address, ok := l.conns.each.enter(conn.RemoteAddr())
		if !ok {
			_ = conn.Close()
			continue
		}
		l.conns.open.Add(1)
		return &openConnection{TCPConn: conn, conns: l.conns, address: address}, nil
	}
}

// Close closes the listener and ends a waiting Accept.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.TCPListener.Close()
}

// The interfaces that the fast path and net/http look for in a connection.
var (
	_ syscall.Conn                    = (*openConnection)(nil) // the fast path waits before it reads
	_ interface{ CloseWrite() error } = (*openConnection)(nil) // closes without losing the response
	_ io.ReaderFrom                   = (*openConnection)(nil) // net/http sends files with it
)

// openConnection releases its place when it is closed.
type openConnection struct {
	*net.TCPConn
	conns   *openConnections
	address string // its key in conns.each
	left    atomic.Bool
}

// Close closes the connection. Further calls are allowed.
func (c *openConnection) Close() error {
	err := c.TCPConn.Close()
	if !c.left.Swap(true) {
		c.conns.each.leave(c.address)
		c.conns.leave()
	}
	return err
}

// addressConnections counts and limits the open connections of each address
// (docs/decisions/0044-connection-limit-per-address.md). It has at most one entry per connection.
type addressConnections struct {
	limit   int          // 0 means no limit, and nothing is counted
	exempt  auth.Proxies // proxies, whose clients all have the proxy's address
	refused atomic.Uint64

	mu   sync.Mutex
	open map[string]int
}

// enter counts a new connection and returns its key for leave. It returns false if the address has reached its limit.
func (a *addressConnections) enter(remote net.Addr) (key string, ok bool) {
	if a.limit == 0 || a.exempt.Trust(remote.String()) {
		return "", true
	}
	host, _, _ := net.SplitHostPort(remote.String()) // cannot fail for a TCP connection
	key = ratelimit.AddressKey(host)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[key] >= a.limit {
		a.refused.Add(1)
		return "", false
	}
	a.open[key]++
	return key, true
}

// leave removes a connection. An empty key marks a connection that was not counted.
func (a *addressConnections) leave(key string) {
	if key == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[key]--; a.open[key] == 0 {
		delete(a.open, key)
	}
}

// openFiles returns how many files this process may have open, or 0 if there is practically no limit.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
