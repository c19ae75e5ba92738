package sync_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/setting"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

func withDefaultMenu(d *menusync.Deps) { d.Connections[0].DefaultMenu = true }

func TestStartupCatchesUp(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url, withDefaultMenu)
		g.service.reasons = []upstream.Reason{{ID: "1", Reason: "Too late", Type: "simple"}}
		stop := g.schedule(g.Instance)
		own := cache.DefaultMenu("main")
		eventually(t, "everything is synced", func() bool {
			found, err := g.store.Find(t.Context(), []menu.RestaurantID{bistro, own})
			_, _, missing := g.store.Reasons(t.Context(), "main")
			return err == nil && found[bistro].Err == nil && found[own].Err == nil && missing == nil
		})
		stop()
		list, _, err := g.store.Reasons(t.Context(), "main")
		if want := `[{"ID":"1","reason":"Too late","type":"simple","isPossibleDelete":false}]`; err != nil || string(list) != want {
			t.Errorf("reasons %s, %v, want %s", list, err, want)
		}
		if version, err := g.store.Current(t.Context(), own); err != nil || version.Name != "Test" {
			t.Errorf("the connection's own menu: %+v, %v, want it under the view's name", version, err)
		}
		runs, _, err := g.Runs(t.Context(), runlog.Filter{})
		if err != nil || len(runs) != 2 || runs[0].Trigger != runlog.TriggerStartup {
			t.Errorf("runs %+v, %v, want two startup runs", runs, err)
		}
		calls := g.service.count()
		if calls != 2 || !strings.Contains(strings.Join(g.service.asked, ","), string(bistro)) {
			t.Errorf("menu requests for %q, want the restaurant and the connection's own", g.service.asked)
		}

		again := g.another()
		stop = g.schedule(again) // nothing is stale: no syncs
		eventually(t, "the second instance has checked", func() bool { return g.logged("sync.catch_up") == 2 })
		run := g.wait(again, g.start(again, menusync.Request{}).ID)
		stop()
		g.want(run, runlog.OutcomeUnchanged, 1)
		if got := g.service.count(); got != calls+1 {
			t.Errorf("%d menu requests after a second start, want %d: only the manual one", got, calls+1)
		}
	})
}

// logged counts the log lines of an event.
func (g *fixture) logged(event string) int {
	n := 0
	for _, entry := range g.log.AllEntries() {
		if entry.Data["event"] == event {
			n++
		}
	}
	return n
}

func TestAnOutageOfRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	g := newFixture(t, server.URL())
	stop := g.schedule(g.Instance)
	eventually(t, "the first sync", func() bool { return g.observer.finished() == 1 })

	gate := newGate()
	g.service.set(func(s *service) { s.hook = gate.hook })
	manual := g.start(g.Instance, menusync.Request{})
	<-gate.entered
	server.Stop() // while a run is fetching
	close(gate.open)
	eventually(t, "the pause is logged", func() bool { return g.logged("sync.paused") == 1 })
	if _, err := g.OnceOf(t.Context(), bistro, runlog.TriggerCron); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("OnceOf without Redis: %v, want ErrUnavailable", err)
	}
	if _, err := g.Start(t.Context(), bistro, menusync.Request{}); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("Start without Redis: %v, want ErrUnavailable", err)
	}
	if _, _, err := g.Runs(t.Context(), runlog.Filter{}); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("Runs without Redis: %v, want ErrUnavailable", err)
	}
	if _, err := g.FindRun(t.Context(), manual.ID); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("Run without Redis: %v, want ErrUnavailable", err)
	}
	if _, err := g.Findings(t.Context(), bistro); !errors.Is(err, redisdb.ErrUnavailable) {
		t.Errorf("Findings without Redis: %v, want ErrUnavailable", err)
	}

	g.advance(10 * time.Minute) // schedules are missed meanwhile
	g.service.set(func(s *service) { s.hook, s.body = nil, view(12) })
	server.Restart()
	// The lease of the run that lost Redis may still exist; a forced request waits
	// for its end.
	forced := runlog.Run{}
	eventually(t, "requests are accepted again", func() bool {
		var err error
		forced, err = g.Start(t.Context(), bistro, menusync.Request{Force: true})
		return err == nil
	})
	if err := g.client.Del(t.Context(), g.keys.Lease(bistro)).Err(); err != nil {
		t.Fatal(err)
	}
	if run := g.wait(g.Instance, forced.ID); run.Outcome != runlog.OutcomeUpdated || g.current().Counts.Products != 12 {
		t.Errorf("after the return: %+v, want the new menu", run)
	}
	stop()
	if paused, resumed := g.logged("sync.paused"), g.logged("sync.resumed"); paused != 1 || resumed != 1 {
		t.Errorf("%d pauses and %d returns in the log, want one of each", paused, resumed)
	}
	if n := g.logged("sync.catch_up"); n != 2 {
		t.Errorf("%d catch-ups, want one at the start and one at the return", n)
	}
}

func TestSchedulerWaitsForRedisAtItsStart(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	g := newFixture(t, server.URL())
	server.Stop()
	stop := g.schedule(g.Instance)
	eventually(t, "the pause is logged", func() bool { return g.logged("sync.paused") == 1 })
	server.Restart()
	eventually(t, "the first sync", func() bool { return g.observer.finished() == 1 })
	stop()
	g.want(g.observer.runs[0], runlog.OutcomeUpdated, 1)
}

// At the start, a menu that is missing is fetched before one that is old, and none that another instance has synced meanwhile.
func TestMissingMenusAreFetchedBeforeOldOnes(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) { d.Restaurants = restaurants("a", "b", "c") })
	once := func(ids ...menu.RestaurantID) {
		for _, id := range ids {
			if run, err := g.OnceOf(t.Context(), id, runlog.TriggerCron); err != nil || run.Outcome == runlog.OutcomeFailed {
				t.Fatalf("%s: %+v, %v", id, run, err)
			}
		}
	}
	once("a", "b")
	g.advance(48 * time.Hour)
	queued := g.CatchUp(t.Context())
	var order []menu.RestaurantID
	for _, w := range queued {
		order = append(order, w.Target.ID)
	}
	if len(order) != 4 || order[0] != "c" || slices.Index(order, "a") < 0 || slices.Index(order, "b") < 0 {
		t.Fatalf("queued %v, want c first, then a, b and the rejection reasons", order)
	}
	if queued[0].Priority >= queued[1].Priority {
		t.Errorf("the missing menu has the priority %d, another has %d", queued[0].Priority, queued[1].Priority)
	}
	once("a") // as another instance would
	before := g.service.count()
	for _, w := range queued {
		w.Run(t.Context())
	}
	if again := g.Drain(); len(again) != 0 {
		t.Errorf("%d runs must be repeated", len(again))
	}
	if calls := g.service.count() - before; calls != 2 {
		t.Errorf("%d menus were fetched, want those of b and c", calls)
	}
}

func TestShutdownReleasesTheLease(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	gate := newGate()
	g.service.hook = gate.hook
	stop := g.schedule(g.Instance)
	<-gate.entered
	stop()
	if n, err := g.client.Exists(t.Context(), g.keys.Lease(bistro)).Result(); err != nil || n != 0 {
		t.Errorf("the lease exists after the shutdown: %d, %v", n, err)
	}
	runs, _, err := g.Runs(t.Context(), runlog.Filter{})
	if err != nil || len(runs) != 1 || runs[0].Outcome != runlog.OutcomeFailed ||
		!strings.Contains(runs[0].Error, "larder was stopped") {
		t.Errorf("runs %+v, %v, want one that was stopped", runs, err)
	}
}

func TestReasonsKeepTheLastGoodOnes(t *testing.T) {
	t.Parallel()
	errCorrupted := errors.New("corrupted")
	g := newFixture(t, redisdb.Embedded)
	for _, c := range []struct {
		reasons []upstream.Reason
		err     error
		outcome runlog.Outcome
		want    string
	}{
		{nil, nil, runlog.OutcomeUpdated, `[]`},
		{nil, nil, runlog.OutcomeUnchanged, `[]`},
		{[]upstream.Reason{{ID: "9"}}, nil, runlog.OutcomeUpdated, `[{"ID":"9","reason":"","type":"","isPossibleDelete":false}]`},
		{[]upstream.Reason{{ID: "9", Reason: strings.Repeat("x", 64<<10)}}, nil, runlog.OutcomeFailed, `[{"ID":"9","reason":"","type":"","isPossibleDelete":false}]`},
		{nil, errors.New("down"), runlog.OutcomeFailed, `[{"ID":"9","reason":"","type":"","isPossibleDelete":false}]`},
		{[]upstream.Reason{{ID: "9"}}, errCorrupted, runlog.OutcomeUpdated, `[{"ID":"9","reason":"","type":"","isPossibleDelete":false}]`},
	} {
		if errors.Is(c.err, errCorrupted) { // somebody else wrote it
			c.err = nil
			if err := g.redis.Client().HSet(t.Context(), g.store.Keys().Reasons("main"), "at", "x").Err(); err != nil {
				t.Fatal(err)
			}
		}
		g.service.set(func(s *service) { s.reasons, s.err = c.reasons, c.err })
		run, err := g.ReasonsOnce(t.Context(), "main")
		if err != nil || run.Outcome != c.outcome {
			t.Errorf("reasons %v, %v: run %+v, %v, want %s", c.reasons, c.err, run, err, c.outcome)
		}
		list, _, err := g.store.Reasons(t.Context(), "main")
		if err != nil || string(list) != c.want {
			t.Errorf("kept %s, %v, want %s", list, err, c.want)
		}
	}
	if runs, _, err := g.Runs(t.Context(), runlog.Filter{}); err != nil || len(runs) != 0 || g.observer.finished() != 0 {
		t.Errorf("%d runs of restaurants, %v: a sync of reasons is not one", len(runs), err)
	}
}

func TestRestaurantsAndStaleness(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded, withDefaultMenu, onDefaultSchedule)
	own := cache.DefaultMenu("main")
	for _, id := range []menu.RestaurantID{bistro, own} {
		if plan, ok := g.Plan(id); !ok || plan.Schedule != "@every 2m" {
			t.Errorf("plan of %s = %+v, %v, want the default schedule", id, plan, ok)
		}
	}
	for _, c := range []struct {
		id    menu.RestaurantID
		since time.Duration
		want  bool
	}{{bistro, 0, false}, {bistro, 4 * time.Minute, false}, {bistro, 6 * time.Minute, true}, {"closed", 0, true}} {
		v := cache.Version{Restaurant: c.id, CheckedAt: g.clock().Add(-c.since)}
		if got := g.Stale(v); got != c.want {
			t.Errorf("%s checked %v ago: stale = %v, want %v", c.id, c.since, got, c.want)
		}
	}
}

func TestNewRunnerRefuses(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	for key, spoil := range map[string]func(*menusync.Deps){
		"sync.stale_after":          func(d *menusync.Deps) { d.Config.StaleAfter = -1 },
		"restaurants[0].connection": func(d *menusync.Deps) { d.Restaurants[0].Connection = "side" },
		"restaurants[0].schedule":   func(d *menusync.Deps) { d.Restaurants[0].Schedule = "often" },
		"restaurants[0].time_zone":  func(d *menusync.Deps) { d.Restaurants[0].TimeZone = "Mars" },
		"restaurants[1].id":         func(d *menusync.Deps) { d.Restaurants = append(d.Restaurants, d.Restaurants[0]) },
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			deps := g.deps
			deps.Restaurants = slices.Clone(deps.Restaurants)
			spoil(&deps)
			_, err := menusync.NewInstance(deps)
			var refused *setting.Error
			if !errors.As(err, &refused) || refused.Key != key {
				t.Errorf("NewRunner = %v, want an error of %s", err, key)
			}
		})
	}
}

func TestRunReturnsAtOnceWhenItsContextHasEnded(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Scheduler.Run(ctx); err != nil {
		t.Errorf("Run = %v", err)
	}
	if g.service.count() != 0 {
		t.Error("a sync started")
	}
}

// A connection whose service does not respond delays no other connection: those are
// synced on their schedules, and at once on request.
func TestAHangingConnectionDelaysNoOtherConnection(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) {
		d.Config.Concurrency = 4
		d.Clock = time.Now
		d.Connections = append(d.Connections, menusync.Connection{Name: "other", Source: &service{body: view(3)}})
		d.Restaurants = []menusync.Restaurant{{Restaurant: directory.Restaurant{ID: "own", Connection: "other"}, Schedule: "@every 1s", Settings: menu.DefaultSettings()}}
		for i := range 40 {
			d.Restaurants = append(d.Restaurants, menusync.Restaurant{
				Restaurant: directory.Restaurant{ID: menu.RestaurantID(fmt.Sprintf("hung%d", i)), Connection: "main"},
				Schedule:   "@every 1s", Settings: menu.DefaultSettings(),
			})
		}
	})
	g.service.hook = func(ctx context.Context) { <-ctx.Done() }
	g.schedule(g.Instance)
	own := func() (runs int) {
		g.observer.mu.Lock()
		defer g.observer.mu.Unlock()
		for _, run := range g.observer.runs {
			if run.Restaurant == "own" && run.Outcome != runlog.OutcomeFailed {
				runs++
			}
		}
		return runs
	}
	eventually(t, "the hanging service has all calls that it may have", func() bool { return g.service.count() >= 2 })
	before := own()
	eventually(t, "the other connection's restaurant is synced on its schedule", func() bool { return own() >= before+3 })
	run, err := g.Start(t.Context(), "own", menusync.Request{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if run, err = g.Wait(ctx, "own", run.ID); err != nil || run.Outcome != runlog.OutcomeUnchanged {
		t.Errorf("requested: %+v, %v", run, err)
	}
	if n := g.service.count(); n != 2 {
		t.Errorf("%d calls hang, want half of the four workers", n)
	}
}

// Requests that contradict the cached reasons cause one fetch for all of them, at
// most every five seconds. A forced sync fetches each time, a forced batch once for
// all its restaurants (policy S5a).
func TestRefreshReasons_S5a(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) {
		for _, id := range []menu.RestaurantID{"second", "third"} {
			d.Restaurants = append(d.Restaurants, menusync.Restaurant{Restaurant: directory.Restaurant{ID: id, Connection: "main"}, Settings: menu.DefaultSettings()})
		}
	})
	asked := func() int {
		g.service.mu.Lock()
		defer g.service.mu.Unlock()
		return g.service.reasonCalls
	}
	kept := func() string {
		list, _, err := g.store.Reasons(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		return string(list)
	}
	if !g.RefreshReasons(t.Context(), "main") || asked() != 1 || kept() != "[]" {
		t.Errorf("%d calls, reasons %s; want one and []", asked(), kept())
	}
	g.advance(4 * time.Second)
	if g.RefreshReasons(t.Context(), "main") || asked() != 1 {
		t.Errorf("%d requests within 5 s", asked())
	}
	g.advance(2 * time.Second)
	g.service.set(func(s *service) { s.err = errors.New("down") })
	if g.RefreshReasons(t.Context(), "main") || asked() != 2 {
		t.Error("a refresh that failed counts as done")
	}
	answer := make(chan struct{})
	g.service.set(func(s *service) {
		s.err, s.reasons, s.reasonHook = nil, []upstream.Reason{{ID: "9"}}, func() { <-answer }
	})
	g.advance(6 * time.Second)
	refreshed := make(chan bool, 10)
	ask := func() { refreshed <- g.RefreshReasons(t.Context(), "main") }
	go ask()
	eventually(t, "the service has the request", func() bool { return asked() == 3 })
	for range 9 {
		go ask()
	}
	select {
	case <-refreshed:
		t.Error("a client did not wait for the reasons that are being fetched")
		refreshed <- false
	case <-time.After(100 * time.Millisecond): //testwaits:allow time to continue without them, which the test does not expect
	}
	close(answer)
	for range 10 {
		<-refreshed
	}
	g.service.set(func(s *service) { s.reasonHook = nil })
	if asked() != 3 || !strings.Contains(kept(), `"ID":"9"`) {
		t.Errorf("%d calls for ten clients at the same time, want one more; reasons %s", asked()-2, kept())
	}
	if g.RefreshReasons(t.Context(), "other") {
		t.Error("reasons of an unknown connection")
	}

	defer g.schedule(g.Instance)()
	for force, calls := range map[bool]int{false: 0, true: 1} {
		before := asked()
		run, err := g.Start(t.Context(), bistro, menusync.Request{Force: force})
		if err == nil {
			run, err = g.Wait(t.Context(), bistro, run.ID)
		}
		if err != nil || run.Outcome == runlog.OutcomeFailed || asked() != before+calls {
			t.Errorf("force %v: run %+v, %v, %d requests; want %d", force, run, err, asked()-before, calls)
		}
	}
	before := asked()
	batch, err := g.StartBatch(t.Context(), runlog.Batch{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the batch is finished", func() bool {
		b, err := g.Batch(t.Context(), batch.ID)
		return err == nil && b.Done == b.Total
	})
	if got := asked() - before; got != 1 {
		t.Errorf("a forced batch sent %d requests, want one", got)
	}
}

// After 404 twice in a row there are no rejection reasons; a 404 between other answers changes nothing (policy W17).
func TestReasonsAreTurnedOffBy404Twice(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	gone := &upstream.Error{Operation: upstream.OpReasons, Status: http.StatusNotFound}
	broken := &upstream.Error{Operation: upstream.OpReasons, Status: http.StatusInternalServerError}
	notAsked := &upstream.Error{Operation: upstream.OpReasons, Err: upstream.ErrBusy}
	const listed, none = `[{"ID":"9","reason":"","type":"","isPossibleDelete":false}]`, `[]`
	for i, c := range []struct {
		err     error
		outcome runlog.Outcome
		want    string
	}{
		{nil, runlog.OutcomeUpdated, listed},
		{gone, runlog.OutcomeFailed, listed},
		{nil, runlog.OutcomeUnchanged, listed},
		{gone, runlog.OutcomeFailed, listed},
		{broken, runlog.OutcomeFailed, listed},
		{gone, runlog.OutcomeFailed, listed},
		{errors.New("down"), runlog.OutcomeFailed, listed},
		{gone, runlog.OutcomeFailed, listed},
		{notAsked, runlog.OutcomeFailed, listed},
		{gone, runlog.OutcomeUpdated, none},
		{gone, runlog.OutcomeUnchanged, none},
		{broken, runlog.OutcomeFailed, none},
		{nil, runlog.OutcomeUpdated, listed},
		{gone, runlog.OutcomeFailed, listed},
	} {
		g.service.set(func(s *service) { s.reasons, s.err = []upstream.Reason{{ID: "9"}}, c.err })
		if c.err != nil {
			g.service.set(func(s *service) { s.reasons = nil })
		}
		run, err := g.ReasonsOnce(t.Context(), "main")
		if err != nil || run.Outcome != c.outcome {
			t.Errorf("%d: run %+v, %v, want %s", i, run, err, c.outcome)
		}
		if list, _, err := g.store.Reasons(t.Context(), "main"); err != nil || string(list) != c.want {
			t.Errorf("%d: kept %s, %v, want %s", i, list, err, c.want)
		}
	}
}
