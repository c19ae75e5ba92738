package upstream

import "time"

// adaptiveLimit bounds the calls that write and are in flight, so that each
// ends well within its time although several instances, or other programs, use
// the ordering service too. A service that is given more calls than it executes
// at a time makes them wait, and each takes longer; the sum is the same. Such a
// wait is not in larder's queue but in the service, where a call can time out
// without anybody knowing what became of it.
//
// The limit begins at a quarter of the connection's concurrency and grows by
// one for each call that ends within the target time while the limit is in use.
// When a call takes longer, the limit shrinks in the same proportion, at most
// once per generation of calls, and grows by one per generation from then on.
// It never falls below the quarter: a service that is slow by itself, and does
// not become quicker with fewer calls, is not cut off.
type adaptiveLimit struct {
	now, least, most float64
	target           time.Duration
	shrunk           time.Time // the last time; the zero time: never
}

func newAdaptiveLimit(concurrency int, target time.Duration) adaptiveLimit {
	least := max(1, concurrency/4)
	return adaptiveLimit{now: float64(least), least: float64(least), most: float64(concurrency), target: target}
}

func (a *adaptiveLimit) limit() int { return int(a.now) }

// observe adapts the limit to a call that has ended; inFlight counts it too.
func (a *adaptiveLimit) observe(started, now time.Time, took time.Duration, inFlight int) {
	switch {
	case took > a.target:
		if started.After(a.shrunk) {
			a.now = max(a.least, a.now*float64(a.target)/float64(took))
			a.shrunk = now
		}
	case inFlight < a.limit(): // more would change nothing
	case a.shrunk.IsZero():
		a.now = min(a.most, a.now+1)
	default:
		a.now = min(a.most, a.now+1/a.now)
	}
}
