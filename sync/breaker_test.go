package sync_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	stdsync "sync"
	"testing"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// menuService is an ordering service over HTTP that fails for some restaurants.
type menuService struct {
	mu    stdsync.Mutex
	fails map[string]int // the status for a restaurant; "" for all others
	asked []string
}

func (s *menuService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/connect/token" {
		_, _ = w.Write([]byte(`{"access_token":"abc","expires_in":3600}`))
		return
	}
	restaurant := r.URL.Query().Get("restaurantId")
	s.mu.Lock()
	status, own := s.fails[restaurant]
	if !own {
		status = s.fails[""]
	}
	if n := len(s.asked); n == 0 || s.asked[n-1] != restaurant { // the attempts of one read are one
		s.asked = append(s.asked, restaurant)
	}
	s.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	_, _ = w.Write(view(10))
}

// fail sets the statuses of failing restaurants; "" means all others.
func (s *menuService) fail(fails map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

// reads returns the restaurants that were read since the last call.
func (s *menuService) reads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.asked = nil }()
	return s.asked
}

// breakerFixture is a fixture with restaurants r000, r001, … of a service over HTTP.
type breakerFixture struct {
	*fixture
	menus *menuService
	ids   []menu.RestaurantID
}

func newBreakerFixture(t *testing.T, count int) *breakerFixture {
	t.Helper()
	b := &breakerFixture{menus: &menuService{}}
	server := httptest.NewServer(b.menus)
	t.Cleanup(server.Close)
	client, err := upstream.New(upstream.Config{
		Name: "main", BaseURL: server.URL, AuthURL: server.URL, ClientID: "demo", ClientSecret: "demo-secret",
	}, upstream.Deps{Jitter: func(time.Duration) time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	for i := range count {
		b.ids = append(b.ids, menu.RestaurantID(fmt.Sprintf("r%03d", i)))
	}
	b.fixture = newFixture(t, "embedded", func(d *menusync.Deps) {
		d.Restaurants, d.Connections[0].Source = restaurants(b.ids...), client
	})
	return b
}

// run runs restaurants in turn and returns the outcomes.
func (b *breakerFixture) run(why runlog.Trigger, ids ...menu.RestaurantID) (outcomes []runlog.Outcome) {
	b.t.Helper()
	for _, id := range ids {
		run, err := b.OnceOf(b.t.Context(), id, why)
		if err != nil {
			b.t.Fatal(err)
		}
		outcomes = append(outcomes, run.Outcome)
	}
	return outcomes
}

// want checks the outcomes and the restaurants that were read.
func (b *breakerFixture) want(what string, got []runlog.Outcome, want string, reads ...string) {
	b.t.Helper()
	texts := make([]string, len(got))
	for i := range got {
		texts[i] = string(got[i])
	}
	if strings.Join(texts, " ") != want {
		b.t.Errorf("%s: %v, want %s", what, got, want)
	}
	if asked := b.menus.reads(); !slices.Equal(asked, reads) {
		b.t.Errorf("%s: %v were read, want %v", what, asked, reads)
	}
}

func (b *breakerFixture) lastOutcome(id menu.RestaurantID) string {
	b.t.Helper()
	version, err := b.store.Current(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return version.LastOutcome
}

// Three restaurants whose last run had succeeded open the breaker. Runs that do not ask are waiting, not failed, and leave
// the last good menu. A restaurant whose last run failed stays failed. One good read closes the breaker. Then the same
// restaurants do not open it again, however often they fail.
func TestThreeRestaurantsOpenTheBreaker(t *testing.T) {
	t.Parallel()
	b := newBreakerFixture(t, 8)
	b.run(runlog.TriggerCron, b.ids...)
	b.menus.reads()
	b.menus.fail(map[string]int{"r000": 500, "r001": 502, "r002": 503})

	b.want("a success between", b.run(runlog.TriggerCron, "r000", "r001", "r003"), "failed failed unchanged", "r000", "r001", "r003")
	if got := b.BreakerState("main"); got != "closed" {
		t.Fatalf("the breaker is %s after two failures, want closed", got)
	}
	b.menus.fail(map[string]int{"r000": 500, "r002": 503, "r004": 500, "r005": 500})
	b.want("three that had succeeded", b.run(runlog.TriggerCron, "r000", "r002", "r004", "r005"),
		"failed failed failed failed", "r000", "r002", "r004", "r005")
	away, back := b.logged("upstream.unreachable"), b.logged("upstream.recovered")
	b.want("while it is open", b.run(runlog.TriggerCron, "r003", "r006", "r000"), "waiting waiting waiting")
	b.want("a manual run", b.run(runlog.TriggerManual, "r006"), "waiting")
	if b.logged("upstream.unreachable") != away || b.logged("upstream.recovered") != back {
		t.Error("runs that did not ask are logged as a change of the service")
	}
	if open := b.BreakerState("main"); open != "open" {
		t.Errorf("the breaker is %s, want open", open)
	}
	runs, _, err := b.Runs(t.Context(), runlog.Filter{Restaurant: "r003", Limit: 1})
	if err != nil || len(runs) != 1 || runs[0].Outcome != runlog.OutcomeWaiting || runs[0].Version != 1 ||
		!strings.Contains(runs[0].Error, "waiting: recent requests to the ordering service failed (circuit breaker open); next attempt in 1") ||
		!strings.HasSuffix(runs[0].Error, "; the last good menu is still served") {
		t.Errorf("the run of a waiting restaurant: %+v, %v", runs, err)
	}
	if waits, failed := b.lastOutcome("r003"), b.lastOutcome("r000"); waits != "waiting" || failed != "failed" {
		t.Errorf("last outcomes %q and %q, want waiting and failed", waits, failed)
	}

	b.advance(30 * time.Second)
	chosen := b.StartTrials("main")
	if len(chosen) != 3 || slices.Contains(chosen, "r000") {
		t.Fatalf("the trial reads %v, want three that last succeeded", chosen)
	}
	b.want("the trial", b.run(runlog.TriggerCron, chosen[0]), "unchanged", string(chosen[0]))
	for range 3 {
		b.advance(time.Minute)
		b.want("restaurants that go on failing", b.run(runlog.TriggerCron, "r000", "r002", "r004", "r005"),
			"failed failed failed failed", "r000", "r002", "r004", "r005")
	}
	b.want("the others", b.run(runlog.TriggerCron, "r003", "r006", "r007"), "unchanged unchanged unchanged", "r003", "r006", "r007")
}

// All restaurants open the breaker, also if none had succeeded. Each trial reads up to three: those first that last
// succeeded, and those that no trial has read. A restaurant that is not part of a trial waits.
func TestTrialsReadThreeRestaurants(t *testing.T) {
	t.Parallel()
	b := newBreakerFixture(t, 8)
	b.menus.fail(map[string]int{"r006": 500, "r007": 500})
	for _, id := range b.ids { // r005 is the last success
		b.advance(time.Second)
		b.run(runlog.TriggerCron, id)
	}
	b.menus.fail(map[string]int{"": 500})
	b.menus.reads()
	b.want("an outage", b.run(runlog.TriggerCron, "r000", "r001", "r002"), "failed failed failed", "r000", "r001", "r002")
	read := map[menu.RestaurantID]int{}
	for trial := range 4 {
		b.advance(20 * time.Second)
		chosen := b.StartTrials("main")
		if len(chosen) > 3 || trial == 0 && !slices.Equal(chosen, []menu.RestaurantID{"r003", "r004", "r005"}) {
			t.Errorf("trial %d reads %v; want three, first r003, r004 and r005", trial, chosen)
		}
		if state := b.BreakerState("main"); state != "half-open" {
			t.Errorf("the breaker is %s during a trial", state)
		}
		for _, id := range b.ids {
			outcome := b.run(runlog.TriggerCron, id)[0]
			if want := map[bool]runlog.Outcome{true: runlog.OutcomeFailed, false: runlog.OutcomeWaiting}[slices.Contains(chosen, id)]; outcome != want {
				t.Errorf("trial %d of %v: %s is %s, want %s", trial, chosen, id, outcome, want)
			}
		}
		for _, id := range b.menus.reads() {
			read[menu.RestaurantID(id)]++
		}
		if again := b.StartTrials("main"); len(again) > 0 {
			t.Errorf("another trial of %v before 15 s have passed", again)
		}
	}
	if len(read) != 8 {
		t.Errorf("four trials have read %v, want all restaurants", read)
	}
	b.menus.fail(nil)
	b.advance(20 * time.Second)
	b.run(runlog.TriggerCron, b.StartTrials("main")[0])
	if state := b.BreakerState("main"); state != "closed" {
		t.Errorf("the breaker is %s after a success", state)
	}
}

// The only restaurant of a connection, and a connection without any menu, open the breaker with all their restaurants.
func TestAllRestaurantsOpenTheBreaker(t *testing.T) {
	t.Parallel()
	b := newBreakerFixture(t, 2)
	b.menus.fail(map[string]int{"": 500})
	b.want("two without a menu", b.run(runlog.TriggerCron, "r000", "r001", "r000"), "failed failed waiting", "r000", "r001")
}

// A restaurant that goes on failing waits by itself between its scheduled runs. A manual run asks.
func TestAFailingRestaurantWaitsByItself(t *testing.T) {
	t.Parallel()
	b := newBreakerFixture(t, 3)
	b.menus.fail(map[string]int{"r000": 500})
	b.want("once", b.run(runlog.TriggerCron, "r000", "r001"), "failed updated", "r000", "r001")
	b.want("again", b.run(runlog.TriggerCron, "r000", "r001", "r000", "r001"), "failed unchanged failed unchanged", "r000", "r001", "r000", "r001")
	b.advance(10 * time.Second)
	b.want("within 15 s", b.run(runlog.TriggerCron, "r000", "r001"), "waiting unchanged", "r001")
	b.want("a manual run", b.run(runlog.TriggerManual, "r000", "r001"), "failed unchanged", "r000", "r001")
	b.advance(16 * time.Second)
	b.menus.fail(nil)
	b.want("later", b.run(runlog.TriggerCron, "r000", "r000"), "updated unchanged", "r000")
}

// A restaurant that the service does not know, and a run without a slot or without a token, are no failures of the service.
func TestOnlyFaultsOfTheServiceOpenTheBreaker(t *testing.T) {
	t.Parallel()
	b := newBreakerFixture(t, 1)
	b.menus.fail(map[string]int{"": http.StatusNotFound})
	b.want("unknown", b.run(runlog.TriggerCron, "r000", "r000"), "failed failed", "r000")
	g := newFixture(t, "embedded")
	for _, err := range []error{
		&upstream.Error{Operation: upstream.OpMenu, Err: upstream.ErrBusy},
		&upstream.Error{Operation: upstream.OpToken, Status: http.StatusUnauthorized},
		errors.New("no memory"),
	} {
		g.service.set(func(s *service) { s.err = err })
		if g.once(); g.BreakerState("main") != "closed" {
			t.Errorf("%v opens the breaker", err)
		}
	}
}
