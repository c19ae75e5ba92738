package sync

import (
	"testing"
	"time"
)

func TestMayRefresh(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, tc := range map[string]struct {
		started, nothing time.Time
		want             bool
	}{
		"the first":                       {time.Time{}, time.Time{}, true},
		"just before five seconds":        {ago(refreshMenuEvery - 1), time.Time{}, false},
		"after five seconds":              {ago(refreshMenuEvery), time.Time{}, true},
		"nothing new a moment ago":        {ago(time.Minute), ago(refreshMenuCalm - 1), false},
		"nothing new two minutes ago":     {ago(time.Hour), ago(refreshMenuCalm), true},
		"the clock was set back":          {ago(-time.Hour), time.Time{}, true},
		"the clock was set back, nothing": {ago(-time.Hour), ago(-time.Minute), true},
	} {
		if got := mayRefresh(now, tc.started, tc.nothing); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
