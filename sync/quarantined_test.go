package sync_test

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// quarantined returns the compiled quarantined menu; nil if none is kept.
func (g *fixture) quarantined() (compiled *menu.Catalogue, findings []menu.Finding) {
	g.t.Helper()
	err := g.Quarantined(g.t.Context(), bistro, func(q menusync.QuarantinedMenu) error {
		compiled, findings = q.Catalogue, q.Findings()
		return nil
	})
	if err != nil && !errors.Is(err, cache.ErrNotQuarantined) {
		g.t.Fatal(err)
	}
	return compiled, findings
}

// Policy S4a: the quarantined menu is kept until the next good run, whatever kind of run that is.
func TestTheQuarantinedMenuIsKept_S4a(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		serve := func(body []byte, want runlog.Outcome) {
			t.Helper()
			g.service.set(func(s *service) { s.body = body })
			if run := g.once(); run.Outcome != want {
				t.Fatalf("%s %s, want %s", run.Outcome, run.Error, want)
			}
		}
		serve(carte(dishes("p", 20)), runlog.OutcomeUpdated)
		if kept, _ := g.quarantined(); kept != nil {
			t.Error("a menu is kept without a quarantine")
		}
		for range 2 { // the second time it is kept already
			serve(carte(each(dishes("p", 20), 20, priced("0"))), runlog.OutcomeQuarantined)
		}
		kept, findings := g.quarantined()
		free := func(f menu.Finding) bool { return f.Code == menu.LintPriceZero }
		if kept == nil || kept.Counts().Products != 20 || !slices.ContainsFunc(findings, free) {
			t.Fatalf("kept %v with %d findings; want 20 dishes at a price of 0", kept != nil, len(findings))
		}
		serve(carte(dishes("z", 7)), runlog.OutcomeQuarantined)
		if kept, _ := g.quarantined(); kept == nil || kept.Counts().Products != 7 {
			t.Error("the newer quarantined menu is not kept")
		}
		serve(carte(nil), runlog.OutcomeQuarantined)
		if kept, _ := g.quarantined(); kept == nil || kept.Counts().Products != 0 {
			t.Error("the empty menu is not kept")
		}
		serve(carte(dishes("p", 20)), runlog.OutcomeUnchanged)
		if kept, _ := g.quarantined(); kept != nil {
			t.Error("a menu is kept after a good run")
		}
		serve(carte(dishes("z", 7)), runlog.OutcomeQuarantined)
		serve(carte(dishes("p", 19)), runlog.OutcomeUpdated)
		if kept, _ := g.quarantined(); kept != nil {
			t.Error("a menu is kept after another good run")
		}
		serve(carte(dishes("z", 7)), runlog.OutcomeQuarantined)
		if run := g.force(); run.Outcome != runlog.OutcomeUpdated {
			t.Errorf("force: %s %s", run.Outcome, run.Error)
		}
		if kept, _ := g.quarantined(); kept != nil {
			t.Error("a menu is kept after it was forced")
		}
	})
}

// Policy S4a: if the menu is not kept, the reason says so, and has the counts and three examples.
func TestTheReasonOfAMenuThatIsNotKept_S4a(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.service.body = carte(dishes("p", 20))
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	raw := make([]byte, 5<<20)
	_, _ = rand.Read(raw)
	for name, body := range map[string][]dish{
		"20 of 20 dishes are gone (sync.guard.ids): \"Dish of…\", \"Dish of…\", \"Dish of…\". Not kept. ":                      dishes("z", 20),
		"20 of 20 dishes became free or unorderable (sync.guard.prices): \"Dish of…\", \"Dish of…\", \"Dish of…\". Not kept. ": each(dishes("p", 20), 20, priced("0")),
		"20 of 20 prices changed tenfold (sync.guard.prices): \"Dish of…\", \"Dish of…\", \"Dish of…\". Not kept. ":            each(dishes("p", 20), 20, times(100)),
	} {
		body[0].more = `,"description":"` + hex.EncodeToString(raw) + `"`
		g.service.set(func(s *service) { s.body = carte(body) })
		run := g.once()
		g.want(run, runlog.OutcomeQuarantined, 1)
		if !strings.HasPrefix(run.Error, name) || len(strings.Fields(run.Error)) > 25 {
			t.Errorf("reason %q, want %q and at most 25 words", run.Error, name)
		}
		if kept, _ := g.quarantined(); kept != nil {
			t.Error("a menu of more than 4 MiB is kept")
		}
	}
}

// Policy S4a: a rollback is no good run, nor is a run that finds the quarantined menu again under its hold.
func TestARollbackKeepsTheQuarantinedMenu_S4a(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		kept := func(want int, when string) {
			t.Helper()
			if menu, _ := g.quarantined(); (menu != nil) != (want > 0) || menu != nil && menu.Counts().Products != want {
				t.Errorf("%s: a menu is kept: %v, want one with %d dishes", when, menu != nil, want)
			}
		}
		good, wrong := dishes("p", 20), carte(dishes("z", 7))
		g.sync(carte(good), runlog.OutcomeUpdated, 1)
		g.sync(carte(good[:19]), runlog.OutcomeUpdated, 2)
		g.sync(wrong, runlog.OutcomeQuarantined, 2)
		g.back(1, cache.HoldNextChange, 3)
		kept(7, "after the rollback")
		g.back(2, cache.HoldNextChange, 4)
		kept(7, "after another one")
		for range 2 {
			g.sync(wrong, runlog.OutcomeUnchanged, 4)
			kept(7, "the service still publishes it")
		}
		g.sync(carte(good[:18]), runlog.OutcomeUpdated, 5)
		kept(0, "after a good run")

		g.sync(wrong, runlog.OutcomeQuarantined, 5)
		g.back(1, cache.HoldReleased, 6)
		g.sync(carte(good[:17]), runlog.OutcomeHeld, 6)
		kept(0, "the service publishes another menu, which waits")
	})
}
