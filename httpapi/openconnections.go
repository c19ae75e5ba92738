package httpapi

import (
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/sirupsen/logrus"

	"larder/httpapi/auth"
	"larder/httpapi/ratelimit"
)

// openConnections counts the connections of the public listener, whichever path
// answers them, and lets no more in than the limit: who comes then waits with
// the system until another one has left, at the cost of no open file.
type openConnections struct {
	limit  int // 0: none
	each   *addressConnections
	log    logrus.FieldLogger
	places chan struct{} // what is open, and one more while that is accepted; nil without a limit
	open   atomic.Int64
	full   atomic.Bool   // somebody had to wait, and a tenth of the places is not free again
	filled atomic.Uint64 // how often that came to be
}

// newOpenConnections keeps the connections to http.max_connections, and those
// to seven eighths of the files that this process may have open: Redis and the
// ordering services must not be out of reach because readers have taken them all.
func newOpenConnections(limit, files int, each *addressConnections, log logrus.FieldLogger) *openConnections {
	o := &openConnections{limit: limit, each: each, log: log}
	if limit == 0 {
		return o
	}
	if fit := files - files/8; files > 0 && fit < limit {
		o.limit = max(fit, 1)
		log.WithFields(logrus.Fields{"event": "http.fd_limit_low", "max_connections": limit, "connections": o.limit, "files": files}).
			Warn("too few files may be open for http.max_connections: raise LimitNOFILE or ulimit -n")
	}
	o.places = make(chan struct{}, o.limit)
	return o
}

// enter takes a place, and waits for one until closed; false is the end.
func (o *openConnections) enter(closed <-chan struct{}) bool {
	if o.places == nil {
		return true
	}
	select {
	case o.places <- struct{}{}:
		return true
	default:
	}
	if o.full.CompareAndSwap(false, true) { // logged once, until a tenth is free again
		o.filled.Add(1)
		o.log.WithFields(logrus.Fields{"event": "http.connection_limit", "connections": o.limit}).
			Warn("as many connections as may be: further ones wait until one has left")
	}
	select {
	case o.places <- struct{}{}:
		return true
	case <-closed:
		return false
	}
}

// leave returns the place of a connection.
func (o *openConnections) leave() {
	open := o.open.Add(-1)
	o.free()
	if open <= int64(o.limit-(o.limit+9)/10) && o.full.CompareAndSwap(true, false) {
		o.log.WithFields(logrus.Fields{"event": "http.connections_available", "connections": open}).Info("there is room for connections again")
	}
}

// free returns a place.
func (o *openConnections) free() {
	if o.places != nil {
		<-o.places
	}
}

// limitedListener accepts while there are places. Its connections are TCP
// connections in all they can do, as both paths need them.
type limitedListener struct {
	*net.TCPListener
	conns  *openConnections
	once   sync.Once
	closed chan struct{}
}

// Accept waits for a place, and then for a connection; net.ErrClosed after
// Close. Those of an address that has as many as it may are closed meanwhile.
func (l *limitedListener) Accept() (net.Conn, error) {
	if !l.conns.enter(l.closed) {
		return nil, net.ErrClosed
	}
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			l.conns.free()
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

// Close ends an Accept that waits.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.TCPListener.Close()
}

// What the fast path and net/http look for in a connection.
var (
	_ syscall.Conn                    = (*openConnection)(nil) // waits before it reads
	_ interface{ CloseWrite() error } = (*openConnection)(nil) // an end that lets the answer arrive
	_ io.ReaderFrom                   = (*openConnection)(nil) // net/http sends files
)

// openConnection gives its place back when it is closed.
type openConnection struct {
	*net.TCPConn
	conns   *openConnections
	address string // its key in conns.each
	left    atomic.Bool
}

// Close closes the connection; it may be called again.
func (c *openConnection) Close() error {
	err := c.TCPConn.Close()
	if !c.left.Swap(true) {
		c.conns.each.leave(c.address)
		c.conns.leave()
	}
	return err
}

// addressConnections counts the open connections of each address, and says where
// one has as many as it may (docs/decisions/0044-connection-limit-per-address.md).
// It knows no more addresses than there are connections.
type addressConnections struct {
	limit   int          // 0: none, and nothing is counted
	exempt  auth.Proxies // behind which all are one address
	refused atomic.Uint64

	mu   sync.Mutex
	open map[string]int
}

func newAddressConnections(limit int, exempt auth.Proxies) *addressConnections {
	return &addressConnections{limit: limit, exempt: exempt, open: map[string]int{}}
}

// enter counts a connection in; false where its address has as many as it may.
// leave must get the key.
func (a *addressConnections) enter(remote net.Addr) (key string, ok bool) {
	if a.limit == 0 || a.exempt.Hold(remote.String()) {
		return "", true
	}
	host, _, err := net.SplitHostPort(remote.String())
	if err != nil { // of a TCP connection it always is one
		return "", true
	}
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

// leave counts a connection out; the key is empty of one that was not counted.
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

// openFiles is how many files this process may have open; 0: as good as no limit.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
