package sync

import (
	"time"

	"larder/internal/menu"
)

// Plan is when a menu is pulled, as it is configured now.
type Plan struct {
	Schedule string // as it was written, or sync.schedule
	TimeZone string // IANA name; empty: UTC
	// Next is the next slot; zero where there is none within five years.
	Next time.Time
	// Every is the time between the next two slots; zero where they are not both.
	Every time.Duration
	// StaleAfter is how many slots may pass without a confirmation before readers
	// are told (policy S5).
	StaleAfter int
}

// Plan gives the plan of a restaurant, or of a connection's own menu; false
// where nothing is kept under the id.
func (r *Runner) Plan(id menu.RestaurantID) (Plan, bool) {
	t, ok := r.set.Load().byID[id]
	if !ok {
		return Plan{}, false
	}
	plan := Plan{Schedule: t.Schedule, TimeZone: t.TimeZone, Next: t.schedule.Next(r.clock()), StaleAfter: r.cfg.StaleAfter}
	if plan.Next.IsZero() {
		return plan, true
	}
	if after := t.schedule.Next(plan.Next); !after.IsZero() {
		plan.Every = after.Sub(plan.Next)
	}
	return plan, true
}
