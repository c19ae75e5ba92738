package faultproxy

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is one address that forwards to another. Its methods may be called from
// several goroutines.
type Proxy struct {
	target   string
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex
	reset  bool
	open   chan struct{} // closed while bytes pass
	delay  time.Duration
	conns  map[net.Conn]struct{}
	count  int
	closed bool
}

// Start forwards to the target (host:port) until the test ends. At first there is
// no fault.
func Start(tb testing.TB, target string) *Proxy {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("faultproxy: listen: %v", err)
	}
	p := &Proxy{
		target:   target,
		listener: listener,
		open:     make(chan struct{}),
		conns:    map[net.Conn]struct{}{},
	}
	close(p.open)
	ctx := context.WithoutCancel(tb.Context()) // Close ends the proxy, after the test's other cleanups
	p.serving.Go(func() { p.serve(ctx) })
	tb.Cleanup(p.close)
	return p
}

// Addr returns the proxy's own address, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Accepted returns the number of connections so far, including those that were
// reset.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// Pass ends every fault; blocked bytes continue.
func (p *Proxy) Pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reset, p.delay = false, 0
	p.letGo()
}

func (p *Proxy) letGo() {
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

// Cut resets every open connection; new ones are forwarded.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

// Refuse resets every open and every new connection.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reset = true
	p.cut()
}

// Hang accepts connections and bytes but forwards nothing, like a frozen machine or
// a dead connection.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		p.open = make(chan struct{})
	default:
	}
}

// Delay delays each piece of data, in each direction.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

func (p *Proxy) cut() {
	for conn := range p.conns {
		abort(conn)
	}
}

// abort closes a connection with a reset.
func abort(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a closed connection has no options
	}
	_ = conn.Close()
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.cut()
	p.letGo()
	p.mu.Unlock()
	_ = p.listener.Close()
	p.serving.Wait()
}

func (p *Proxy) serve(ctx context.Context) {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.serving.Go(func() { p.connect(ctx, near) })
	}
}

// connect serves one connection to its end.
func (p *Proxy) connect(ctx context.Context, near net.Conn) {
	defer abort(near)
	if !p.keep(near, true) {
		return
	}
	defer p.drop(near)
	far, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer abort(far)
	if !p.keep(far, false) {
		return
	}
	defer p.drop(far)
	var both sync.WaitGroup
	over := make(chan struct{}) // closed when either side has ended
	end := sync.OnceFunc(func() {
		close(over)
		abort(near)
		abort(far)
	})
	both.Go(func() { defer end(); p.pass(far, near, over) })
	both.Go(func() { defer end(); p.pass(near, far, over) })
	both.Wait()
}

// keep registers a connection that a fault ends. It returns false if such a fault
// is active.
func (p *Proxy) keep(conn net.Conn, counts bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if counts {
		p.count++
	}
	if p.reset || p.closed {
		return false
	}
	p.conns[conn] = struct{}{}
	return true
}

func (p *Proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// pass copies data when faults allow it.
func (p *Proxy) pass(to, from net.Conn, over <-chan struct{}) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !p.wait(over) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait waits until data may continue. It returns false if the connection has ended.
func (p *Proxy) wait(over <-chan struct{}) bool {
	for {
		p.mu.Lock()
		open, delay := p.open, p.delay
		p.mu.Unlock()
		if delay > 0 {
			timer := time.NewTimer(delay)
			select {
			case <-timer.C:
			case <-over:
				timer.Stop()
				return false
			}
		}
		select {
		case <-over:
			return false
		case <-open:
		}
		p.mu.Lock()
		same := p.open == open
		p.mu.Unlock()
		if same {
			return true
		}
	}
}
