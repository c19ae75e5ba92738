package sync

import (
	"time"

	"github.com/robfig/cron/v3"
)

// wallSchedule is a cron schedule with a fixed hour, in a time zone that may
// have daylight saving time: a time that does not exist on a day runs at the
// next valid minute, one that occurs twice runs the first time (policy S5b).
type wallSchedule struct {
	spec cron.SpecSchedule // of wall clock times, as if they were UTC
	zone *time.Location
}

// inZone returns the schedule as it runs in spec's own time zone. One that
// runs every hour goes on through a change of the clock as if there were none.
func inZone(spec *cron.SpecSchedule) cron.Schedule {
	const everyHour = 1<<24 - 1
	if spec.Hour&everyHour == everyHour {
		return spec
	}
	wall := *spec
	wall.Location = time.UTC
	return &wallSchedule{spec: wall, zone: spec.Location}
}

// Next implements cron.Schedule. Times on the wall clock in order give times
// in order, so the first one after that of t which is later than t is the next.
func (s *wallSchedule) Next(t time.Time) time.Time {
	wall := onWall(t.In(s.zone))
	for {
		wall = s.spec.Next(wall)
		if wall.IsZero() {
			return wall
		}
		if next := fromWall(wall, s.zone); next.After(t) {
			return next
		}
	}
}

// onWall returns what the clock shows at t, as if it were UTC.
func onWall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// fromWall returns when the clock in the zone shows wall for the first time,
// or passes over it.
func fromWall(wall time.Time, zone *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	start, end := t.ZoneBounds()
	switch shown := onWall(t); {
	case shown.After(wall): // t is after a gap
		return start
	case shown.Before(wall): // t is before it
		return end
	case start.IsZero():
		return t
	}
	_, before := start.Add(-1).Zone()
	if first := wall.Add(-time.Duration(before) * time.Second); first.Before(start) {
		return first
	}
	return t
}
