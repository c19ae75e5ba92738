package hours_test

import (
	"strings"
	"testing"
	"time"

	"larder.local/internal/hours"
)

func TestIntervals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]hours.Interval{
		"10:00-15:00": {From: 600, To: 900}, "9:30 – 12:00": {From: 570, To: 720}, "17:00-02:00": {From: 1020, To: 1560},
		"00:00-24:00": {From: 0, To: 1440}, "18:00-24:00": {From: 1080, To: 1440}, "18:00-00:00": {From: 1080, To: 1440},
	} {
		var got hours.Interval
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"": "10:00-15:00", "10-15": "10:00-15:00", "10:00": "10:00-15:00", "24:00-02:00": "10:00-15:00", "10:60-11:00": "10:00-15:00",
		"10:00-25:00": "10:00-15:00", "10:00-10:00": "00:00-24:00", "10:00-12:00-14:00": "10:00-15:00", "10pm-11pm": "10:00-15:00",
	} {
		var got hours.Interval
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, says)
		}
	}
}

func week(mon, tue string) *hours.Week {
	return &hours.Week{Mon: intervals(mon), Tue: intervals(tue)}
}

func intervals(text string) (all []hours.Interval) {
	for one := range strings.FieldsSeq(text) {
		var i hours.Interval
		if err := i.UnmarshalText([]byte(one)); err != nil {
			panic(err)
		}
		all = append(all, i)
	}
	return all
}

func TestFaults(t *testing.T) {
	t.Parallel()
	christmas := hours.Date{Year: 2026, Month: time.December, Day: 25}
	for says, cfg := range map[string]*hours.Config{
		"has no hours: write delivery, pickup, or all":                     {},
		"all.mon: 10:00-15:00 and 14:00-18:00 overlap: write 10:00-18:00":  {All: week("14:00-18:00 10:00-15:00", "")},
		"pickup.tue: 01:00-03:00 overlaps with 17:00-02:00 of mon":         {Pickup: week("17:00-02:00", "01:00-03:00")},
		"exceptions[0].date: is missing":                                   {All: week("", ""), Exceptions: []hours.Exception{{Closed: true}}},
		"exceptions[0].closed: the day has hours too":                      {All: week("", ""), Exceptions: []hours.Exception{{Date: christmas, Closed: true, All: new(intervals("10:00-12:00"))}}},
		"exceptions[0]: has no hours: write closed: true":                  {All: week("", ""), Exceptions: []hours.Exception{{Date: christmas}}},
		"exceptions[0].delivery: 10:00-12:00 and 11:00-11:30 overlap":      {All: week("", ""), Exceptions: []hours.Exception{{Date: christmas, Delivery: new(intervals("10:00-12:00 11:00-11:30"))}}},
		"exceptions[1].date: 2026-12-25 is also the date of exceptions[0]": {All: week("", ""), Exceptions: []hours.Exception{{Date: christmas, Closed: true}, {Date: christmas, Closed: true}}},
	} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want an error with %q", err, says)
		}
	}
	if err := (&hours.Config{All: week("10:00-15:00 15:00-18:00 22:00-02:00", "02:00-05:00")}).Validate(); err != nil {
		t.Errorf("hours that touch: %v", err)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	cfg := &hours.Config{Delivery: week("10:00-15:00", "")}
	cfg.Delivery.Wed, cfg.Delivery.Thu = []hours.Interval{}, intervals("10:00-15:00")
	warnings := strings.Join(cfg.Warnings(), "\n")
	if want := "has no pickup, so orders for pickup are accepted at any time: write pickup, or all instead of delivery\n" +
		"delivery has no hours for tue, fri, sat, sun, so the restaurant is closed then; write tue: [] if this is right"; warnings != want {
		t.Errorf("warnings:\n%s\nwant\n%s", warnings, want)
	}
}

func TestHoursOfATypeOfOrder(t *testing.T) {
	t.Parallel()
	cfg := &hours.Config{
		All:      week("10:00-12:00", ""),
		Delivery: week("18:00-20:00", ""),
		Exceptions: []hours.Exception{
			{Date: hours.Date{Year: 2026, Month: 12, Day: 7}, Delivery: new(intervals("06:00-08:00"))},
			{Date: hours.Date{Year: 2026, Month: 12, Day: 14}, Closed: true},
			{Date: hours.Date{Year: 2026, Month: 12, Day: 21}, All: new(intervals("03:00-04:00")), Pickup: new([]hours.Interval)},
		},
	}
	from := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	for kind, want := range map[string]string{"delivery": "30 18, 07 06, 21 03, 28 18", "pickup": "30 10, 07 10, 28 10"} {
		var got []string
		for _, span := range cfg.For(kind, nil).Spans(from, from.AddDate(0, 0, 35)) {
			got = append(got, span.From.Format("02 15"))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s begins at %v, want %s", kind, got, want)
		}
	}
	if (&hours.Config{Pickup: week("10:00-12:00", "")}).For("delivery", nil) != nil || (*hours.Config)(nil).For("pickup", nil) != nil {
		t.Error("a type without hours is not always open")
	}
}
