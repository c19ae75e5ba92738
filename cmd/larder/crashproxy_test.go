package main

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// crashProxy forwards between larder and another server. It calls crash before it
// forwards a request that contains one of the patterns, and before it forwards the
// response to one.
type crashProxy struct {
	name     string
	to       string
	patterns []string
	crash    *crash

	listener net.Listener
	mu       sync.Mutex
	conns    []net.Conn
}

func newCrashProxy(t *testing.T, name, to string, c *crash, patterns ...string) *crashProxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &crashProxy{
		name:     name,
		to:       to,
		patterns: patterns,
		crash:    c,
		listener: listener,
	}
	var served sync.WaitGroup
	served.Go(func() { p.serve(&served) })
	t.Cleanup(func() {
		_ = listener.Close()
		p.cut()
		served.Wait()
	})
	return p
}

func (p *crashProxy) addr() string { return p.listener.Addr().String() }

// cut closes all connections.
func (p *crashProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
}

func (p *crashProxy) serve(served *sync.WaitGroup) {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.to) //nolint:noctx // loopback; closed with the test
		if err != nil {
			_ = near.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, near, far)
		p.mu.Unlock()
		asked := make(chan struct{}, 1024) // one for each matching request without a response
		served.Go(func() { p.forward(near, far, asked) })
		served.Go(func() { p.back(far, near, asked) })
	}
}

// forward copies requests of larder.
func (p *crashProxy) forward(near, far net.Conn, asked chan struct{}) {
	defer func() { _, _ = near.Close(), far.Close() }()
	buffer := make([]byte, 1<<20)
	for {
		n, err := near.Read(buffer)
		if err != nil {
			return
		}
		if p.matches(buffer[:n]) {
			if !p.crash.passes(p.name + " asked") {
				return
			}
			asked <- struct{}{}
		}
		if _, err := far.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// back copies responses of the server.
func (p *crashProxy) back(far, near net.Conn, asked chan struct{}) {
	defer func() { _, _ = near.Close(), far.Close() }()
	buffer := make([]byte, 1<<20)
	for {
		n, err := far.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-asked:
			if !p.crash.passes(p.name + " answers") {
				return
			}
		default:
		}
		if _, err := near.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *crashProxy) matches(message []byte) bool {
	for _, pattern := range p.patterns {
		if bytes.Contains(message, []byte(pattern)) {
			return true
		}
	}
	return false
}

// crash kills a process when the n-th message is about to be forwarded.
type crash struct {
	mu    sync.Mutex
	left  int // messages until the crash; 0 or less: no crash
	kill  func()
	steps []string // the messages since arm; the last one is that of the crash
	fired bool
}

// arm makes the n-th message after this call, counted from 1, call kill.
func (c *crash) arm(n int, kill func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.kill, c.steps, c.fired = n, kill, nil, false
}

// passes reports whether the message is forwarded.
func (c *crash) passes(step string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fired {
		return false
	}
	if c.left <= 0 {
		return true
	}
	c.steps = append(c.steps, step)
	if c.left--; c.left > 0 {
		return true
	}
	c.fired = true
	c.kill()
	return false
}

// disarm stops counting. It returns the messages up to the crash and reports whether
// there was a crash.
func (c *crash) disarm() (steps []string, fired bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = 0
	return c.steps, c.fired
}
