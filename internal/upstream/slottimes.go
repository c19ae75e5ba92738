package upstream

import "time"

// The mean slot time covers the last minute, in buckets of one second. While the
// service becomes slower, the minute lags behind: the last seconds alone then
// say more.
const (
	bucketTime    = time.Second
	bucketCount   = 60
	recentBuckets = 5
)

// slotTimes keeps how long calls hold their slots: those that ended within the
// last minute, whatever they ended with, and those in progress (policy O8a).
type slotTimes struct {
	buckets [bucketCount]bucket
	running int
	begun   time.Duration // the sum of the start times of those in progress, since epoch
	epoch   time.Time     // of the first call
}

type bucket struct {
	at    int64 // which second since epoch
	calls int
	total time.Duration
}

// start notes a call that gets a slot.
func (s *slotTimes) start(at time.Time) {
	if s.epoch.IsZero() {
		s.epoch = at
	}
	s.running++
	s.begun += at.Sub(s.epoch)
}

// end notes that the call that began at started holds its slot no longer.
func (s *slotTimes) end(started time.Time) {
	s.running--
	s.begun -= started.Sub(s.epoch)
}

// add notes how long a call held its slot.
func (s *slotTimes) add(now time.Time, took time.Duration) {
	second := int64(now.Sub(s.epoch) / bucketTime)
	b := &s.buckets[second%bucketCount]
	if b.at != second {
		*b = bucket{at: second}
	}
	b.calls++
	b.total += took
}

// mean returns the mean slot time of the last minute, or of the last seconds if
// that is longer; it is at least the mean age of the calls in progress, and 0
// without data.
func (s *slotTimes) mean(now time.Time) time.Duration {
	if s.epoch.IsZero() {
		return 0
	}
	since := now.Sub(s.epoch)
	second := int64(since / bucketTime)
	mean := time.Duration(0)
	for _, seconds := range []int64{bucketCount, recentBuckets} {
		var sum bucket
		for _, b := range s.buckets {
			if second-b.at < seconds {
				sum.calls += b.calls
				sum.total += b.total
			}
		}
		mean = max(mean, sum.total/time.Duration(max(sum.calls, 1)))
	}
	return max(mean, (time.Duration(s.running)*since-s.begun)/time.Duration(max(s.running, 1)))
}

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
