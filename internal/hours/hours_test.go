package hours_test

import (
	"fmt"
	"testing"
	"time"
	_ "time/tzdata" // the tests must not depend on the machine's time zones

	"pgregory.net/rapid"

	"larder.local/internal/hours"
)

func load(t interface{ Fatal(args ...any) }, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// between returns an interval of the wall clock.
func between(fromHour, fromMinute, toHour, toMinute int) hours.Interval {
	return hours.Interval{From: fromHour*60 + fromMinute, To: toHour*60 + toMinute}
}

// shows reports what a person reads on the wall: whether the intervals contain the clock's time, or those of the day before reach
// to it. It shares no code with the package.
func shows(week [7][]hours.Interval, exceptions map[string][]hours.Interval, local time.Time) bool {
	y, m, d := local.Date()
	for _, back := range []int{0, 1} {
		day := time.Date(y, m, d-back, 12, 0, 0, 0, time.UTC)
		list, special := exceptions[day.Format(time.DateOnly)]
		if !special {
			list = week[day.Weekday()]
		}
		for _, i := range list {
			if minute := local.Hour()*60 + local.Minute() + back*24*60; minute >= i.From && minute < i.To {
				return true
			}
		}
	}
	return false
}

// TestEveryMinuteOfTwoYears compares with a clock on the wall. Each zone has its own two years: those in which its clock did
// something unusual, or the coming ones.
func TestEveryMinuteOfTwoYears(t *testing.T) {
	t.Parallel()
	week := [7][]hours.Interval{
		time.Sunday:    {between(0, 0, 24, 0)},
		time.Monday:    {},
		time.Tuesday:   {between(10, 0, 15, 0), between(17, 0, 26, 0)},
		time.Wednesday: {between(2, 15, 2, 45), between(11, 30, 23, 59)},
		time.Thursday:  {between(18, 30, 30, 0)},
		time.Friday:    {between(6, 0, 9, 0), between(22, 0, 25, 30)},
		time.Saturday:  {between(1, 30, 3, 15), between(20, 0, 28, 0)},
	}
	for name, first := range map[string]int{
		"Australia/Lord_Howe": 2026, "Asia/Kathmandu": 2026, "Africa/Casablanca": 2026, "America/Sao_Paulo": 2017,
		"Pacific/Apia": 2011, "Europe/Lisbon": 2026, "America/New_York": 2026, "Pacific/Chatham": 2026,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := load(t, name)
			exceptions := map[string][]hours.Interval{
				fmt.Sprintf("%d-01-01", first+1): {},
				fmt.Sprintf("%d-12-24", first):   {between(10, 0, 14, 0)},
				fmt.Sprintf("%d-12-25", first):   {},
				fmt.Sprintf("%d-12-31", first):   {between(10, 0, 16, 0), between(19, 0, 27, 0)},
				fmt.Sprintf("%d-03-29", first):   {between(2, 0, 3, 30)},
				fmt.Sprintf("%d-10-25", first):   {between(1, 0, 2, 30)},
			}
			schedule := &hours.Schedule{Week: week, Exceptions: map[hours.Date][]hours.Interval{}, Zone: zone}
			for text, intervals := range exceptions {
				var date hours.Date
				if err := date.UnmarshalText([]byte(text)); err != nil {
					t.Fatal(err)
				}
				schedule.Exceptions[date] = intervals
			}
			compareMinutes(t, schedule, week, exceptions, time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(first+2, 1, 1, 0, 0, 0, 0, time.UTC))
		})
	}
}

func compareMinutes(
	t *testing.T, schedule *hours.Schedule, week [7][]hours.Interval, exceptions map[string][]hours.Interval, from, to time.Time,
) {
	t.Helper()
	spans := schedule.Spans(from, to)
	opened, differences := 0, 0
	var closedSince time.Time // zero: open
	for at := from; at.Before(to) && differences < 10; at = at.Add(time.Minute) {
		for len(spans) > 0 && !at.Before(spans[0].To) {
			spans = spans[1:]
		}
		want := shows(week, exceptions, at.In(schedule.Zone))
		inSpan := len(spans) > 0 && !at.Before(spans[0].From)
		if got := schedule.Open(at); got != want || inSpan != want {
			differences++
			t.Errorf("%v: Open = %v, in a span: %v, want %v", at.In(schedule.Zone), got, inSpan, want)
		}
		switch {
		case want && !closedSince.IsZero():
			opened++
			for _, asked := range []time.Time{closedSince, at.Add(-time.Minute), closedSince.Add(at.Sub(closedSince) / 2)} {
				if next, ok := schedule.Next(asked); !ok || !next.Equal(at) {
					differences++
					t.Errorf("Next(%v) = %v, %v; want %v", asked.In(schedule.Zone), next, ok, at.In(schedule.Zone))
				}
			}
			closedSince = time.Time{}
		case !want && closedSince.IsZero():
			closedSince = at
		}
	}
	if opened < 500 {
		t.Errorf("only %d openings in two years: the comparison shows little", opened)
	}
}

// TestSpansAreWholeAndApart has cases whose answer a person knows.
func TestSpansAreWholeAndApart(t *testing.T) {
	t.Parallel()
	lisbon := load(t, "Europe/Lisbon")
	always := &hours.Schedule{Zone: lisbon}
	for day := range always.Week {
		always.Week[day] = []hours.Interval{between(0, 0, 24, 0)}
	}
	from := time.Date(2026, 10, 24, 9, 0, 0, 0, lisbon)
	if spans := always.Spans(from, from.Add(72*time.Hour)); len(spans) != 1 || spans[0].To.Sub(spans[0].From) != 72*time.Hour {
		t.Errorf("always open over the change of summer time: %v", spans)
	}
	night := &hours.Schedule{Zone: lisbon}
	night.Week[time.Saturday] = []hours.Interval{between(22, 0, 27, 0)}
	for _, c := range []struct {
		day  time.Time // a Saturday
		long time.Duration
	}{
		{time.Date(2026, 3, 21, 12, 0, 0, 0, lisbon), 5 * time.Hour},
		{time.Date(2026, 3, 28, 12, 0, 0, 0, lisbon), 4 * time.Hour},  // 01:00 becomes 02:00
		{time.Date(2026, 10, 24, 12, 0, 0, 0, lisbon), 6 * time.Hour}, // 02:00 becomes 01:00
	} {
		spans := night.Spans(c.day, c.day.Add(24*time.Hour))
		if len(spans) != 1 || spans[0].To.Sub(spans[0].From) != c.long || spans[0].From.Hour() != 22 || spans[0].To.Hour() != 3 {
			t.Errorf("the night of %v: %v, want one span of %v from 22 to 3", c.day, spans, c.long)
		}
	}
}

// TestNextWithRareHours has schedules that are closed for long.
func TestNextWithRareHours(t *testing.T) {
	t.Parallel()
	zone := load(t, "Europe/Berlin")
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, zone)
	never := &hours.Schedule{Zone: zone}
	if next, ok := never.Next(at); ok {
		t.Errorf("a restaurant without hours opens at %v", next)
	}
	fair := &hours.Schedule{Zone: zone, Exceptions: map[hours.Date][]hours.Interval{
		{Year: 2029, Month: 5, Day: 2}: {between(11, 0, 20, 0)}, {Year: 2028, Month: 5, Day: 1}: {between(11, 0, 20, 0)},
		{Year: 2020, Month: 5, Day: 1}: {between(11, 0, 20, 0)}, {Year: 2028, Month: 4, Day: 30}: {},
	}}
	if next, ok := fair.Next(at); !ok || !next.Equal(time.Date(2028, 5, 1, 11, 0, 0, 0, zone)) {
		t.Errorf("Next = %v, %v; want the first of May 2028", next, ok)
	}
	holidays := &hours.Schedule{Zone: zone, Exceptions: map[hours.Date][]hours.Interval{}}
	holidays.Week[time.Monday] = []hours.Interval{between(11, 0, 20, 0)}
	for day := range 200 {
		closed := at.AddDate(0, 0, day)
		holidays.Exceptions[hours.Date{Year: closed.Year(), Month: closed.Month(), Day: closed.Day()}] = []hours.Interval{}
	}
	if next, ok := holidays.Next(at); !ok || !next.Equal(time.Date(2027, 6, 21, 11, 0, 0, 0, zone)) {
		t.Errorf("Next = %v, %v; want the first Monday after the holidays", next, ok)
	}
	var none *hours.Schedule
	if next, ok := none.Next(at); !none.Open(at) || !ok || !next.Equal(at) || len(none.Spans(at, at.Add(time.Hour))) != 1 {
		t.Error("without a schedule the restaurant is not always open")
	}
}

// TestNextOpening draws schedules, zones and moments.
func TestNextOpening(t *testing.T) {
	t.Parallel()
	zones := []string{"Europe/Lisbon", "America/Santiago", "Australia/Lord_Howe", "Africa/Casablanca", "America/St_Johns", "UTC"}
	rapid.Check(t, func(t *rapid.T) {
		schedule := &hours.Schedule{
			Zone:       load(t, rapid.SampledFrom(zones).Draw(t, "zone")),
			Exceptions: map[hours.Date][]hours.Interval{},
		}
		intervals := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) hours.Interval {
			from := rapid.IntRange(0, 1439).Draw(t, "from")
			return hours.Interval{From: from, To: rapid.IntRange(from+1, from+1440).Draw(t, "to")}
		}), 0, 2)
		exceptions := map[string][]hours.Interval{}
		for day := range schedule.Week {
			schedule.Week[day] = intervals.Draw(t, "day")
		}
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		at := begin.Add(time.Duration(rapid.IntRange(0, 365*24*3600).Draw(t, "at")) * time.Second)
		for range rapid.IntRange(0, 9).Draw(t, "exceptions") {
			day := at.AddDate(0, 0, rapid.IntRange(-1, 9).Draw(t, "after"))
			own := intervals.Draw(t, "exception")
			exceptions[day.Format(time.DateOnly)] = own
			schedule.Exceptions[hours.Date{Year: day.Year(), Month: day.Month(), Day: day.Day()}] = own
		}
		isOpen := func(at time.Time) bool { return shows(schedule.Week, exceptions, at.In(schedule.Zone)) }
		want, found := at, isOpen(at)
		for minute := 1; !found && minute < 20*1440; minute++ {
			want = at.Truncate(time.Minute).Add(time.Duration(minute) * time.Minute)
			found = isOpen(want)
		}
		if next, ok := schedule.Next(at); ok != found || ok && !next.Equal(want) {
			t.Fatalf("Next(%v) = %v, %v; want %v, %v", at.In(schedule.Zone), next, ok, want.In(schedule.Zone), found)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	schedule := &hours.Schedule{Zone: load(b, "Europe/Lisbon"), Exceptions: map[hours.Date][]hours.Interval{}}
	schedule.Week[time.Sunday] = []hours.Interval{between(10, 0, 15, 0), between(17, 0, 26, 0)}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) // a Monday
	for b.Loop() {
		if _, ok := schedule.Next(at); !ok {
			b.Fatal("it never opens")
		}
	}
}
