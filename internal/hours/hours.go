// Package hours computes when a restaurant is open: from its hours of the week, the exceptions by date and its time zone.
//
// Invariant: a restaurant is open at a moment if a clock on its wall shows a time that its hours contain. So an hour that the
// clock skips does not exist, and one that it repeats counts twice, at both changes of summer time
// (docs/decisions/0082-opening-hours-by-the-wall-clock.md). The package reads no clock and does no I/O.
package hours

import (
	"iter"
	"slices"
	"time"
)

// Interval is a part of a day, in minutes after midnight. From belongs to it, To does not. A To of more than 1440 is on the
// next day.
type Interval struct{ From, To int }

// minutesOfDay is the length of a day on the wall clock.
const minutesOfDay = 24 * 60

// Date is a day of the calendar.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// dateOf returns the day that t shows in its own zone.
func dateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// midnight returns the first moment of the day in UTC.
func (d Date) midnight() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

// plus returns the day n days later.
func (d Date) plus(n int) Date { return dateOf(d.midnight().AddDate(0, 0, n)) }

// Schedule are the hours for one type of order. A nil Schedule is always open.
type Schedule struct {
	// Week has the intervals of each weekday. Those that end on the next day belong to the day on which they begin.
	Week [7][]Interval
	// Exceptions replace the intervals of single days; a day without intervals is closed.
	Exceptions map[Date][]Interval
	Zone       *time.Location
}

// Span is a time without a break, from From until To. To does not belong to it.
type Span struct{ From, To time.Time }

// on returns the intervals that begin on a day.
func (s *Schedule) on(day Date) []Interval {
	if own, ok := s.Exceptions[day]; ok {
		return own
	}
	return s.Week[day.midnight().Weekday()]
}

// Open reports whether the restaurant is open at a moment.
func (s *Schedule) Open(at time.Time) bool {
	if s == nil {
		return true
	}
	local := at.In(s.Zone)
	day, minute := dateOf(local), local.Hour()*60+local.Minute()
	return contains(s.on(day), minute) || contains(s.on(day.plus(-1)), minute+minutesOfDay)
}

func contains(intervals []Interval, minute int) bool {
	return slices.ContainsFunc(intervals, func(i Interval) bool { return i.From <= minute && minute < i.To })
}

// Spans returns the times from from until to at which the restaurant is open, in their order and in its time zone. Two of them
// never touch.
func (s *Schedule) Spans(from, to time.Time) (spans []Span) {
	if s == nil {
		return []Span{{from, to}}
	}
	for period, offset := range s.periods(from, to) {
		last := dateOf(period.To.UTC().Add(offset))
		for day := dateOf(period.From.UTC().Add(offset)).plus(-1); !day.midnight().After(last.midnight()); day = day.plus(1) {
			for _, i := range s.on(day) {
				if span := period.and(i.span(day, offset)); span.From.Before(span.To) {
					spans = append(spans, Span{span.From.In(s.Zone), span.To.In(s.Zone)})
				}
			}
		}
	}
	slices.SortFunc(spans, func(a, b Span) int { return a.From.Compare(b.From) })
	joined := spans[:0]
	for _, next := range spans {
		last := len(joined) - 1
		if last < 0 || next.From.After(joined[last].To) {
			joined = append(joined, next)
		} else if next.To.After(joined[last].To) {
			joined[last].To = next.To
		}
	}
	return joined
}

// periods returns the periods from from until to in which the clock does not change, with its difference from UTC.
func (s *Schedule) periods(from, to time.Time) iter.Seq2[Span, time.Duration] {
	return func(yield func(Span, time.Duration) bool) {
		for from.Before(to) {
			local := from.In(s.Zone)
			_, offset := local.Zone()
			_, end := local.ZoneBounds()
			if end.IsZero() || end.After(to) {
				end = to
			}
			if !yield(Span{from, end}, time.Duration(offset)*time.Second) {
				return
			}
			from = end
		}
	}
}

// span returns when the interval is on a day of a clock with a constant difference from UTC.
func (i Interval) span(day Date, offset time.Duration) Span {
	midnight := day.midnight().Add(-offset)
	return Span{midnight.Add(time.Duration(i.From) * time.Minute), midnight.Add(time.Duration(i.To) * time.Minute)}
}

// and returns the time that is in both; it begins after its end if they do not overlap.
func (p Span) and(other Span) Span {
	if other.From.Before(p.From) {
		other.From = p.From
	}
	if other.To.After(p.To) {
		other.To = p.To
	}
	return other
}

// ordinaryDays is more than a week, also if the clock skips the only interval of a week.
const ordinaryDays = 15

// Next returns the first moment, not before at, at which the restaurant is open. It returns false if it never opens again.
func (s *Schedule) Next(at time.Time) (next time.Time, ok bool) {
	if s.Open(at) {
		return at, true
	}
	first := dateOf(at.In(s.Zone))
	for day := range ordinaryDays + len(s.Exceptions) { // each exception can close one day
		if next, ok = s.begins(first.plus(day-1), at); ok {
			return next, true
		}
	}
	later := make([]Date, 0, len(s.Exceptions)) // the week has no hours, or too few
	for day, intervals := range s.Exceptions {
		if len(intervals) > 0 && day.midnight().After(first.midnight()) {
			later = append(later, day)
		}
	}
	slices.SortFunc(later, func(a, b Date) int { return a.midnight().Compare(b.midnight()) })
	for _, day := range later {
		if next, ok = s.begins(day, at); ok {
			return next, true
		}
	}
	return time.Time{}, false
}

// begins returns the first moment, not before at, at which the restaurant is open because of the intervals of a day.
func (s *Schedule) begins(day Date, at time.Time) (first time.Time, ok bool) {
	intervals := s.on(day)
	if len(intervals) == 0 {
		return time.Time{}, false
	}
	from := day.midnight().Add(-maxOffset)
	if from.Before(at) {
		from = at
	}
	for period, offset := range s.periods(from, day.midnight().Add(2*minutesOfDay*time.Minute+maxOffset)) {
		for _, i := range intervals {
			span := period.and(i.span(day, offset))
			if span.From.Before(span.To) && (!ok || span.From.Before(first)) {
				first, ok = span.From.In(s.Zone), true
			}
		}
		if ok {
			break
		}
	}
	return first, ok
}

// maxOffset is more than the difference of any local time from UTC.
const maxOffset = 16 * time.Hour
