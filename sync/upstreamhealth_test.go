package sync_test

import (
	"errors"
	"fmt"
	"testing"

	"larder/internal/menu"
	"larder/internal/upstream"
	menusync "larder/sync"
	"larder/sync/runlog"
)

// Two hundred restaurants fail and recover: the log has two lines for the
// connection, and one for the first restaurants that failed.
func TestAnUnreachableServiceIsReportedOnce(t *testing.T) {
	t.Parallel()
	const restaurantsOfAll = 200
	ids := make([]menu.RestaurantID, restaurantsOfAll)
	for i := range ids {
		ids[i] = menu.RestaurantID(fmt.Sprintf("r%03d", i))
	}
	g := newFixture(t, "embedded", func(d *menusync.Deps) { d.Restaurants = restaurants(ids...) })
	all := func(want runlog.Outcome) {
		t.Helper()
		for _, id := range ids {
			if run, err := g.OnceOf(t.Context(), id, runlog.TriggerCron); err != nil || run.Outcome != want {
				t.Fatalf("run of %s: %s %v, want %s", id, run.Outcome, err, want)
			}
		}
	}
	loud := func() (n int) {
		for _, entry := range g.log.AllEntries() {
			if entry.Level <= 3 { // warnings and worse
				n++
			}
		}
		return n
	}
	all(runlog.OutcomeUpdated)
	for round := 1; round <= 2; round++ {
		before := loud()
		g.service.set(func(s *service) {
			s.err = &upstream.Error{Operation: upstream.OpMenu, Status: 503, Err: errors.New("down")}
		})
		all(runlog.OutcomeFailed)
		all(runlog.OutcomeFailed)
		if n := loud() - before; n > 3 {
			t.Errorf("round %d: %d warnings of %d failed runs, want at most 3", round, n, 2*restaurantsOfAll)
		}
		g.service.set(func(s *service) { s.err = &upstream.Error{Operation: upstream.OpMenu, Err: upstream.ErrBusy} })
		all(runlog.OutcomeFailed)
		if back := g.logged("upstream.recovered"); back != round-1 {
			t.Errorf("round %d: runs without a slot were logged as a recovery", round)
		}
		g.service.set(func(s *service) { s.err = nil })
		all(runlog.OutcomeUnchanged)
		if away, back := g.logged("upstream.unreachable"), g.logged("upstream.recovered"); away != round || back != round {
			t.Errorf("round %d: %d log lines of an unreachable service, %d of its recovery", round, away, back)
		}
	}
}

// A wrong secret is not an unreachable service: an operator must correct the configuration.
func TestRefusedCredentialsAreReportedAsSuch(t *testing.T) {
	t.Parallel()
	for message, fault := range map[string]*upstream.Error{
		"the ordering service refuses larder's credentials (connections[].client_id, client_secret); the last menus are still served": {
			Operation: upstream.OpToken, Status: 401,
		},
		"the ordering service is unreachable; its restaurants keep their last good menus": {Operation: upstream.OpToken, Status: 503},
	} {
		g := newFixture(t, "embedded", func(d *menusync.Deps) { d.Restaurants = restaurants("one") })
		g.service.set(func(s *service) { s.err = fault })
		for range 3 {
			if _, err := g.OnceOf(t.Context(), "one", runlog.TriggerCron); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, entry := range g.log.AllEntries() {
			if entry.Data["event"] == "upstream.unreachable" {
				got = append(got, entry.Message)
			}
		}
		if len(got) != 1 || got[0] != message {
			t.Errorf("status %d is logged as %q, want %q", fault.Status, got, message)
		}
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
