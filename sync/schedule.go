package sync

import (
	"fmt"
	"hash/fnv"
	stdsync "sync"
	"time"
	_ "time/tzdata" // time zones of restaurants must not depend on the machine

	"github.com/robfig/cron/v3"

	"larder.local/cache"
	"larder.local/internal/menu"
)

const (
	// spreadStep is the step of the shift. It is so small that a thousand restaurants do not start
	// together, and so large that cron wakes at most ten times a second.
	spreadStep = 100 * time.Millisecond
	// cronSpread is the limit of the shift for schedules with cron fields: runs start within the configured minute.
	cronSpread = time.Minute
	// lateTick is how late a tick is that the clock has stepped over, or during which the process was suspended.
	lateTick = 2 * time.Second
)

// Schedule has the times at which one restaurant is synced: a cron schedule, shifted by a hash of its id
// (policy S1). It does not depend on the start of the process, so all instances compute the same ticks.
// Restaurants with one schedule are spread evenly over the interval of @every, or over one minute.
type Schedule struct {
	every time.Duration // the interval of @every; otherwise zero
	spec  cron.Schedule // the parsed cron fields or descriptor; otherwise nil
	shift time.Duration
}

// timeZones has the zones that were loaded, because loading one reads a file and many restaurants share them.
var timeZones stdsync.Map //nolint:gochecknoglobals // a cache of constants

// TimeZone returns the time zone with an IANA name; empty means UTC.
func TimeZone(name string) (*time.Location, error) {
	loaded, _ := timeZones.Load(name)
	if zone, ok := loaded.(*time.Location); ok {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	timeZones.Store(name, zone)
	return zone, nil
}

// ParseSchedule parses `@every 2m`, five cron fields or a descriptor such as `@daily`. timeZone is an
// IANA name; empty means UTC. The shift depends on key, such as a restaurant's id.
func ParseSchedule(text, timeZone, key string) (*Schedule, error) {
	zone, err := TimeZone(timeZone)
	if err != nil {
		return nil, err
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return nil, fmt.Errorf(`schedule %q: %w: write "@every 2m", five cron fields such as "*/5 * * * *", or "@hourly"`, text, err)
	}
	if every, ok := parsed.(cron.ConstantDelaySchedule); ok {
		return &Schedule{every: every.Delay, shift: shiftOf(key, every.Delay)}, nil
	}
	spec, _ := parsed.(*cron.SpecSchedule) // there is no third type
	if spec.Location == time.Local {       // cron's default; the text has no time zone of its own
		spec.Location = zone
	}
	return &Schedule{spec: inZone(spec), shift: shiftOf(key, cronSpread)}, nil
}

// shiftOf returns the shift for key: a multiple of spreadStep below within.
func shiftOf(key string, within time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(key))
	sum := hash.Sum64()
	// The low bits of FNV are similar for similar keys. Mix them (splitmix64's finaliser).
	sum ^= sum >> 30
	sum *= 0xbf58476d1ce4e5b9
	sum ^= sum >> 27
	sum *= 0x94d049bb133111eb
	sum ^= sum >> 31
	return time.Duration(sum%uint64(within/spreadStep)) * spreadStep
}

// Next returns the first tick after t. It returns the zero time if the next five years have no tick.
func (s *Schedule) Next(t time.Time) time.Time {
	if s.every > 0 {
		return s.tickBefore(t).Add(s.every)
	}
	next := s.spec.Next(t.Add(-s.shift))
	if next.IsZero() {
		return next
	}
	return next.Add(s.shift).UTC()
}

// tickBefore returns the last tick of an @every schedule that is not after t. Ticks are counted from the Unix epoch.
func (s *Schedule) tickBefore(t time.Time) time.Time {
	past := (t.UnixNano() - int64(s.shift)) % int64(s.every)
	if past < 0 {
		past += int64(s.every)
	}
	return time.Unix(0, t.UnixNano()-past).UTC()
}

// last returns the latest tick that is not after t, or the zero time if the last five years had no tick.
func (s *Schedule) last(t time.Time) time.Time {
	if s.every > 0 {
		return s.tickBefore(t)
	}
	const day = 24 * time.Hour
	var last time.Time
	for _, back := range []time.Duration{time.Hour, day, 8 * day, 32 * day, 367 * day, 5 * 366 * day} {
		for tick := s.Next(t.Add(-back)); !tick.IsZero() && !tick.After(t); tick = s.Next(tick) {
			last = tick
		}
		if !last.IsZero() {
			break
		}
	}
	return last
}

// postponed returns when a tick that was due at the time due runs, if it was noticed too late. Many other ticks may have
// been noticed with it, so they are spread over the interval of @every, or over one minute (policy S11). It returns the
// zero time for a tick that is not late.
func (s *Schedule) postponed(due, now time.Time) time.Time {
	switch {
	case now.Sub(due) < lateTick:
		return time.Time{}
	case s.every > 0:
		return s.Next(now)
	default:
		return now.Add(s.shift)
	}
}

// interval returns the time between the ticks around t, or 0 if there are not two.
func (s *Schedule) interval(t time.Time) time.Duration {
	next, last := s.Next(t), s.last(t)
	if next.IsZero() || last.IsZero() {
		return 0
	}
	return next.Sub(last)
}

// missed reports whether at least n ticks have passed between since and now. It is also true if since is so far in the
// future that it is the time of a wrong clock.
func (s *Schedule) missed(n int, since, now time.Time) bool {
	if since.Sub(now) > cache.ClockSlack {
		return true
	}
	for range n {
		since = s.Next(since)
		if since.IsZero() || since.After(now) {
			return false
		}
	}
	return true
}

// wallSchedule is a cron schedule with fixed hours, in a time zone that may have daylight saving time. If
// a time does not exist on a day, the tick is at the next minute that exists. If a time occurs twice on
// a day, the tick is at the first one (policy S5b).
type wallSchedule struct {
	spec cron.SpecSchedule // its times are wall-clock times, written as UTC
	zone *time.Location
}

// inZone returns the schedule in spec's time zone. A schedule for every hour needs no wall-clock times.
func inZone(spec *cron.SpecSchedule) cron.Schedule {
	const everyHour = 1<<24 - 1
	if spec.Hour&everyHour == everyHour {
		return spec
	}
	wall := *spec
	wall.Location = time.UTC
	return &wallSchedule{spec: wall, zone: spec.Location}
}

// Next implements cron.Schedule. If a wall-clock time is later than another, its real time is not
// earlier. So the first wall-clock time whose real time is after t is the next tick.
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

// onWall returns the wall-clock time at t in the zone of t, written as UTC.
func onWall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// fromWall returns the first time at which the clock in the zone shows wall. If the clock skips wall, it
// returns the time of the skip.
func fromWall(wall time.Time, zone *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	start, end := t.ZoneBounds()
	switch shown := onWall(t); {
	case shown.After(wall): // the clock skips wall, and t is after the gap
		return start
	case shown.Before(wall): // the clock skips wall, and t is before the gap
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

// Plan is the current schedule of a menu.
type Plan struct {
	Schedule string // of the restaurant's configuration, or sync.schedule
	TimeZone string // IANA name; empty means UTC
	// Next is the next tick. It is zero if the next five years have no tick.
	Next time.Time
	// Every is the time between the next two ticks. It is zero if there is no second tick.
	Every time.Duration
	// StaleAfter is the number of ticks without a confirmation after which the menu is stale (policy S5).
	StaleAfter int
}

// Plan returns the plan of a restaurant or a default menu. It returns false for an unknown id.
func (r *Runner) Plan(id menu.RestaurantID) (Plan, bool) {
	t, ok := r.set.Load().byID[id]
	if !ok {
		return Plan{}, false
	}
	plan := Plan{
		Schedule:   t.Schedule,
		TimeZone:   t.TimeZone,
		Next:       t.schedule.Next(r.deps.Clock()),
		StaleAfter: r.deps.Config.StaleAfter,
	}
	if !plan.Next.IsZero() {
		plan.Every = t.schedule.interval(plan.Next)
	}
	return plan, true
}
