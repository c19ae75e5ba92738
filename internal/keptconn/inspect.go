package keptconn

import (
	"syscall"
	"time"
)

// State returns the number of idle connections, whether they may be used, and whether the last one could be used
// now. Only tests use it: if something has arrived, it closes that connection.
func (p *Pool) State() (idle int, proven, usable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if idle = len(p.idle); idle > 0 {
		last := p.idle[idle-1]
		if usable = last.quiet(); !usable {
			_ = last.Close() // quiet has read what arrived: a second call would find nothing
		}
		usable = usable && !time.Now().Before(last.rested) && !Past(last.began.Add(p.Reuse))
	}
	return idle, p.Proven, usable
}

// Last returns the idle connection that was used last, or nil. Only tests use it.
func (p *Pool) Last() *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	return p.idle[len(p.idle)-1]
}

// SyscallConn implements syscall.Conn. Only tests use it.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return c.wire.socket, nil }

// Age makes the idle connections older. Only tests use it.
func (p *Pool) Age(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.wire.opened = c.wire.opened.Add(-by)
	}
}

// LastHasEnded reports whether the service has closed the last idle connection, or sent something on it, or whether
// none is idle. Only tests use it: if something has arrived, it closes that connection.
func (p *Pool) LastHasEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return true
	}
	last := p.idle[len(p.idle)-1]
	ended := !last.quiet()
	if ended {
		_ = last.Close() // quiet has read what arrived: a second call would find nothing
	}
	return ended
}
