package hours_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"larder.local/internal/hours"
)

func noon() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

func TestRestrictionHolds_O23(t *testing.T) {
	t.Parallel()
	said := noon()
	for name, tc := range map[string]struct {
		r    hours.Restriction
		at   time.Time
		want bool
	}{
		"none":                          {hours.Restriction{}, said, false},
		"without an end":                {hours.Restriction{At: said}, said.AddDate(1, 0, 0), true},
		"before its end":                {hours.Restriction{At: said, Until: said.Add(time.Hour)}, said.Add(time.Hour - 1), true},
		"at its end":                    {hours.Restriction{At: said, Until: said.Add(time.Hour)}, said.Add(time.Hour), false},
		"ended by an operator":          {hours.Restriction{At: said, Until: said.Add(time.Hour), EndedAt: said}, said, false},
		"said by a clock that is ahead": {hours.Restriction{At: said.Add(time.Hour)}, said, true},
	} {
		if got := tc.r.Holds(tc.at); got != tc.want {
			t.Errorf("%s: Holds is %t, want %t", name, got, tc.want)
		}
	}
}

func TestAvailability(t *testing.T) {
	t.Parallel()
	now, week := noon(), noon().AddDate(0, 0, -7)
	all := hours.Availability{
		hours.PausePickup:     {At: week},
		hours.Busy:            {At: week, Until: week.Add(time.Hour), Minutes: 90},
		hours.Snooze("a"):     {At: week, Until: now.Add(time.Hour)},
		hours.Snooze("b"):     {At: week, Until: now.Add(-time.Hour)},
		hours.Snooze("c"):     {At: week, EndedAt: now.Add(-25 * time.Hour)},
		hours.Snooze("d"):     {At: week, EndedAt: now.Add(-23 * time.Hour)},
		hours.PauseDelivery:   {At: now.Add(-time.Hour), EndedAt: now.Add(-time.Minute)},
		hours.Snooze(""):      {At: now},
		hours.Kind("unknown"): {At: now},
	}
	if snoozed := all.Snoozed(now); len(snoozed) != 2 || !snoozed["a"].Equal(now.Add(time.Hour)) || !snoozed[""].IsZero() {
		t.Errorf("snoozed %v", snoozed)
	}
	if since := all.SnoozedSince(now.Add(-time.Second)); !since.Equal(now.Add(-time.Hour)) {
		t.Errorf("snoozes have last changed at %v, want that b returned", since)
	}
	forgotten := slices.Sorted(maps.Keys(all.Forgotten(now)))
	if !slices.Equal(forgotten, []hours.Kind{hours.Busy, hours.Snooze("c")}) {
		t.Errorf("forgotten %v", forgotten)
	}
	if holding := hours.Availability(nil).Holding(now); holding != nil {
		t.Errorf("nobody said anything, and %v holds", holding)
	}
}

// What is forgotten has ended, and not within a day.
func TestForgotten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) time.Time {
			if rapid.Bool().Draw(t, "has "+name) {
				return noon().Add(time.Duration(rapid.Int64Range(-72, 72).Draw(t, name)) * time.Hour)
			}
			return time.Time{}
		}
		r := hours.Restriction{At: noon().Add(-50 * time.Hour), Until: at("until"), EndedAt: at("ended")}
		forgotten := len(hours.Availability{hours.Busy: r}.Forgotten(noon())) > 0
		for _, back := range []int{0, 12, 24} {
			if forgotten && (r.Holds(noon().Add(time.Duration(-back)*time.Hour)) || r.EndedAt.After(noon().Add(-24*time.Hour))) {
				t.Fatalf("%+v is forgotten", r)
			}
		}
	})
}

func TestNextOpeningAfterClosing(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	lunch := &hours.Schedule{Zone: zone, Exceptions: map[hours.Date][]hours.Interval{{Year: 2026, Month: 12, Day: 2}: nil}}
	always := &hours.Schedule{Zone: zone}
	for day := range lunch.Week {
		lunch.Week[day] = []hours.Interval{{From: 11 * 60, To: 15 * 60}}
		always.Week[day] = []hours.Interval{{From: 0, To: 24 * 60}}
	}
	for name, tc := range map[string]struct {
		schedule *hours.Schedule
		want     string
	}{
		"open now, and tomorrow is an exception": {lunch, "2026-12-03T11:00:00Z"},
		"never closed":                           {always, ""},
		"without hours":                          {nil, ""},
		"never open":                             {&hours.Schedule{Zone: zone}, ""},
	} {
		opens, ok := tc.schedule.NextOpening(noon())
		if got := opens.Format(time.RFC3339); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s: %s, %t; want %q", name, got, ok, tc.want)
		}
	}
}
