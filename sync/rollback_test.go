package sync_test

import (
	"bytes"
	"context"
	"errors"
	stdsync "sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// back rolls the bistro back and checks the new version.
func (g *fixture) back(to int64, hold cache.HoldUntil, version int64) runlog.Run {
	g.t.Helper()
	run, err := g.Rollback(g.t.Context(), bistro, runlog.Rollback{Version: to, Hold: hold}, "ops", 10*time.Second)
	if err != nil {
		g.t.Fatalf("Rollback: %v", err)
	}
	g.want(run, runlog.OutcomeUpdated, version)
	return run
}

// sync makes the service publish a menu, and syncs it.
func (g *fixture) sync(body []byte, outcome runlog.Outcome, version int64) runlog.Run {
	g.t.Helper()
	g.service.set(func(s *service) { s.body = body })
	g.advance(2 * time.Minute)
	run := g.once()
	g.want(run, outcome, version)
	return run
}

// serves fails unless the current version and the replica have this menu.
func (g *fixture) serves(raw []byte, held cache.HoldUntil) {
	g.t.Helper()
	g.wantPublished(bistro, raw)
	current := g.current()
	if current.Hold.Until != held || current.Held != (held != "") {
		g.t.Errorf("version %d is held %v, %q; want %q", current.Version, current.Held, current.Hold.Until, held)
	}
	snapshot, _ := g.replica.Cached(bistro)
	if snapshot.Version.Version != current.Version || snapshot.Hold != current.Hold {
		g.t.Errorf("the replica has version %d, hold %+v; Redis %d, %+v", snapshot.Version.Version, snapshot.Hold, current.Version, current.Hold)
	}
}

func TestRollbackHoldsUntilTheNextChange(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		old, bad, next := view(10), viewWith(11, 1, ""), viewWith(11, 150, "")
		g.sync(old, runlog.OutcomeUpdated, 1)
		g.sync(viewWith(11, 1, string(bistro)), runlog.OutcomeUpdated, 2)
		calls := g.service.count()

		run := g.back(1, cache.HoldNextChange, 3)
		if g.service.count() != calls {
			t.Error("a rollback sent a request to the ordering service")
		}
		g.serves(viewWith(10, 100, string(bistro)), cache.HoldNextChange) // the current stop lists
		if run.Changes != (runlog.Changes{Removed: 1, Changed: 1}) || run.Rollback == nil || run.By[0] != "ops" || run.Products != 10 {
			t.Errorf("run %+v", run)
		}
		if kept, err := g.FindRun(t.Context(), run.ID); err != nil || kept.Rollback == nil || *kept.Rollback != *run.Rollback ||
			kept.Trigger != runlog.TriggerManual {
			t.Errorf("record %+v, %v", kept, err)
		}
		if g.logged("sync.rollback") != 1 {
			t.Error("the log does not name the client that rolled back")
		}

		g.sync(viewWith(11, 1, string(bistro)), runlog.OutcomeUnchanged, 3)
		if run := g.sync(viewWith(11, 1, string(bistro)), runlog.OutcomeUnchanged, 3); run.Steps.Decode > 0 {
			t.Error("equal bytes under a hold were decoded again")
		}
		g.sync(bad, runlog.OutcomeUpdated, 4) // a stop list is published anyway
		g.serves(old, cache.HoldNextChange)
		if found, err := g.Findings(t.Context(), bistro); err != nil || len(found) != 0 {
			t.Errorf("findings %v, %v; want those of the served menu", found, err)
		}

		g.sync(next, runlog.OutcomeUpdated, 5)
		g.serves(next, "")
		g.sync(next, runlog.OutcomeUnchanged, 5)
	})
}

func TestRollbackHoldsUntilReleased(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.sync(view(10), runlog.OutcomeUpdated, 1)
		g.sync(viewWith(11, 1, ""), runlog.OutcomeUpdated, 2)
		g.back(1, cache.HoldReleased, 3)
		g.sync(viewWith(12, 1, ""), runlog.OutcomeHeld, 3)
		if run := g.sync(viewWith(12, 1, ""), runlog.OutcomeHeld, 3); run.Steps.Decode > 0 {
			t.Error("equal bytes under a hold were decoded again")
		}
		run := g.sync(viewWith(12, 1, string(bistro)), runlog.OutcomeHeld, 4)
		if run.Changes.Changed != 1 {
			t.Errorf("run %+v, want its one stop list published", run)
		}
		g.serves(viewWith(10, 100, string(bistro)), cache.HoldReleased)
		if current := g.current(); current.LastOutcome != "held" || !current.CheckedAt.Equal(g.clock()) {
			t.Errorf("current %+v, want it confirmed as held", current)
		}
		g.sync(viewWith(11, 1, ""), runlog.OutcomeUpdated, 5) // the menu of the rollback again
		g.serves(view(10), cache.HoldReleased)
		g.sync([]byte(`{"result":{"products":[]}}`), runlog.OutcomeHeld, 5) // the guard would quarantine it, so it is not published

		if run, err := g.OnceOf(t.Context(), bistro, runlog.TriggerCron); err != nil || run.Outcome != runlog.OutcomeHeld {
			t.Errorf("run %+v, %v", run, err)
		}
		g.service.set(func(s *service) { s.body = viewWith(12, 1, "") })
		stop := g.schedule(g.Instance)
		defer stop()
		forced := g.start(g.Instance, menusync.Request{Force: true})
		g.want(g.wait(g.Instance, forced.ID), runlog.OutcomeHeld, 6) // force only skips the guard and the unchanged check
		g.serves(view(10), cache.HoldReleased)

		released, err := g.Release(t.Context(), bistro, "ops")
		if err != nil {
			t.Fatal(err)
		}
		g.want(g.wait(g.Instance, released.ID), runlog.OutcomeUpdated, 7)
		g.serves(viewWith(12, 1, ""), "")
		if g.logged("sync.released") != 1 {
			t.Error("the log does not name the client that released the hold")
		}
	})
}

func TestAReleaseStartsANewRun(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.sync(view(10), runlog.OutcomeUpdated, 1)
	g.sync(view(11), runlog.OutcomeUpdated, 2)
	g.back(1, cache.HoldReleased, 3)
	gate := newGate()
	g.service.set(func(s *service) { s.hook = gate.hook })
	g.schedule(g.Instance)
	plain := g.start(g.Instance, menusync.Request{})
	<-gate.entered // it has read the hold
	released, err := g.Release(t.Context(), bistro, "ops")
	if err != nil || released.ID == plain.ID {
		t.Fatalf("Release joined run %s, which began before (%v)", released.ID, err)
	}
	close(gate.open)
	g.want(g.wait(g.Instance, plain.ID), runlog.OutcomeUnchanged, 3)
	g.want(g.wait(g.Instance, released.ID), runlog.OutcomeUpdated, 4)
	g.serves(view(11), "")
}

// lingering is a replica that delays its first reader.
type lingering struct {
	*fakeReplica
	gate gate
	once stdsync.Once
}

func (l *lingering) Cached(id menu.RestaurantID) (*cache.Snapshot, bool) {
	l.once.Do(func() { l.gate.hook(context.Background()) })
	return l.fakeReplica.Cached(id)
}

// A sync request during a rollback starts a sync, because the rollback does not fetch
// the menu.
func TestRequestsDoNotJoinARollback(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.sync(view(10), runlog.OutcomeUpdated, 1)
		g.sync(view(11), runlog.OutcomeUpdated, 2)
		slow := &lingering{fakeReplica: g.replica, gate: newGate()}
		other := g.another(func(d *menusync.Deps) { d.Replica = slow })
		var back errgroup.Group
		back.Go(func() error {
			_, err := other.Rollback(t.Context(), bistro, runlog.Rollback{Version: 1, Hold: cache.HoldReleased}, "ops", 0)
			return err
		})
		<-slow.gate.entered // it has the lease
		calls := g.service.count()
		plain := g.start(g.Instance, menusync.Request{})
		if plain.Rollback != nil || plain.State != runlog.StateQueued {
			t.Errorf("Start joined %+v, want a run of its own", plain)
		}
		g.schedule(g.Instance)
		close(slow.gate.open)
		if err := back.Wait(); err != nil {
			t.Fatal(err)
		}
		g.want(g.wait(g.Instance, plain.ID), runlog.OutcomeUnchanged, 3)
		if g.service.count() == calls {
			t.Error("the service got no request")
		}
	})
}

func TestTheGuardAppliesBeforeAHoldEnds(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.sync(view(10), runlog.OutcomeUpdated, 1)
	g.sync(view(11), runlog.OutcomeUpdated, 2)
	g.back(1, cache.HoldNextChange, 3)
	g.sync(view(2), runlog.OutcomeQuarantined, 3)
	g.serves(view(10), cache.HoldNextChange)
	g.back(2, cache.HoldNextChange, 4)          // while the service publishes a menu that the guard rejects
	g.sync(view(2), runlog.OutcomeUnchanged, 4) // the same menu as at the rollback
	g.sync(view(11), runlog.OutcomeUpdated, 5)  // a change
	g.serves(view(11), "")
	g.sync(view(2), runlog.OutcomeQuarantined, 5)
	g.sync(view(11), runlog.OutcomeUnchanged, 5) // equal bytes
	g.back(1, cache.HoldNextChange, 6)
	g.sync(view(11), runlog.OutcomeUnchanged, 6)
}

// A rollback sends no request to the service. It does not confirm the served menu, so
// the menu becomes stale at the same time as without a rollback.
func TestARollbackDoesNotConfirmTheMenu(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url, onDefaultSchedule)
		g.sync(view(10), runlog.OutcomeUpdated, 1)
		g.sync(view(11), runlog.OutcomeUpdated, 2)
		checked := g.clock()
		g.advance(time.Hour)
		g.back(1, cache.HoldReleased, 3)
		current := g.current()
		if !current.CheckedAt.Equal(checked) || !current.SyncedAt.Equal(g.clock()) {
			t.Errorf("checked at %v, synced at %v; want %v, %v", current.CheckedAt, current.SyncedAt, checked, g.clock())
		}
		if snapshot, _ := g.replica.Cached(bistro); !snapshot.CheckedAt.Equal(checked) || !g.Stale(snapshot.Version) {
			t.Errorf("the replica has it checked at %v, stale %t; want %v, stale", snapshot.CheckedAt, g.Stale(snapshot.Version), checked)
		}
		g.sync(view(11), runlog.OutcomeUnchanged, 3)
		if current := g.current(); !current.CheckedAt.Equal(g.clock()) {
			t.Errorf("checked at %v, want %v", current.CheckedAt, g.clock())
		}
	})
}

func TestRollbackTwice(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	for n := range int64(3) {
		g.sync(view(10+int(n)), runlog.OutcomeUpdated, n+1)
	}
	g.back(2, cache.HoldReleased, 4)
	g.back(1, cache.HoldNextChange, 5)
	g.sync(view(12), runlog.OutcomeUnchanged, 5) // as it was at the first rollback
	g.serves(view(10), cache.HoldNextChange)
	g.back(5, cache.HoldReleased, 6) // the current one: it only gets another hold
	g.serves(view(10), cache.HoldReleased)
	g.sync(view(13), runlog.OutcomeHeld, 6)
	g.back(2, cache.HoldNextChange, 7)
	g.sync(view(13), runlog.OutcomeUnchanged, 7) // as it was at the last rollback
	g.serves(view(11), cache.HoldNextChange)
	g.sync(view(11), runlog.OutcomeUpdated, 8) // the service itself returns to an older menu
	g.serves(view(11), "")
}

func TestAHoldSurvivesARestartWithOtherSettings(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.sync(view(10), runlog.OutcomeUpdated, 1)
	g.sync(view(11), runlog.OutcomeUpdated, 2)
	g.back(1, cache.HoldNextChange, 3)
	before := g.current().Content
	g.replica.held = nil
	g.Instance = g.another(func(d *menusync.Deps) {
		d.Restaurants = []menusync.Restaurant{d.Restaurants[0]}
		d.Restaurants[0].Settings.RefuseMissingExternalID = true
	})
	g.once() // compiled again with the new settings, and still held
	g.serves(view(10), cache.HoldNextChange)
	if now := g.current(); now.Version != 4 || now.Content == before {
		t.Errorf("version %d of content %s, want a version of another content", now.Version, now.Content)
	}
	g.sync(view(11), runlog.OutcomeUnchanged, 4)

	g.back(2, cache.HoldReleased, 5) // it was compiled with the old settings
	snapshot, _ := g.replica.Cached(bistro)
	if !snapshot.Catalogue.Settings().RefuseMissingExternalID {
		t.Error("the rollback used the old settings, want the old menu with the current settings")
	}
}

// A dish that the current menu does not have keeps its last stop list.
func TestRollbackKeepsTheStopListOfARemovedDish(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	old := bytes.Replace(view(10), []byte(`"price":100,"isContainInStopList":[]}],`), []byte(`"price":100,"isContainInStopList":true}],`), 1)
	g.sync(old, runlog.OutcomeUpdated, 1) // p9 is stopped
	g.sync(view(9), runlog.OutcomeUpdated, 2)
	g.back(1, cache.HoldReleased, 3)
	g.serves(old, cache.HoldReleased)
	if stops := g.current().Stops; len(stops.Products) != 1 || stops.Products[0] != "p9" {
		t.Errorf("stops %v, want p9", stops)
	}
	g.sync(view(8), runlog.OutcomeHeld, 3)
	g.serves(old, cache.HoldReleased)
}

func TestRollbackRefusals(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.once()
		_, err := g.Rollback(t.Context(), bistro, runlog.Rollback{Version: 7, Hold: cache.HoldReleased}, "", 0)
		if unknown, ok := errors.AsType[*menusync.UnknownVersionError](err); !ok || unknown.Version != 7 || unknown.Restaurant != bistro {
			t.Errorf("an unknown version: %v", err)
		}
		_, err = g.Rollback(t.Context(), "nowhere", runlog.Rollback{Version: 1}, "", 0)
		if _, ok := errors.AsType[*menusync.UnknownRestaurantError](err); !ok {
			t.Errorf("an unknown restaurant: %v", err)
		}
		if _, err = g.Release(t.Context(), "nowhere", ""); err == nil {
			t.Error("released an unknown restaurant")
		}

		gate := newGate()
		g.service.set(func(s *service) { s.hook = gate.hook })
		g.schedule(g.Instance)
		run := g.start(g.Instance, menusync.Request{})
		<-gate.entered
		if _, err = g.Rollback(t.Context(), bistro, runlog.Rollback{Version: 1, Hold: cache.HoldReleased}, "", 0); !errors.Is(err, menusync.ErrBusy) {
			t.Errorf("during a run: %v", err)
		}
		left, leave := context.WithTimeout(t.Context(), 50*time.Millisecond) //testwaits:allow the test expects its end
		defer leave()
		if _, err = g.Rollback(left, bistro, runlog.Rollback{Version: 1, Hold: cache.HoldReleased}, "", time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller whose context ended: %v", err)
		}
		close(gate.open)
		g.want(g.wait(g.Instance, run.ID), runlog.OutcomeUnchanged, 1)
		g.back(1, cache.HoldReleased, 2)
	})
}

// The content of a rollback is the newest of the history again, and neither the
// sweep nor the history's limit removes it.
func TestRollbackToTheOldestContent(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) {
		d.Store = cache.NewStore(d.Redis, cache.StoreConfig{History: 3, Clock: d.Clock})
	})
	g.store = g.deps.Store
	for n := range int64(4) {
		g.sync(view(10+int(n)), runlog.OutcomeUpdated, n+1)
	}
	g.back(2, cache.HoldReleased, 5)
	kept, err := g.store.Versions(t.Context(), bistro)
	if err != nil || len(kept) != 3 || kept[0].Version != 5 || kept[1].Version != 4 || kept[2].Version != 3 {
		t.Fatalf("history %+v, %v", kept, err)
	}
	g.advance(48 * time.Hour)
	if _, err := g.store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	content, err := g.store.Content(t.Context(), kept[0].Content, nil)
	if err != nil || content.Products().Len() != 11 {
		t.Errorf("the content under the hold: %v", err)
	}
	g.serves(view(11), cache.HoldReleased)
}

// A rollback that cannot read its version changes nothing served, and its record
// has the reason. The restaurant's last outcome is still that of its last sync.
func TestRollbackThatFails(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.sync(view(10), runlog.OutcomeUpdated, 1)
	g.sync(view(11), runlog.OutcomeUpdated, 2)
	if err := g.client.Del(t.Context(), g.keys.StopValues(bistro, 1)).Err(); err != nil {
		t.Fatal(err)
	}
	run, err := g.Rollback(t.Context(), bistro, runlog.Rollback{Version: 1, Hold: cache.HoldReleased}, "ops", 0)
	if err != nil {
		t.Fatal(err)
	}
	g.want(run, runlog.OutcomeFailed, 2)
	g.serves(view(11), "")
	if g.current().LastOutcome != "updated" {
		t.Errorf("last outcome %q", g.current().LastOutcome)
	}
}
