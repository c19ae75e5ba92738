package sync_test

import (
	"testing"
	"time"

	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// Two hundred restaurants fail and recover: the log has two lines for the connection, and one for the first restaurants
// that failed.
func TestAnUnreachableServiceIsReportedOnce(t *testing.T) {
	t.Parallel()
	b := newBreakerFixture(t, 200)
	b.run(runlog.TriggerCron, b.ids...)
	loud := func() (n int) {
		for _, entry := range b.log.AllEntries() {
			if entry.Level <= 3 { // warnings and worse
				n++
			}
		}
		return n
	}
	for round := 1; round <= 2; round++ {
		before := loud()
		b.menus.fail(map[string]int{"": 503})
		for range 3 {
			b.run(runlog.TriggerCron, b.ids...)
			b.advance(20 * time.Second)
			b.StartTrials("main")
		}
		if n := loud() - before; n > 3 {
			t.Errorf("round %d: %d warnings of hundreds of failed or waiting runs, want at most 3", round, n)
		}
		b.menus.fail(nil)
		b.run(runlog.TriggerCron, b.ids...)
		if away, back := b.logged("upstream.unreachable"), b.logged("upstream.recovered"); away != round || back != round {
			t.Errorf("round %d: %d log lines of an unreachable service, %d of its recovery", round, away, back)
		}
		b.run(runlog.TriggerCron, b.ids...)
	}
}

// An error of one restaurant does not affect the state of the others.
func TestFaultOfOneRestaurantIsItsOwn(t *testing.T) {
	t.Parallel()
	g := newFixture(t, "embedded", func(d *menusync.Deps) { d.Restaurants = restaurants("good", "bad") })
	for range 5 {
		g.service.set(func(s *service) { s.err = &upstream.Error{Operation: upstream.OpMenu, Status: 500} })
		if _, err := g.OnceOf(t.Context(), "bad", runlog.TriggerCron); err != nil {
			t.Fatal(err)
		}
		g.service.set(func(s *service) { s.err = nil })
		if _, err := g.OnceOf(t.Context(), "good", runlog.TriggerCron); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.logged("upstream.unreachable"); n != 0 {
		t.Errorf("the service was logged as unreachable %d times", n)
	}
	warnings := 0
	for _, entry := range g.log.AllEntries() {
		if entry.Level <= 3 && entry.Data["restaurant"] == "bad" {
			warnings++
		}
	}
	if warnings != 1 {
		t.Errorf("%d warnings of the bad restaurant, want 1", warnings)
	}
}
