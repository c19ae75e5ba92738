package sync_test

import (
	"testing"
	"time"

	"larder.local/internal/redisdb"
	menusync "larder.local/sync"
)

// A plan shows the schedule: its next tick, and the time to the one after.
func TestPlan(t *testing.T) {
	t.Parallel()
	for schedule, every := range map[string]time.Duration{"@every 2m": 2 * time.Minute, "0 4 * * *": 24 * time.Hour, "30 2 30 2 *": 0} {
		g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) { d.Restaurants[0].Schedule = schedule })
		plan, known := g.Plan(bistro)
		if !known || plan.Schedule != schedule || plan.Every != every || plan.StaleAfter != 3 {
			t.Errorf("%s: got %+v, %v; want every %v", schedule, plan, known, every)
		}
		if every > 0 && !plan.Next.After(g.clock()) || every == 0 && !plan.Next.IsZero() {
			t.Errorf("%s: the next tick is %v", schedule, plan.Next)
		}
		if _, known := g.Plan("nowhere"); known {
			t.Error("a restaurant that is not configured has a plan")
		}
	}
}
