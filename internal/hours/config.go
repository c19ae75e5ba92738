package hours

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"larder.local/internal/setting"
)

// Config is `restaurants[].hours`: the times at which an order may be ready. A type of order without hours is always accepted.
type Config struct {
	All        *Week       `yaml:"all"`      // for the types without hours of their own
	Delivery   *Week       `yaml:"delivery"` // overrides All
	Pickup     *Week       `yaml:"pickup"`   // overrides All
	Exceptions []Exception `yaml:"exceptions"`
}

// Week has the intervals of each weekday. An empty list means closed.
type Week struct {
	Mon []Interval `yaml:"mon"`
	Tue []Interval `yaml:"tue"`
	Wed []Interval `yaml:"wed"`
	Thu []Interval `yaml:"thu"`
	Fri []Interval `yaml:"fri"`
	Sat []Interval `yaml:"sat"`
	Sun []Interval `yaml:"sun"`
}

// Exception has the hours of one day. A type of order without intervals of its own keeps those of the weekday.
type Exception struct {
	Date     Date        `yaml:"date"`
	Closed   bool        `yaml:"closed"`
	All      *[]Interval `yaml:"all"`
	Delivery *[]Interval `yaml:"delivery"`
	Pickup   *[]Interval `yaml:"pickup"`
}

// The types of orders.
const (
	delivery = "delivery"
	pickup   = "pickup"
)

var dayNames = [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} //nolint:gochecknoglobals // constant

// days returns the intervals of the week, from Sunday.
func (w *Week) days() [7][]Interval {
	return [7][]Interval{w.Sun, w.Mon, w.Tue, w.Wed, w.Thu, w.Fri, w.Sat}
}

// of returns the intervals of a type of order on the day; nil if it has none.
func (e *Exception) of(kind string) *[]Interval {
	own := e.Delivery
	if kind == pickup {
		own = e.Pickup
	}
	if e.Closed {
		return new([]Interval)
	}
	return cmp.Or(own, e.All)
}

// For returns the schedule of a type of order, delivery or pickup; nil if it is always open.
func (c *Config) For(kind string, zone *time.Location) *Schedule {
	if c == nil {
		return nil
	}
	week := cmp.Or(c.Delivery, c.All)
	if kind == pickup {
		week = cmp.Or(c.Pickup, c.All)
	}
	if week == nil {
		return nil
	}
	schedule := &Schedule{Week: week.days(), Exceptions: map[Date][]Interval{}, Zone: cmp.Or(zone, time.UTC)}
	for i := range c.Exceptions {
		if own := c.Exceptions[i].of(kind); own != nil {
			schedule.Exceptions[c.Exceptions[i].Date] = *own
		}
	}
	return schedule
}

// Validate returns every fault as a *setting.Error, joined. The keys are relative to the section.
func (c *Config) Validate() error {
	var faults setting.Faults
	faults.If(c.All == nil && c.Delivery == nil && c.Pickup == nil, "", "has no hours: write delivery, pickup, or all for both")
	for key, week := range map[string]*Week{"all": c.All, delivery: c.Delivery, pickup: c.Pickup} {
		if week == nil {
			continue
		}
		days := week.days()
		for day, intervals := range days {
			checkOverlaps(&faults, key+"."+dayNames[day], intervals)
			next := dayNames[(day+1)%7]
			for _, late := range intervals {
				for _, early := range days[(day+1)%7] {
					faults.If(late.To-minutesOfDay > early.From, key+"."+next, "%v overlaps with %v of %s, which ends at %s: join or shorten them",
						early, late, dayNames[day], clockTime(late.To))
				}
			}
		}
	}
	seen := map[Date]int{}
	for i := range c.Exceptions {
		e, key := &c.Exceptions[i], setting.Index("exceptions", i)
		before, twice := seen[e.Date]
		seen[e.Date] = i
		given := e.All != nil || e.Delivery != nil || e.Pickup != nil
		switch {
		case e.Date == Date{}:
			faults.If(true, key+".date", "is missing: write a date such as 2026-12-25")
		case twice:
			faults.If(true, key+".date", "%v is also the date of exceptions[%d]: join them", e.Date, before)
		case e.Closed && given:
			faults.If(true, key+".closed", "the day has hours too: remove closed, or the hours")
		case !e.Closed && !given:
			faults.If(true, key, "has no hours: write closed: true, or the hours of delivery, pickup or all")
		}
		for name, intervals := range map[string]*[]Interval{"all": e.All, delivery: e.Delivery, pickup: e.Pickup} {
			if intervals != nil {
				checkOverlaps(&faults, key+"."+name, *intervals)
			}
		}
	}
	return errors.Join(faults...)
}

func checkOverlaps(faults *setting.Faults, key string, intervals []Interval) {
	sorted := slices.SortedFunc(slices.Values(intervals), func(a, b Interval) int { return a.From - b.From })
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		faults.If(b.From < a.To, key, "%v and %v overlap: write %v", a, b, Interval{a.From, max(a.To, b.To)})
	}
}

// Warnings returns messages about days and types of order without hours, each with its key.
func (c *Config) Warnings() (warnings []string) {
	if c.All == nil && (c.Delivery == nil) != (c.Pickup == nil) {
		without, with := delivery, pickup
		if c.Pickup == nil {
			without, with = pickup, delivery
		}
		warnings = append(warnings, fmt.Sprintf("has no %s, so orders for %s are accepted at any time: write %s, or all instead of %s",
			without, without, without, with))
	}
	for _, of := range []struct {
		key  string
		week *Week
	}{{"all", c.All}, {delivery, c.Delivery}, {pickup, c.Pickup}} {
		if of.week == nil {
			continue
		}
		var without []string
		days := of.week.days()
		for i := range days {
			if day := (i + 1) % 7; days[day] == nil { // from Monday
				without = append(without, dayNames[day])
			}
		}
		if len(without) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s has no hours for %s, so the restaurant is closed then; write %s: [] if this is right",
				of.key, strings.Join(without, ", "), without[0]))
		}
	}
	return warnings
}

// UnmarshalText reads an interval such as 10:00-15:00. One such as 17:00-02:00 ends on the next day.
func (i *Interval) UnmarshalText(text []byte) error {
	from, to, found := strings.Cut(strings.ReplaceAll(string(text), "–", "-"), "-")
	begin, beginOK := minuteOf(from)
	end, endOK := minuteOf(to)
	switch {
	case !found || !beginOK || !endOK || begin == minutesOfDay:
		return fmt.Errorf("%q is no time of the day: write from-to, such as 10:00-15:00, or 17:00-02:00 past midnight", text)
	case begin == end:
		return fmt.Errorf("%q has no length: write 00:00-24:00 for the whole day", text)
	case end < begin:
		end += minutesOfDay
	}
	*i = Interval{begin, end}
	return nil
}

// minuteOf returns the minute of the day of a time such as 9:30, up to 24:00.
func minuteOf(text string) (minute int, ok bool) {
	text = strings.TrimSpace(text)
	if text == "24:00" {
		return minutesOfDay, true
	}
	at, err := time.Parse("15:04", text)
	return at.Hour()*60 + at.Minute(), err == nil
}

// MarshalText returns the form of UnmarshalText.
func (i Interval) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// String returns the form of UnmarshalText.
func (i Interval) String() string { return clockTime(i.From) + "-" + clockTime(i.To) }

func clockTime(minute int) string {
	if minute > minutesOfDay {
		minute -= minutesOfDay
	}
	return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
}

// UnmarshalText reads a date such as 2026-12-25.
func (d *Date) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("%q is no date: write year, month and day, such as 2026-12-25", text)
	}
	*d = dateOf(at)
	return nil
}

// MarshalText returns the form of UnmarshalText.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the form of UnmarshalText.
func (d Date) String() string { return d.midnight().Format(time.DateOnly) }
