package cli

import (
	"testing"
	"time"
)

func TestRemainingTellsPaceAndRest(t *testing.T) {
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
		if got := remaining(tc.done, tc.total, tc.passed); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
