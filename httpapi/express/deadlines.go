package express

import "time"

// arm sets the time-outs anew, unless that was done a moment ago: each takes a
// fraction of what a small answer takes.
func (c *conn) arm(now time.Time) {
	moment := c.lane.cfg.IdleTimeout / 64
	if now.Sub(c.armed) < moment {
		return
	}
	c.armed = now
	rest := c.lane.cfg.IdleTimeout
	if c.short = c.blind(); c.short {
		rest = 2 * moment
	}
	_ = c.SetReadDeadline(now.Add(rest))
	_ = c.SetWriteDeadline(now.Add(c.lane.cfg.WriteTimeout))
}

// look is true where a time-out that has come asks for a look at the
// connection, and not for its end: a socket that is read only when the system
// tells of bytes is not told of an end that came together with the last ones.
func (c *conn) look() bool {
	if !c.short || c.lane.draining.Load() {
		return false
	}
	c.short = false
	_ = c.SetReadDeadline(c.armed.Add(c.lane.cfg.IdleTimeout))
	return !c.lane.draining.Load() // see wake
}

// wake ends a Read that waits, or is about to. Whoever sets a time-out after it
// sees that the Listener is draining.
func (c *conn) wake() { _ = c.SetReadDeadline(time.Unix(1, 0)) }
