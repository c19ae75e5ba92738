package sync_test

import (
	"slices"
	"testing"
	"time"

	menusync "larder.local/sync"
)

// A schedule with a fixed hour runs at each of its times once a day, whatever the
// clock of the zone does (policy S5b). Times are wall-clock times, with the offset.
func TestScheduleAcrossDaylightSavingTime_S5b(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		zone, schedule string
		from, to       string // dates
		want           []string
	}{
		"Lisbon, spring: 01:00 to 02:00 does not exist": {
			"Europe/Lisbon", "30 1 * * *", "2026-03-28", "2026-03-31",
			[]string{"28 01:30 +00", "29 02:00 +01", "30 01:30 +01"},
		},
		"Lisbon, autumn: 01:00 to 02:00 occurs twice": {
			"Europe/Lisbon", "30 1 * * *", "2026-10-24", "2026-10-27",
			[]string{"24 01:30 +01", "25 01:30 +01", "26 01:30 +00"},
		},
		"Lisbon, autumn: the end of the repeated hour": {
			"Europe/Lisbon", "0 1,2 * * *", "2026-10-25", "2026-10-26", []string{"25 01:00 +01", "25 02:00 +00"},
		},
		"Lisbon, spring: several times that do not exist are one run": {
			"Europe/Lisbon", "*/20 1 * * *", "2026-03-29", "2026-03-31",
			[]string{"29 02:00 +01", "30 01:00 +01", "30 01:20 +01", "30 01:40 +01"},
		},
		"Lisbon, spring: a run that is due at that minute anyway": {
			"Europe/Lisbon", "0 1,2 * * *", "2026-03-29", "2026-03-30", []string{"29 02:00 +01"},
		},
		"New York, spring": {
			"America/New_York", "30 2 * * *", "2026-03-07", "2026-03-10",
			[]string{"07 02:30 -05", "08 03:00 -04", "09 02:30 -04"},
		},
		"New York, autumn": {
			"America/New_York", "15 1 * * *", "2026-10-31", "2026-11-03",
			[]string{"31 01:15 -04", "01 01:15 -04", "02 01:15 -05"},
		},
		"New York, spring: Sundays only": {
			"America/New_York", "30 2 * * 0", "2026-03-01", "2026-03-16",
			[]string{"01 02:30 -05", "08 03:00 -04", "15 02:30 -04"},
		},
		"Lord Howe, spring: 02:00 to 02:30 does not exist": {
			"Australia/Lord_Howe", "10 2 * * *", "2026-10-03", "2026-10-06",
			[]string{"03 02:10 +1030", "04 02:30 +11", "05 02:10 +11"},
		},
		"Lord Howe, spring: 02:30 exists": {
			"Australia/Lord_Howe", "30 2 * * *", "2026-10-04", "2026-10-05", []string{"04 02:30 +11"},
		},
		"Lord Howe, autumn: 01:30 to 02:00 occurs twice": {
			"Australia/Lord_Howe", "45 1 * * *", "2026-04-04", "2026-04-07",
			[]string{"04 01:45 +11", "05 01:45 +11", "06 01:45 +1030"},
		},
		"Cairo: midnight does not exist": {
			"Africa/Cairo", "@daily", "2026-04-23", "2026-04-26",
			[]string{"23 00:00 +02", "24 01:00 +03", "25 00:00 +03"},
		},
		"the zone in the schedule itself": {
			"", "CRON_TZ=Europe/Lisbon 30 1 * * *", "2026-03-29", "2026-03-30", []string{"29 01:00 +00"}, // shown in UTC
		},
		"every hour: no fixed hour, no tick is omitted": {
			"Europe/Lisbon", "0 * * * *", "2026-10-25", "2026-10-26", nil, // counted below
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(tc.zone)
			if err != nil {
				t.Fatal(err)
			}
			got := runs(t, tc.schedule, tc.zone, date(t, tc.from, zone), date(t, tc.to, zone))
			if tc.want == nil {
				if len(got) != 25 {
					t.Errorf("a day of 25 hours has %d runs: %v", len(got), got)
				}
				return
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("runs %v, want %v", got, tc.want)
			}
		})
	}
}

func date(t *testing.T, text string, zone *time.Location) time.Time {
	t.Helper()
	day, err := time.ParseInLocation(time.DateOnly, text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return day
}

// runs returns the ticks of the schedule, without the shift within their minute. It
// also compares Last with Next.
func runs(t *testing.T, schedule, zone string, from, to time.Time) []string {
	t.Helper()
	s, err := menusync.ParseSchedule(schedule, zone, "r")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for at := from.Add(-time.Second); ; {
		next := s.Next(at)
		if !next.Before(to) {
			return all
		}
		if last := s.Last(next.Add(time.Minute - time.Millisecond)); !last.Equal(next) {
			t.Errorf("the last tick a minute after %v is %v", next, last)
		}
		all = append(all, next.In(from.Location()).Format("02 15:04 -07"))
		if _, offset := next.In(from.Location()).Zone(); offset%3600 != 0 {
			all[len(all)-1] += "30"
		}
		at = next
	}
}
