package sync_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	menusync "larder.local/sync"
)

func mustSchedule(t *testing.T, text, zone, key string) *menusync.Schedule {
	t.Helper()
	s, err := menusync.ParseSchedule(text, zone, key)
	if err != nil {
		t.Fatalf("ParseSchedule(%q, %q): %v", text, zone, err)
	}
	return s
}

func TestScheduleIsAnchoredToTheClock(t *testing.T) {
	t.Parallel()
	s := mustSchedule(t, "@every 2m", "", "76439fb3")
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := s.Next(start)
	for _, later := range []time.Duration{0, time.Second, first.Sub(start) - time.Millisecond} {
		if got := s.Next(start.Add(later)); !got.Equal(first) {
			t.Errorf("an instance that starts %v later fires at %v, want %v", later, got, first)
		}
	}
	if got := s.Next(first); got.Sub(first) != 2*time.Minute {
		t.Errorf("the tick after %v is %v, want 2m later", first, got)
	}
	if got := s.Last(first.Add(time.Second)); !got.Equal(first) {
		t.Errorf("Last = %v, want %v", got, first)
	}
}

func TestTenThousandRestaurantsSpreadEvenly_S1(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const restaurants, seconds = 10_000, 120
	var fired [seconds]int
	for i := range restaurants {
		s := mustSchedule(t, "@every 2m", "", fmt.Sprintf("restaurant-%05d", i))
		fired[int(s.Next(start).Sub(start)/time.Second)%seconds]++
	}
	for second, n := range fired { // 83 on average; random ones stay within ± 45
		if n < 40 || n > 130 {
			t.Errorf("second %d of 120 has %d of 10,000 syncs, want about 83", second, n)
		}
	}
}

func TestCronFieldsAreReadInTheirZone(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		zone string
		want time.Time
	}{
		{"", time.Date(2026, 3, 1, 4, 30, 0, 0, time.UTC)},
		{"Europe/Moscow", time.Date(2026, 3, 1, 1, 30, 0, 0, time.UTC)},
		{"Asia/Kolkata", time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)},
	} {
		got := mustSchedule(t, "30 4 * * *", c.zone, "r").Next(from)
		if late := got.Sub(c.want); late < 0 || late >= time.Minute {
			t.Errorf("zone %q: 04:30 fires at %v, want within the minute of %v", c.zone, got, c.want)
		}
	}
}

func TestScheduleTicksAreConsistent(t *testing.T) {
	t.Parallel()
	texts := []string{
		"@every 2m", "@every 37s", "@every 25h", "*/2 * * * *", "*/7 1-2 * * *", "15 */3 * * 1-5", "@daily",
		"@monthly", "@yearly",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "schedule")
		zone := rapid.SampledFrom([]string{"", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"}).Draw(t, "zone")
		s, err := menusync.ParseSchedule(text, zone, rapid.String().Draw(t, "key"))
		if err != nil {
			t.Fatal(err)
		}
		now := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "now")).UTC()
		next, last := s.Next(now), s.Last(now)
		if !next.After(now) || last.After(now) {
			t.Fatalf("%s at %v: last %v, next %v", text, now, last, next)
		}
		if got := s.Last(next); !got.Equal(next) {
			t.Fatalf("%s: Last(%v) = %v, want itself", text, next, got)
		}
		if got := s.Next(last); !got.Equal(next) {
			t.Fatalf("%s: after %v comes %v, want %v", text, last, got, next)
		}
	})
}

func TestScheduleMissed(t *testing.T) {
	t.Parallel()
	s := mustSchedule(t, "@every 2m", "", "r")
	if now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC); s.Missed(3, now.Add(time.Minute), now) || !s.Missed(3, now.Add(61*time.Second), now) {
		t.Error("a time in the future counts as missed only if it is more than a minute ahead: it is then from a wrong clock")
	}
	slot := s.Next(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, false}, {6*time.Minute - time.Millisecond, false}, {6 * time.Minute, true}} {
		if got := s.Missed(3, slot, slot.Add(c.after)); got != c.want {
			t.Errorf("missed 3 ticks %v after one = %v, want %v", c.after, got, c.want)
		}
	}
}

func TestScheduleWithoutTicks(t *testing.T) {
	t.Parallel()
	s := mustSchedule(t, "0 0 30 2 *", "", "r")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if next, last := s.Next(now), s.Last(now); !next.IsZero() || !last.IsZero() {
		t.Errorf("30 February: next %v, last %v, want none", next, last)
	}
	if s.Missed(1, now.AddDate(-1, 0, 0), now) {
		t.Error("a schedule without ticks counts as missed")
	}
}

func TestParseScheduleRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, zone, want string }{
		{"every 2m", "", `schedule "every 2m"`},
		{"61 * * * *", "", "above maximum"},
		{"@every soon", "", "@every soon"},
		{"@every 2m", "Mars/Olympus", `unknown time zone "Mars/Olympus"`},
	} {
		_, err := menusync.ParseSchedule(c.text, c.zone, "r")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseSchedule(%q, %q) = %v, want an error with %q", c.text, c.zone, err, c.want)
		}
	}
}
