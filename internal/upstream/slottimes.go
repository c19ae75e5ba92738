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
	var minute, recent bucket
	for _, b := range s.buckets {
		if second-b.at < bucketCount {
			minute.include(b)
		}
		if second-b.at < recentBuckets {
			recent.include(b)
		}
	}
	running := bucket{calls: s.running, total: time.Duration(s.running)*since - s.begun}
	return max(minute.mean(), recent.mean(), running.mean())
}

func (b *bucket) include(other bucket) {
	b.calls += other.calls
	b.total += other.total
}

func (b *bucket) mean() time.Duration {
	if b.calls == 0 {
		return 0
	}
	return b.total / time.Duration(b.calls)
}
