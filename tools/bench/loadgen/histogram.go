package loadgen

import (
	"math"
	"math/bits"
	"time"
)

// fine is the number of bits of a value below its highest one that select a bucket:
// 128 buckets per doubling, so that a quantile is at most 0.8 % too high.
const fine = 7

// Histogram counts durations in buckets of growing size, like an HDR histogram. The
// zero value is ready to use. It takes 60 KB and allocates nothing.
type Histogram struct {
	counts [(64 - fine) << fine]int
	total  int
	most   time.Duration
}

// bucket returns the bucket of a value; values below 256 ns have their own.
func bucket(v uint64) int {
	shift := max(bits.Len64(v)-fine-1, 0)
	return shift<<fine + int(v>>shift)
}

// upper returns the largest value of a bucket.
func upper(bucket int) uint64 {
	shift := max(bucket>>fine-1, 0)
	return (uint64(bucket-shift<<fine)+1)<<shift - 1
}

// Add counts a duration; a negative one counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.total++
	h.most = max(h.most, d)
}

// Count returns the number of added durations.
func (h *Histogram) Count() int { return h.total }

// Max returns the longest duration, exactly.
func (h *Histogram) Max() time.Duration { return h.most }

// Quantile returns the q-quantile (0 to 1) by the nearest rank, at most 0.8 % too
// high; 0 if there are no values.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := max(int(math.Ceil(q*float64(h.total))), 1)
	for i, n := range h.counts {
		if rank -= n; rank <= 0 && n > 0 {
			return min(time.Duration(upper(i)), h.most)
		}
	}
	return 0
}
