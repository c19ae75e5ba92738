package upstream

import "time"

// The mean slot time covers the last minute, in buckets of one second. If the service becomes
// slower, the mean of the last seconds is more current.
const (
	bucketTime    = time.Second
	bucketCount   = 60
	recentBuckets = 5
)

// slotTimes records how long calls have their slots: calls that ended within the last minute, with
// any outcome, and calls in progress (policy O8a).
type slotTimes struct {
	buckets [bucketCount]bucket
	running int
	begun   time.Duration // sum of the start times of calls in progress, since epoch
	epoch   time.Time     // time of the first call
}

type bucket struct {
	at    int64 // second since epoch
	calls int
	total time.Duration
}

func (s *slotTimes) start(at time.Time) {
	if s.epoch.IsZero() {
		s.epoch = at
	}
	s.running++
	s.begun += at.Sub(s.epoch)
}

// end records that the call that got its slot at started has released it.
func (s *slotTimes) end(started time.Time) {
	s.running--
	s.begun -= started.Sub(s.epoch)
}

func (s *slotTimes) add(now time.Time, took time.Duration) {
	second := int64(now.Sub(s.epoch) / bucketTime)
	b := &s.buckets[second%bucketCount]
	if b.at != second {
		*b = bucket{at: second}
	}
	b.calls++
	b.total += took
}

// mean returns the mean slot time of the last minute, or of the last seconds if that is longer. It
// is at least the mean age of the calls in progress, and 0 without data.
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

// adaptiveLimit limits the calls that write and are in flight, so that each ends well within its time limit
// even if several instances or other programs use the ordering service. A service that gets more calls than
// it can execute concurrently makes each one slower, without executing more in total. Such calls wait in the
// service instead of larder's queue, and a timeout there makes the outcome unknown.
//
// The limit starts at a quarter of the connection's concurrency. It grows by one for each call that
// ends within the target time while the limit is reached. If a call takes longer, the limit shrinks
// in proportion, at most once per generation of calls, and then grows by one per generation. It
// never falls below the quarter, because some services are always slow, even with fewer calls.
type adaptiveLimit struct {
	now, least, most float64
	target           time.Duration
	shrunk           time.Time // last time; zero if never
}

func newAdaptiveLimit(concurrency int, target time.Duration) adaptiveLimit {
	least := max(1, concurrency/4)
	return adaptiveLimit{now: float64(least), least: float64(least), most: float64(concurrency), target: target}
}

func (a *adaptiveLimit) limit() int { return int(a.now) }

// observe adapts the limit after a call has ended; inFlight includes that call.
func (a *adaptiveLimit) observe(started, now time.Time, took time.Duration, inFlight int) {
	switch {
	case took > a.target:
		if started.After(a.shrunk) {
			a.now = max(a.least, a.now*float64(a.target)/float64(took))
			a.shrunk = now
		}
	case inFlight < a.limit(): // a higher limit would have no effect
	case a.shrunk.IsZero():
		a.now = min(a.most, a.now+1)
	default:
		a.now = min(a.most, a.now+1/a.now)
	}
}
