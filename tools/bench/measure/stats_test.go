package measure_test

import (
	"testing"
	"time"

	"larder.local/tools/bench/measure"
)

func TestLeftTellsRateAndRest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		done, total int
		passed      time.Duration
		want        string
	}{
		"half, fast":      {100, 200, 10 * time.Second, ", 10/s, 10s left"},
		"a slow one":      {1, 5, 30 * time.Second, ", 2m0s left"},
		"nothing is done": {0, 5, time.Second, ""},
		"all is done":     {5, 5, time.Second, ""},
		"no time":         {1, 5, 0, ""},
	} {
		if got := measure.Remaining(tc.done, tc.total, tc.passed); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestRatiosAreOfPairedRounds(t *testing.T) {
	t.Parallel()
	// The machine became half as fast in the last round: the ratio is the same.
	got, ok := measure.RatioOf([]float64{150, 140, 75}, []float64{100, 100, 50})
	if want := (measure.Ratio{Median: 1.5, Low: 1.4, High: 1.5}); !ok || got != want {
		t.Errorf("%+v, %v, want %+v", got, ok, want)
	}
	if got, ok := measure.RatioOf([]float64{1, 3}, []float64{1, 1}); !ok || got.Median != 2 {
		t.Errorf("of two: %+v, %v, want the mean", got, ok)
	}
	for name, pair := range map[string][2][]float64{
		"none": {}, "not paired": {{1}, {1, 2}}, "nothing": {{1}, {0}},
	} {
		if _, ok := measure.RatioOf(pair[0], pair[1]); ok {
			t.Errorf("%s: has a ratio", name)
		}
	}
}
