package sync

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/menu"
)

// A tick that is noticed in time runs at once. A late one runs at the next own tick of @every, so within one interval, or,
// with cron fields, within the minute over which they are spread.
func TestPostponed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, text := range []string{"@every 2m", "@every 24h", "@every 5s", "0 4 * * *", "*/5 * * * *"} {
		s, err := ParseSchedule(text, "", "r")
		if err != nil {
			t.Fatal(err)
		}
		for late, want := range map[time.Duration]time.Duration{
			0: 0, 1999 * time.Millisecond: 0, lateTick: max(s.every, cronSpread), time.Hour: max(s.every, cronSpread), 8760 * time.Hour: max(s.every, cronSpread),
		} {
			if s.every > 0 && want > 0 {
				want = s.every
			}
			at := s.postponed(now.Add(-late), now)
			switch {
			case want == 0 && !at.IsZero():
				t.Errorf("%s, %s late: at %s, want at once", text, late, at)
			case want > 0 && (at.Before(now) || at.Sub(now) > want):
				t.Errorf("%s, %s late: %s later, want within %s", text, late, at.Sub(now), want)
			}
		}
	}
}

// steppedCron runs the real loop under a clock that is stepped after five minutes. It returns when restaurants ran in the
// ten minutes after the step, since the step.
func steppedCron(t *testing.T, schedule string, step time.Duration) (ran map[menu.RestaurantID][]time.Duration) {
	t.Helper()
	ran = map[menu.RestaurantID][]time.Duration{}
	synctest.Test(t, func(t *testing.T) {
		s, _ := ticking(t, 1200)
		for _, target := range s.set.Load().menus {
			var err error
			if target.schedule, err = ParseSchedule(schedule, "", string(target.ID)); err != nil {
				t.Fatal(err)
			}
		}
		var offset atomic.Int64
		s.deps.Clock = func() time.Time { return time.Now().Add(time.Duration(offset.Load())).Round(0) }
		stop := startCron(t, s)
		<-time.After(5 * time.Minute)
		synctest.Wait()
		s.drain()
		offset.Store(int64(step))
		stepped := time.Now()
		for range 600 {
			<-time.After(time.Second)
			synctest.Wait()
			for _, w := range s.drain() {
				ran[w.Target.ID] = append(ran[w.Target.ID], time.Since(stepped))
			}
		}
		stop()
	})
	return ran
}

// After a step of the clock, forward or back, each restaurant runs within one interval, and the ticks that are due at once
// are spread over one interval.
func TestAStepOfTheClockDelaysATickByOneInterval(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		schedule string
		step     time.Duration
		interval time.Duration
	}{
		"back a day":                   {"@every 2m", -24 * time.Hour, 2 * time.Minute},
		"back a year":                  {"@every 2m", -8760 * time.Hour, 2 * time.Minute},
		"back a minute":                {"@every 2m", -time.Minute, 2 * time.Minute},
		"back, cron fields":            {"*/2 * * * *", -24 * time.Hour, 3 * time.Minute}, // with the minute of the shift
		"forward a day":                {"@every 2m", 24 * time.Hour, 2 * time.Minute},
		"forward a minute":             {"@every 2m", time.Minute, 2 * time.Minute},
		"forward, a daily schedule":    {"0 * * * *", 24 * time.Hour, time.Minute},
		"forward, every five minutes":  {"*/5 * * * *", time.Hour, time.Minute},
		"forward less than is noticed": {"@every 2m", time.Second, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ran := steppedCron(t, tc.schedule, tc.step)
			perSecond := map[time.Duration]int{}
			late := 0
			for _, times := range ran {
				perSecond[times[0].Truncate(time.Second)]++
				if times[0] > tc.interval+2*time.Second {
					late++
				}
			}
			most := 0
			for _, n := range perSecond {
				most = max(most, n)
			}
			if len(ran) != 1200 || late > 0 {
				t.Errorf("%d of 1200 restaurants ran, %d of them later than %s after the step", len(ran), late, tc.interval)
			}
			spread := tc.interval
			if !strings.HasPrefix(tc.schedule, "@every") {
				spread = time.Minute
			}
			if even := 1200 * int(time.Second) / int(spread); most > 3*even {
				t.Errorf("%d restaurants ran in one second, want about %d", most, even)
			}
		})
	}
}
