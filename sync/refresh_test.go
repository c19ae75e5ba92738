package sync_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"larder.local/internal/redisdb"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// refreshed reserves a sync, runs it, and returns the version that Wait returns.
func (g *fixture) refreshed() int64 {
	g.t.Helper()
	f := g.RefreshMenu(bistro)
	if f == nil {
		g.t.Fatal("no sync may start")
	}
	f.Start(g.t.Context())
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	return f.Wait(ctx)
}

func (g *fixture) wantNoRefresh(when string) {
	g.t.Helper()
	if g.RefreshMenu(bistro) != nil {
		g.t.Errorf("%s: a sync may start", when)
	}
}

// A refused order starts a sync: at most one every five seconds, and after one that found nothing new not again for two
// minutes (policy O18).
func TestRefreshMenu(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	g.wantNoRefresh("no scheduler is running")
	g.schedule(g.Instance)
	g.want(g.wait(g.Instance, g.start(g.Instance, menusync.Request{}).ID), runlog.OutcomeUnchanged, 1)
	if g.RefreshMenu("nowhere") != nil {
		t.Error("an unknown restaurant: a sync may start")
	}
	g.service.set(func(s *service) { s.body = viewWith(10, 120, "") })
	if version := g.refreshed(); version != 2 {
		t.Errorf("version %d after the sync, want 2", version)
	}
	g.advance(4 * time.Second)
	g.wantNoRefresh("four seconds after one that found something")
	g.advance(time.Second)
	if version := g.refreshed(); version != 2 {
		t.Errorf("version %d after a sync that found nothing, want 2", version)
	}
	g.advance(119 * time.Second)
	g.wantNoRefresh("two minutes after one that found nothing have not passed")
	g.advance(time.Second)
	g.service.set(func(s *service) { s.err = errors.New("down") })
	g.refreshed()
	g.advance(5 * time.Second) // a failed run says nothing about the menu
	g.service.set(func(s *service) { s.err, s.body = nil, view(10) })
	if version := g.refreshed(); version != 3 {
		t.Errorf("version %d, want 3", version)
	}
}

// Orders that are refused while a sync is in progress share it, also with an operator who started it, and if no order waits.
func TestRefreshMenuIsShared(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	g.schedule(g.Instance)
	stopped := newGate()
	g.service.set(func(s *service) { s.hook, s.body = stopped.hook, viewWith(10, 120, "") })
	run := g.start(g.Instance, menusync.Request{By: "ops"})
	<-stopped.entered
	before := g.service.count()
	first := g.RefreshMenu(bistro)
	if second := g.RefreshMenu(bistro); first == nil || second != first {
		t.Fatalf("reserved %p and %p", first, second)
	}
	first.Start(t.Context())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if version := first.Wait(ended); version != 0 {
		t.Errorf("Wait returned version %d before the end", version)
	}
	g.advance(6 * time.Second)
	later := g.RefreshMenu(bistro)
	if later == nil || later == first {
		t.Fatal("six seconds later, no sync may start")
	}
	later.Start(t.Context())
	close(stopped.open)
	if got := g.wait(g.Instance, run.ID); got.Version != 2 || got.By[0] != "ops" || !slices.Contains(got.By, "(order)") {
		t.Errorf("the joined run is %+v", got)
	}
	if version := later.Wait(t.Context()); version != 2 || g.service.count() != before {
		t.Errorf("version %d after %d more requests", version, g.service.count()-before)
	}
	g.advance(6 * time.Second)
	g.service.set(func(s *service) { s.hook = nil })
	unwatched := g.RefreshMenu(bistro)
	runs := g.observer.finished()
	unwatched.Start(t.Context())
	eventually(t, "the run has finished", func() bool { return g.observer.finished() > runs })
	g.advance(6 * time.Second)
	g.wantNoRefresh("after one that found nothing, and that no order waited for")
}
