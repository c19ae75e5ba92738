package measure

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Quantile returns the q-quantile (0 to 1) of the values by the nearest rank; 0 if
// there are none.
func Quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

// Slope returns the slope of the best straight line through the points (least
// squares), in units of y per unit of x; 0 for fewer than two points.
func Slope(x, y []float64) float64 {
	n := float64(len(x))
	if len(x) < 2 || len(x) != len(y) {
		return 0
	}
	var sumX, sumY float64
	for i := range x {
		sumX += x[i]
		sumY += y[i]
	}
	var above, below float64
	for i := range x {
		dx := x[i] - sumX/n
		above += dx * (y[i] - sumY/n)
		below += dx * dx
	}
	if below == 0 {
		return 0
	}
	return above / below
}

// Remaining estimates the remaining time from the mean rate so far: ", 35/s, 5s
// left". It returns "" at the start, and omits a rate below one per second.
func Remaining(done, total int, passed time.Duration) string {
	if done <= 0 || done >= total || passed <= 0 {
		return ""
	}
	each := passed / time.Duration(done)
	left := each * time.Duration(total-done)
	text := fmt.Sprintf(", %v left", left.Round(time.Second))
	if rate := float64(done) / passed.Seconds(); rate >= 1 {
		text = fmt.Sprintf(", %.0f/s", rate) + text
	}
	return text
}
