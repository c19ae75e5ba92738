package sync_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/cache"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/setting"
	"larder.local/internal/silentlog"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

func restaurants(ids ...menu.RestaurantID) []menusync.Restaurant {
	list := make([]menusync.Restaurant, len(ids))
	for i, id := range ids {
		list[i] = menusync.Restaurant{Restaurant: directory.Restaurant{ID: id, Name: string(id), Connection: "main"}, Settings: menu.DefaultSettings()}
	}
	return list
}

func TestReplaceReportsWhatItDid(t *testing.T) {
	t.Parallel()
	g := newFixture(t, "embedded", onDefaultSchedule, func(d *menusync.Deps) { d.Restaurants = restaurants("a", "b", "c") })
	next := restaurants("b", "c", "d")
	next[1].Schedule = "@hourly"
	done, err := g.Replace(next, "@every 2m", nil)
	want := menusync.Replacement{Added: []menu.RestaurantID{"d"}, Changed: []menu.RestaurantID{"c"}, Removed: []menu.RestaurantID{"a"}}
	if diff := cmp.Diff(want, done); err != nil || diff != "" {
		t.Errorf("Replace: %v\n%s", err, diff)
	}
	if again, err := g.Replace(next, "@every 2m", nil); err != nil || len(again.Added)+len(again.Changed)+len(again.Removed) != 0 {
		t.Errorf("the same restaurants again: %+v, %v, want no change", again, err)
	}
	if _, known := g.Plan("a"); known {
		t.Error("a removed restaurant is still known")
	}
	for _, restaurant := range next {
		if plan, known := g.Plan(restaurant.ID); !known || restaurant.Schedule != "" && plan.Schedule != restaurant.Schedule ||
			restaurant.Schedule == "" && plan.Schedule != "@every 2m" {
			t.Errorf("plan of %s: %+v, %v", restaurant.ID, plan, known)
		}
	}
	if other, err := g.Replace(next, "@every 5m", nil); err != nil || len(other.Changed) != 2 {
		t.Errorf("another default schedule: %+v, %v, want b and d changed", other, err)
	}
}

func TestAnInvalidReplaceChangesNothing(t *testing.T) {
	t.Parallel()
	g := newFixture(t, "embedded", func(d *menusync.Deps) { d.Restaurants = restaurants("a") })
	for name, change := range map[string]func([]menusync.Restaurant){
		"restaurants[1].connection": func(r []menusync.Restaurant) { r[1].Connection = "elsewhere" },
		"restaurants[1].schedule":   func(r []menusync.Restaurant) { r[1].Schedule = "now and then" },
		"restaurants[1].time_zone":  func(r []menusync.Restaurant) { r[1].TimeZone = "Atlantis" },
		"restaurants[1].id":         func(r []menusync.Restaurant) { r[1].ID = "b" },
	} {
		next := restaurants("b", "c")
		change(next)
		_, err := g.Replace(next, "@every 2m", nil)
		var fault *setting.Error
		if !errors.As(err, &fault) || fault.Key != name {
			t.Errorf("%s: error %v", name, err)
		}
		_, kept := g.Plan("a")
		if _, added := g.Plan("b"); added || !kept {
			t.Errorf("%s: the restaurants were replaced", name)
		}
	}
}

func TestAddedAndChangedRestaurantsAreSyncedAtOnce(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url, func(d *menusync.Deps) { d.Restaurants = restaurants("a", "b") })
		g.schedule(g.Instance)
		synced := func(ids ...menu.RestaurantID) func() bool {
			return func() bool {
				found, err := g.store.Find(t.Context(), ids)
				return err == nil && !slices.ContainsFunc(ids, func(id menu.RestaurantID) bool { return found[id].Err != nil })
			}
		}
		eventually(t, "the first ones are synced", synced("a", "b"))
		next := restaurants("b", "c")
		next[0].Name = "B by another name"
		if _, err := g.Replace(next, "@every 2m", nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the added one is synced", synced("c"))
		eventually(t, "the changed one is published under its new name", func() bool {
			version, err := g.store.Current(t.Context(), "b")
			return err == nil && version.Name == "B by another name"
		})
		if !synced("a")() {
			t.Error("the removed restaurant's data in Redis is gone")
		}
		if _, err := g.OnceOf(t.Context(), "a", runlog.TriggerCron); !errors.As(err, new(*menusync.UnknownRestaurantError)) {
			t.Errorf("a sync of the removed restaurant: %v", err)
		}
	})
}

func TestCronFollowsReplacements(t *testing.T) {
	t.Parallel()
	g := newFixture(t, "embedded", func(d *menusync.Deps) {
		d.Restaurants, d.Clock = restaurants("a"), time.Now
		d.Restaurants[0].Schedule = "@every 1h"
	})
	g.schedule(g.Instance)
	eventually(t, "the first sync", func() bool { return g.observer.finished() == 1 })
	next := restaurants("a", "b")
	next[0].Schedule, next[1].Schedule = "@every 1s", "@every 1s"
	if _, err := g.Replace(next, "@every 1h", nil); err != nil {
		t.Fatal(err)
	}
	runs := func(id menu.RestaurantID) (n int) {
		g.observer.mu.Lock()
		defer g.observer.mu.Unlock()
		for _, run := range g.observer.runs {
			if run.Restaurant == id && run.Trigger == runlog.TriggerCron {
				n++
			}
		}
		return n
	}
	eventually(t, "both run on their new schedule", func() bool { return runs("a") >= 2 && runs("b") >= 2 })
	if slot, err := g.client.HGet(t.Context(), g.keys.Fence("a"), "slot").Int64(); err != nil || slot == 0 {
		t.Errorf("the last tick that an instance took is %d, %v: another instance would run it again", slot, err)
	}
	if _, err := g.Replace(restaurants("b"), "@every 1s", nil); err != nil {
		t.Fatal(err)
	}
	a, b := runs("a"), runs("b")
	eventually(t, "the remaining restaurant is still synced", func() bool { return runs("b") >= b+2 })
	if now := runs("a"); now > a+1 { // one may have been in progress
		t.Errorf("%d runs of the removed restaurant after its removal", now-a)
	}
}

func TestARunContinuesAfterTheRemovalOfItsRestaurant(t *testing.T) {
	t.Parallel()
	g := newFixture(t, "embedded", func(d *menusync.Deps) { d.Restaurants = restaurants("a") })
	asked, answer := make(chan struct{}), make(chan struct{})
	g.service.set(func(s *service) {
		s.hook = func(context.Context) { close(asked); <-answer }
	})
	ended := make(chan runlog.Run, 1)
	go func() {
		run, _ := g.OnceOf(t.Context(), "a", runlog.TriggerCron)
		ended <- run
	}()
	<-asked
	if _, err := g.Replace(nil, "@every 2m", nil); err != nil {
		t.Fatal(err)
	}
	close(answer)
	g.want(<-ended, runlog.OutcomeUpdated, 1)
}

// Ten thousand restaurants are replaced without blocking.
func BenchmarkReplace(b *testing.B) {
	const n = 10_000
	ids := make([]menu.RestaurantID, n)
	for i := range ids {
		ids[i] = menu.RestaurantID(fmt.Sprintf("restaurant-%05d", i))
	}
	all := restaurants(ids...)
	runner := bareRunner(b, all)
	b.ReportAllocs()
	for b.Loop() {
		all[n/2].Schedule = map[bool]string{true: "@hourly", false: ""}[all[n/2].Schedule == ""]
		if _, err := runner.Replace(all, "@every 2m", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func bareRunner(b *testing.B, all []menusync.Restaurant) *menusync.Instance {
	b.Helper()
	redis, err := redisdb.Open(redisdb.Config{URL: redisdb.Embedded}, silentlog.New())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = redis.Close() })
	runner, err := menusync.NewInstance(menusync.Deps{
		Restaurants: all, Connections: []menusync.Connection{{Name: "main", Source: &service{}}},
		Redis: redis, Store: cache.NewStore(redis, cache.StoreConfig{}),
	})
	if err != nil {
		b.Fatal(err)
	}
	return runner
}
