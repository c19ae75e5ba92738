package measure

import (
	"fmt"
	"slices"
)

// Ratio summarizes the ratios of paired rounds.
type Ratio struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// RatioOf divides the figures of paired rounds. It returns false if the series are not
// paired.
func RatioOf(ours, theirs []float64) (Ratio, bool) {
	if len(ours) == 0 || len(ours) != len(theirs) {
		return Ratio{}, false
	}
	ratios := make([]float64, len(ours))
	for i := range ours {
		if theirs[i] <= 0 {
			return Ratio{}, false
		}
		ratios[i] = ours[i] / theirs[i]
	}
	return Ratio{Median: Median(ratios), Low: slices.Min(ratios), High: slices.Max(ratios)}, true
}

// Median returns the middle value, or the mean of the two middle ones; 0 without values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// String formats the ratio for a table; nil is empty.
func (r *Ratio) String() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", r.Median, r.Low, r.High)
}
