package loadgen

import (
	"math"
	"math/bits"
	"time"
)

// fine is how many bits of a value a bucket keeps below its highest one: 128
// buckets for each doubling, so that a quantile is at most 0.8 % too high.
const fine = 7

// Histogram counts durations in buckets that grow with them, as HDR histograms
// do. Its zero value is ready. It takes 60 KB and allocates nothing.
type Histogram struct {
	counts [(64 - fine) << fine]int
	total  int
	most   time.Duration
}

// bucket is where a value is counted: values below 256 ns stand alone.
func bucket(v uint64) int {
	shift := max(bits.Len64(v)-fine-1, 0)
	return shift<<fine + int(v>>shift) //nolint:gosec // G115: below 2^8 after the shift
}

// upper is the largest value that the bucket counts.
func upper(bucket int) uint64 {
	shift := max(bucket>>fine-1, 0)
	return (uint64(bucket-shift<<fine)+1)<<shift - 1 //nolint:gosec // G115: never negative
}

// Add counts a duration; one below zero counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.total++
	h.most = max(h.most, d)
}

// Count is how many were added.
func (h *Histogram) Count() int { return h.total }

// Max is the longest, exactly.
func (h *Histogram) Max() time.Duration { return h.most }

// Quantile is the duration that the share q (0 to 1) does not exceed, by the
// nearest rank, at most 0.8 % too high; 0 of none.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := max(int(math.Ceil(q*float64(h.total))), 1)
	for i, n := range h.counts {
		if rank -= n; rank <= 0 && n > 0 {
			return min(time.Duration(upper(i)), h.most) //nolint:gosec // G115: a bucket of a duration
		}
	}
	return 0
}
