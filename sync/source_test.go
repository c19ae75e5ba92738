package sync_test

import (
	"context"
	"errors"
	"testing"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// ofSource makes an instance that uses a service under a source.
func ofSource(g *fixture, source string, s *service) func(*menusync.Deps) {
	return func(d *menusync.Deps) {
		d.Store = cache.NewStore(g.redis, cache.StoreConfig{Clock: g.clock, Sources: func(menu.RestaurantID) []string { return []string{source} }})
		d.Replica = &fakeReplica{}
		d.Connections = []menusync.Connection{{Name: "main", Source: s, SourceName: source, Settings: menu.DefaultSettings()}}
	}
}

func runOn(t *testing.T, r *menusync.Instance) runlog.Run {
	t.Helper()
	run, err := r.OnceOf(t.Context(), bistro, runlog.TriggerCron)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Policy O16: versions, validators, leases, history and holds know their source.
func TestInstancesWithDifferentSources(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	services := []*service{{body: view(10), etag: `"1"`}, {body: view(4), etag: `"1"`}}
	a, b := g.another(ofSource(g, "a c", services[0])), g.another(ofSource(g, "b c", services[1]))
	published := func(want string) {
		t.Helper()
		if got := g.client.HGet(t.Context(), g.keys.Published(bistro), "source").Val(); got != want {
			t.Errorf("current is of %q, want %q", got, want)
		}
	}
	g.want(runOn(t, a), runlog.OutcomeUpdated, 1)
	published("a c")
	// The guard compares with no menu of another source, and no validator of it is sent.
	g.want(runOn(t, b), runlog.OutcomeUpdated, 2)
	published("b c")
	if seen := services[1].seen; seen[0] != (upstream.Validator{}) {
		t.Errorf("the new service got %+v", seen[0])
	}
	g.want(runOn(t, a), runlog.OutcomeUnchanged, 1)
	g.want(runOn(t, b), runlog.OutcomeUnchanged, 2)
	if seen := services[0].seen; seen[1].ETag != `"1"` {
		t.Errorf("the old service got %+v in the second run", seen[1])
	}

	// A run does not wait for one of another source.
	services[0].hook = func(context.Context) { g.want(runOn(t, b), runlog.OutcomeUnchanged, 2) } //nolint:contextcheck // its run has its own
	services[0].body, services[0].etag = view(9), `"2"`
	g.want(runOn(t, a), runlog.OutcomeUpdated, 3)
	services[0].hook = nil
	published("a c")
	g.want(runOn(t, b), runlog.OutcomeUnchanged, 2)

	// A rollback and its hold are of one source, and its history has no version of the other.
	to := runlog.Rollback{Version: 1, Hold: cache.HoldReleased}
	if _, err := b.Rollback(t.Context(), bistro, to, "ops", 0); !errors.As(err, new(*menusync.UnknownVersionError)) {
		t.Errorf("a rollback to a version of another source: %v", err)
	}
	if run, err := a.Rollback(t.Context(), bistro, to, "ops", 0); err != nil || run.Version != 4 {
		t.Errorf("a rollback: version %d, %v", run.Version, err)
	}
	services[1].body, services[1].etag = view(5), `"2"`
	g.want(runOn(t, b), runlog.OutcomeUpdated, 5)
	g.want(runOn(t, a), runlog.OutcomeUnchanged, 4)
}

// readLater returns a runner that publishes a version because of its settings. The time at which a configuration was read
// is known to some milliseconds, so the first runners may count as earlier than the one that published last.
func (g *fixture) readLater(change func(*menusync.Deps), version int64) *menusync.Instance {
	g.t.Helper()
	for range 1000 {
		runner := g.another(change)
		if run := runOn(g.t, runner); run.Outcome != runlog.OutcomeUnchanged {
			g.want(run, runlog.OutcomeUpdated, version)
			return runner
		}
	}
	g.t.Fatalf("no runner publishes version %d", version)
	return nil
}

// Policy S9: an unchanged menu is published because of other settings only if they were read later; a changed one is
// published with the settings that were read last.
func TestSettingsReadLaterDecide(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	with := func(none bool) func(*menusync.Deps) {
		return func(d *menusync.Deps) {
			d.Replica = &fakeReplica{}
			d.Restaurants = append([]menusync.Restaurant(nil), d.Restaurants...)
			d.Restaurants[0].Settings.MaxZeroNone = none
		}
	}
	first := g.another(with(false))
	g.want(runOn(t, first), runlog.OutcomeUpdated, 1)
	if g.current().ReadAt.IsZero() {
		t.Error("the version does not record when its configuration was read")
	}
	second := g.readLater(with(true), 2)
	for range 3 {
		g.want(runOn(t, first), runlog.OutcomeUnchanged, 2)
		g.want(runOn(t, second), runlog.OutcomeUnchanged, 2)
	}
	g.service.body = view(9)
	g.want(runOn(t, first), runlog.OutcomeUpdated, 3)
	g.want(runOn(t, second), runlog.OutcomeUnchanged, 3)
	if settings := g.current().Settings; settings == nil || !settings.MaxZeroNone {
		t.Errorf("the changed menu has the settings %+v, want those of the later configuration", settings)
	}
	g.readLater(with(false), 4) // a restart of the first
	g.want(runOn(t, second), runlog.OutcomeUnchanged, 4)
}
