package metrics_test

import (
	"testing"

	"larder.local/internal/testkit/metrics"
)

func TestSumAddsTheSeriesThatHoldEveryLabel(t *testing.T) {
	t.Parallel()
	sample := metrics.Parse(`# HELP runs Runs.
# TYPE runs counter
runs{outcome="unchanged",trigger="cron"} 7
runs{outcome="updated",trigger="cron"} 2
runs{outcome="updated",trigger="manual"} 1e+02
runs_other 5
no number
`)
	for _, tc := range []struct {
		labels []string
		want   float64
	}{
		{nil, 109},
		{[]string{`outcome="updated"`}, 102},
		{[]string{`outcome="updated"`, `trigger="cron"`}, 2},
		{[]string{`outcome="failed"`}, 0},
	} {
		if got := sample.Sum("runs", tc.labels...); got != tc.want {
			t.Errorf("Sum(runs, %v) = %v, want %v", tc.labels, got, tc.want)
		}
	}
}
