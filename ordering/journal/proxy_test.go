package journal_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// proxy is a proxy between a journal and its Redis that simulates network failures.
type proxy struct {
	listener net.Listener
	done     sync.WaitGroup

	mu      sync.Mutex
	target  string
	cut     int           // index of the next reply that is lost, with its connection; 0: none
	held    chan struct{} // requests wait until it is closed; nil: no wait
	waiting int           // number of waiting requests
	answers int           // replies since hold
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	p := &proxy{target: target, listener: listener}
	ctx := context.WithoutCancel(t.Context())
	p.done.Go(func() { p.serve(ctx) })
	t.Cleanup(func() {
		p.release()
		_ = listener.Close()
		p.done.Wait()
	})
	return p
}

func (p *proxy) url() string { return "redis://" + p.listener.Addr().String() + "/0" }

// follow connects new connections to another server, as after a failover.
func (p *proxy) follow(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// cutAfter loses the reply after the given number of replies.
func (p *proxy) cutAfter(answers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = answers + 1
}

// hold delays requests until release.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.answers = make(chan struct{}), 0
}

func (p *proxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		close(p.held)
		p.held = nil
	}
}

func (p *proxy) counts() (waiting, answers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting, p.answers
}

func (p *proxy) serve(ctx context.Context) {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		target := p.target
		p.mu.Unlock()
		far, err := new(net.Dialer).DialContext(ctx, "tcp", target)
		if err != nil {
			_ = near.Close()
			continue
		}
		p.done.Go(func() { p.requests(far, near) })
		p.done.Go(func() { p.replies(near, far) })
	}
}

// requests forwards requests, also if their client has disconnected.
func (p *proxy) requests(far, near net.Conn) {
	pass(far, near, func() bool {
		p.mu.Lock()
		held := p.held
		if held != nil {
			p.waiting++
		}
		p.mu.Unlock()
		if held != nil {
			<-held
		}
		return true
	})
	if tcp, ok := far.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

func (p *proxy) replies(near, far net.Conn) {
	pass(near, far, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.answers++
		if p.cut == 0 {
			return true
		}
		p.cut--
		return p.cut > 0
	})
	_ = near.Close()
	_ = far.Close()
}

// pass copies data while the gate allows it. It continues to read after a write error.
func pass(to io.Writer, from io.Reader, gate func() bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !gate() {
				return
			}
			_, _ = to.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}
