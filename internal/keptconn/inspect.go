package keptconn

import (
	"syscall"
	"time"
)

// Only tests use these.

// Inspect calls fn with the idle connections, the one that was used last at the end.
func (p *Pool) Inspect(fn func(idle []*Conn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn(p.idle)
}

// HasEnded reports whether the service has closed the connection or sent something on it. Then it closes the connection.
func (c *Conn) HasEnded() bool {
	if c.quiet() {
		return false
	}
	_ = c.Close() // quiet has read what arrived: a second call would find nothing
	return true
}

// Usable reports whether the connection could be used now, if it has not ended.
func (c *Conn) Usable(reuse time.Duration) bool {
	return !time.Now().Before(c.rested) && !Past(c.began.Add(reuse))
}

// SyscallConn implements syscall.Conn.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return c.wire.socket, nil }

// Age makes the connection older.
func (c *Conn) Age(by time.Duration) { c.wire.opened = c.wire.opened.Add(-by) }
