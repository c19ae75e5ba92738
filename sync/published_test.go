package sync_test

import (
	"strings"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/cache/encoded"
	"larder.local/cache/replica"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/viewtest"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// asPublished returns the published view that a new replica serves.
func (g *fixture) asPublished(id menu.RestaurantID) string {
	g.t.Helper()
	catalogues := replica.New(g.store, replica.Config{})
	snapshot, err := catalogues.Catalogue(g.t.Context(), id)
	if err != nil {
		g.t.Fatal(err)
	}
	body, err := catalogues.Published(g.t.Context(), snapshot, encoded.Identity)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(body.Body)
}

// wantPublished fails unless the served published view equals raw.
func (g *fixture) wantPublished(id menu.RestaurantID, raw []byte) {
	g.t.Helper()
	want, err := viewtest.Parse(raw)
	if err != nil {
		g.t.Fatal(err)
	}
	served := g.asPublished(id)
	got, err := viewtest.Parse([]byte(served))
	if err != nil || got.Meaning() != want.Meaning() {
		g.t.Fatalf("served as published (%v):\n got %s\nwant %s", err, served, raw)
	}
}

func TestThePublishedViewIsServed(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		stop := func(id string) []byte { return viewWith(10, 100, id) }
		spelled := []byte(strings.ReplaceAll(string(view(10)), `"id"`, `"ID"`))
		for _, step := range []struct {
			name    string
			body    []byte
			outcome runlog.Outcome
			version int64
			served  []byte
		}{
			{"the first menu", view(10), runlog.OutcomeUpdated, 1, view(10)},
			{"an unknown form of a known field", []byte(strings.Replace(string(view(10)), `{"name":"Test",`, `{ "haveChanges" : 1.0, "name":"Test",`, 1)), runlog.OutcomeUpdated, 2, nil},
			{"other order and white space", []byte(strings.Replace(string(view(10)), `{"name":"Test",`, `{"name":"Test", "haveChanges":1.0,`, 1)), runlog.OutcomeUnchanged, 2, nil},
			{"as before", view(10), runlog.OutcomeUpdated, 3, view(10)},
			{"another restaurant's stop list", stop("other"), runlog.OutcomeUnchanged, 3, stop("other")},
			{"the same bytes again", stop("other"), runlog.OutcomeUnchanged, 3, stop("other")},
			{"its own stop list", stop(string(bistro)), runlog.OutcomeUpdated, 4, stop(string(bistro))},
			{"a menu that is quarantined", view(2), runlog.OutcomeQuarantined, 4, stop(string(bistro))},
			{"another spelling", spelled, runlog.OutcomeUpdated, 5, spelled},
			{"no menu at all", []byte("{"), runlog.OutcomeFailed, 5, spelled},
		} {
			g.service.set(func(s *service) { s.body = step.body })
			g.advance(2 * time.Minute)
			run := g.once()
			if run.Outcome != step.outcome || run.Version != step.version {
				t.Fatalf("%s: %q at version %d (%s), want %q at %d", step.name, run.Outcome, run.Version, run.Error, step.outcome, step.version)
			}
			if step.served == nil {
				step.served = step.body
			}
			g.wantPublished(bistro, step.served)
			if held, _ := g.replica.Cached(bistro); held.Published != g.current().Published {
				t.Errorf("%s: the replica holds %s, Redis %s", step.name, held.Published, g.current().Published)
			}
		}
		if run := g.once(); run.Steps.Decode == 0 { // "{" again
			t.Error("a body that failed to decode was treated as a known one")
		}
		g.service.set(func(s *service) { s.body = spelled })
		if run := g.once(); run.Outcome != runlog.OutcomeUnchanged || run.Steps.Decode > 0 {
			t.Errorf("a body seen before: %q, decoded in %v ms", run.Outcome, run.Steps.Decode)
		}
	})
}

// The restaurants of a chain differ only in stop lists. They share one content with
// the default menu. Each restaurant's view is served as it was published.
func TestAChainIsServedAsPublished(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url, withDefaultMenu, func(d *menusync.Deps) {
			d.Restaurants = append(d.Restaurants, menusync.Restaurant{Restaurant: directory.Restaurant{ID: "grill", Connection: "main"}, Settings: menu.DefaultSettings()})
		})
		contents := map[string]bool{}
		ids := []menu.RestaurantID{bistro, "grill", cache.DefaultMenu("main")}
		for _, id := range ids {
			g.service.set(func(s *service) { s.body = viewWith(10, 100, string(id)) })
			run, err := g.OnceOf(t.Context(), id, runlog.TriggerCron)
			if err != nil {
				t.Fatal(err)
			}
			g.want(run, runlog.OutcomeUpdated, 1)
			version, err := g.store.Current(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			contents[version.Content] = true
		}
		for _, id := range ids {
			g.wantPublished(id, viewWith(10, 100, string(id)))
		}
		if len(contents) != 1 {
			t.Errorf("%d contents, want 1", len(contents))
		}
	})
}

// Another publisher publishes while a run has only other stop lists to save. The run
// reads the current version again and publishes a newer one.
func TestAStopListUpdateIsRepeatedAfterAnotherPublish(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	g.service.set(func(s *service) { s.body = viewWith(10, 100, "other") })
	g.deps.Replica = &peekHook{fakeReplica: g.replica, hook: func() { g.publish(t.Context(), 2, 1, view(11)) }}
	run, err := g.another().OnceOf(t.Context(), bistro, runlog.TriggerCron)
	if err != nil {
		t.Fatal(err)
	}
	g.want(run, runlog.OutcomeUpdated, 3)
	g.wantPublished(bistro, viewWith(10, 100, "other"))
}

func TestALaterLeaseFencesOffAStopListUpdate(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	g.service.set(func(s *service) { s.body = viewWith(10, 100, "other") })
	g.deps.Replica = &peekHook{fakeReplica: g.replica, hook: func() {
		if err := g.client.HIncrBy(t.Context(), g.keys.Fence(bistro), "fence", 1).Err(); err != nil {
			t.Error(err)
		}
	}}
	run, err := g.another().OnceOf(t.Context(), bistro, runlog.TriggerCron)
	if err != nil {
		t.Fatal(err)
	}
	g.want(run, runlog.OutcomeFailed, 1)
	if want := "another instance has taken over this restaurant"; !strings.Contains(run.Error, want) {
		t.Errorf("error %q does not contain %q", run.Error, want)
	}
	g.wantPublished(bistro, view(10))
}

// A catalogue in an older format counts as missing, and is fetched at once.
func TestAnOlderFormIsFetchedAgain(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.want(g.once(), runlog.OutcomeUpdated, 1)
		if err := g.client.HDel(t.Context(), g.keys.Current(bistro), "form").Err(); err != nil {
			t.Fatal(err)
		}
		other := g.another(func(d *menusync.Deps) { d.Replica = &fakeReplica{} }) // a new process
		g.schedule(other)
		eventually(t, "the next version is published", func() bool {
			version, err := g.store.Current(t.Context(), bistro)
			return err == nil && version.Version == 2
		})
		g.wantPublished(bistro, view(10))
	})
}
