package ordering_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"larder.local/internal/testkit/journaltest"
	"larder.local/ordering"
)

// network is an in-process network. With real sockets, time in a synctest bubble would not
// advance, because waiting for a socket does not count as blocked.
type network struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newNetwork() *network {
	return &network{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept implements net.Listener.
func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.conns:
		return conn, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (n *network) Close() error {
	n.once.Do(func() { close(n.done) })
	return nil
}

// Addr implements net.Listener.
func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

// plug connects one instance to the network. Pulling it closes every connection and prevents
// new ones, like a killed process.
type plug struct {
	net *network

	mu     sync.Mutex
	conns  []net.Conn
	pulled bool
}

func (p *plug) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	p.mu.Lock()
	pulled := p.pulled
	if !pulled {
		p.conns = append(p.conns, near)
	}
	p.mu.Unlock()
	if pulled {
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: net.ErrClosed}
	}
	select {
	case p.net.conns <- far:
		return near, nil
	case <-p.net.done:
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *plug) pull() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pulled = true
	for _, conn := range p.conns {
		_ = conn.Close()
	}
}

// errDead is the error of calls of a killed process. No client gets it.
var errDead = errors.New("the process was killed")

// gate is an instance's access to the journal. Calls can fail or be slow, and the process
// can be killed.
type gate struct {
	ordering.Journal
	plug *plug

	mu          sync.Mutex
	dead        bool
	unreachable bool                                         // nothing reaches the journal
	fail        map[journaltest.Method][]journaltest.Failure // of the next calls, in order
	die         map[journaltest.Method]journaltest.Failure   // before or after the next call
	delay       map[journaltest.Method]time.Duration         // of the next call
}

func (g *gate) kill() {
	g.mu.Lock()
	g.dead = true
	g.mu.Unlock()
	g.plug.pull()
}

func (g *gate) isDead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// plan returns what happens to the next call of a method.
func (g *gate) plan(method journaltest.Method) (delay time.Duration, fail, die journaltest.Failure) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delay, die = g.delay[method], g.die[method]
	delete(g.delay, method)
	delete(g.die, method)
	if list := g.fail[method]; len(list) > 0 {
		fail, g.fail[method] = list[0], list[1:]
	}
	if g.unreachable {
		fail = journaltest.FailBefore
	}
	return delay, fail, die
}

func (g *gate) do(ctx context.Context, method journaltest.Method, call func() error) error {
	delay, fail, die := g.plan(method)
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return &ordering.JournalError{Err: ctx.Err()}
		}
	}
	if die == journaltest.FailBefore {
		g.kill()
	}
	if g.isDead() {
		return &ordering.JournalError{Err: errDead}
	}
	if fail == journaltest.FailBefore {
		return &ordering.JournalError{Err: journaltest.ErrInjected}
	}
	err := call()
	if die == journaltest.FailAfter {
		g.kill()
	}
	switch {
	case g.isDead():
		return &ordering.JournalError{Err: errDead}
	case fail == journaltest.FailAfter:
		return &ordering.JournalError{Err: journaltest.ErrInjected}
	default:
		return err
	}
}

// guarded is do for calls with a result.
func guarded[V any](g *gate, ctx context.Context, method journaltest.Method, call func() (V, error)) (V, error) { //nolint:revive // a method may have no type parameter
	var value, zero V
	err := g.do(ctx, method, func() (err error) {
		value, err = call()
		return err
	})
	if err != nil {
		return zero, err
	}
	return value, nil
}

// Ready implements ordering.Journal, as do the following methods.
func (g *gate) Ready(ctx context.Context, connection string) error {
	return g.do(ctx, journaltest.MethodReady, func() error { return g.Journal.Ready(ctx, connection) })
}

func (g *gate) Paused(ctx context.Context, connection string) (time.Time, error) {
	return guarded(g, ctx, journaltest.MethodWatch, func() (time.Time, error) { return g.Journal.Paused(ctx, connection) })
}

func (g *gate) Watch(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	return guarded(g, ctx, journaltest.MethodWatch, func() (ordering.JournalHealth, error) { return g.Journal.Watch(ctx, connection) })
}

func (g *gate) Accept(ctx context.Context, connection string) (bool, error) {
	return guarded(g, ctx, journaltest.MethodAccept, func() (bool, error) { return g.Journal.Accept(ctx, connection) })
}

func (g *gate) Recreate(ctx context.Context, known ordering.Record, call int, body []byte) (r ordering.Record, n int, err error) {
	err = g.do(ctx, journaltest.MethodRecreate, func() (err error) {
		r, n, err = g.Journal.Recreate(ctx, known, call, body)
		return err
	})
	return r, n, err
}

func (g *gate) Secret(ctx context.Context, connection string) ([]byte, error) {
	return guarded(g, ctx, journaltest.MethodSecret, func() ([]byte, error) { return g.Journal.Secret(ctx, connection) })
}

func (g *gate) Lookup(ctx context.Context, connection, key string) (r ordering.Record, call int, err error) {
	err = g.do(ctx, journaltest.MethodLookup, func() (err error) {
		r, call, err = g.Journal.Lookup(ctx, connection, key)
		return err
	})
	return r, call, err
}

func (g *gate) Begin(ctx context.Context, o ordering.CallSpec) (ordering.Record, error) {
	return guarded(g, ctx, journaltest.MethodBegin, func() (ordering.Record, error) { return g.Journal.Begin(ctx, o) })
}

func (g *gate) Abort(ctx context.Context, o ordering.CallSpec) error {
	return g.do(ctx, journaltest.MethodAbort, func() error { return g.Journal.Abort(ctx, o) })
}

func (g *gate) Finish(ctx context.Context, e ordering.CallResult) (ordering.Record, error) {
	return guarded(g, ctx, journaltest.MethodFinish, func() (ordering.Record, error) { return g.Journal.Finish(ctx, e) })
}

func (g *gate) Resolve(ctx context.Context, s ordering.ResolveCall) (ordering.Record, error) {
	return guarded(g, ctx, journaltest.MethodResolve, func() (ordering.Record, error) { return g.Journal.Resolve(ctx, s) })
}

func (g *gate) Sweep(ctx context.Context, connection string) ([]ordering.Record, error) {
	return guarded(g, ctx, journaltest.MethodSweep, func() ([]ordering.Record, error) { return g.Journal.Sweep(ctx, connection) })
}

func (g *gate) Order(ctx context.Context, connection, orderID string) (ordering.Record, error) {
	return guarded(g, ctx, journaltest.MethodOrder, func() (ordering.Record, error) { return g.Journal.Order(ctx, connection, orderID) })
}

func (g *gate) Record(ctx context.Context, connections []string, ref string) (ordering.Record, error) {
	return guarded(g, ctx, journaltest.MethodRecord, func() (ordering.Record, error) { return g.Journal.Record(ctx, connections, ref) })
}

func (g *gate) Body(ctx context.Context, connection, ref string, call int) ([]byte, error) {
	return guarded(g, ctx, journaltest.MethodBody, func() ([]byte, error) { return g.Journal.Body(ctx, connection, ref, call) })
}
