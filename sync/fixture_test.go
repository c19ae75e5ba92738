package sync_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	stdsync "sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/cache"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/leaktest"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{}) // it logs every refused connection in tests that stop a server
	leaktest.Main(servers.Main(m))
}

// servers are the servers of the topologies that take seconds to start.
var servers redistest.Shared // for all tests of the package

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// bistro is the restaurant of most tests.
const bistro menu.RestaurantID = "76439fb3-c0c4-42ca-a269-64f031a6a33b"

// service is an ordering service in memory.
type service struct {
	mu      stdsync.Mutex
	body    []byte
	etag    string // sent with the menu; a request with it gets 304
	err     error
	reasons []upstream.Reason

	reasonCalls int
	reasonHook  func()                    // called within each request for reasons
	hook        func(ctx context.Context) // called within each menu request
	calls       int
	asked       []string             // restaurants
	seen        []upstream.Validator // validators
}

var _ menusync.Source = (*service)(nil)

func (s *service) MenuView(ctx context.Context, restaurant string, seen upstream.Validator, most int64) (upstream.Menu, error) {
	s.mu.Lock()
	s.calls++
	s.asked = append(s.asked, restaurant)
	s.seen = append(s.seen, seen)
	body, etag, err, hook := s.body, s.etag, s.err, s.hook
	s.mu.Unlock()
	if hook != nil {
		hook(ctx)
	}
	if ctx.Err() != nil {
		return upstream.Menu{}, &upstream.Error{Operation: upstream.OpMenu, Err: ctx.Err()}
	}
	if err != nil {
		return upstream.Menu{}, err
	}
	if etag != "" && seen.ETag == etag {
		return upstream.Menu{NotModified: true, Validator: seen}, nil
	}
	if int64(len(body)) > most {
		return upstream.Menu{}, &upstream.Error{Operation: upstream.OpMenu, Status: http.StatusOK, Err: upstream.ErrTooLarge}
	}
	return upstream.Menu{Body: body, Validator: upstream.Validator{ETag: etag}}, nil
}

func (*service) AskTokenAgain() time.Duration { return 0 }

func (s *service) RejectionReasons(context.Context) ([]upstream.Reason, error) {
	s.mu.Lock()
	s.reasonCalls++
	reasons, err, hook := s.reasons, s.err, s.reasonHook
	s.mu.Unlock()
	if hook != nil {
		hook()
	}
	return reasons, err
}

// set changes the service under its lock.
func (s *service) set(change func(*service)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// view returns a menu view with the given number of products at 100 each.
func view(products int) []byte { return viewWith(products, 100, "") }

// viewWith also sets the price and a stop list of the first product.
func viewWith(products, firstPrice int, stopped string) []byte {
	var b strings.Builder
	b.WriteString(`{"result":{"name":"Test","categories":[{"id":"c1","name":"All"}],"products":[`)
	for i := range products {
		price, stop := 100, "[]"
		if i == 0 {
			price = firstPrice
			if stopped != "" {
				stop = fmt.Sprintf("[%q]", stopped)
			}
		} else {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"p%d","externalId":"x%d","categoryId":"c1","name":"Dish %d","price":%d,"isContainInStopList":%s}`,
			i, i, i, price, stop)
	}
	b.WriteString(`],"ingredientsSchemes":[],"ingredientsGroups":[],"ingredients":[]}}`)
	return []byte(b.String())
}

// fakeReplica records the installed versions.
type fakeReplica struct {
	mu   stdsync.Mutex
	held map[menu.RestaurantID]*cache.Snapshot
}

func (r *fakeReplica) Cached(id menu.RestaurantID) (*cache.Snapshot, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	snapshot, ok := r.held[id]
	return snapshot, ok
}

func (r *fakeReplica) Install(snapshot *cache.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == nil {
		r.held = map[menu.RestaurantID]*cache.Snapshot{}
	}
	r.held[snapshot.Restaurant] = snapshot
}

// observer counts runs and skipped ticks.
type observer struct {
	mu      stdsync.Mutex
	runs    []runlog.Run
	skipped map[menusync.SkipReason]int
}

func (o *observer) RunFinished(run runlog.Run) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runs = append(o.runs, run)
}

func (o *observer) TickSkipped(_ menu.RestaurantID, reason menusync.SkipReason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.skipped == nil {
		o.skipped = map[menusync.SkipReason]int{}
	}
	o.skipped[reason]++
}

func (o *observer) finished() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.runs)
}

func (o *observer) skips(reason menusync.SkipReason) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.skipped[reason]
}

// fixture is a Runner with its dependencies.
type fixture struct {
	*menusync.Instance
	t        *testing.T
	deps     menusync.Deps
	service  *service
	redis    *redisdb.DB
	keys     cache.Keys
	client   redis.UniversalClient
	store    *cache.Store
	replica  *fakeReplica
	observer *observer
	log      *logtest.Hook
	mu       stdsync.Mutex
	now      time.Time
}

// onEveryRedis runs a test on the embedded Redis and on a real one: alone, with
// Sentinels, and in a cluster.
func onEveryRedis(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, redisdb.Embedded)
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		test(t, redistest.Start(t).URL())
	})
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		test(t, servers.Sentinel(t).URL())
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		test(t, servers.Cluster(t).URL())
	})
}

// newFixture makes a fixture with one restaurant; change may alter its
// dependencies.
func newFixture(t *testing.T, url string, change ...func(*menusync.Deps)) *fixture {
	t.Helper()
	logger, lines := logtest.NewNullLogger()
	logger.SetLevel(logrus.DebugLevel)
	opened, err := redisdb.Open(redisdb.Config{URL: url, Prefix: rand.Text()}, logger)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	g := &fixture{
		t:        t,
		service:  &service{body: view(10)},
		redis:    opened,
		keys:     cache.NewKeys(opened.Prefix()),
		client:   opened.Client(),
		replica:  &fakeReplica{},
		observer: &observer{},
		log:      lines,
		now:      time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	g.store = cache.NewStore(opened, cache.StoreConfig{Clock: g.clock})
	g.deps = menusync.Deps{
		// Cron uses the real clock: a tick during a test is a run that the test did
		// not request.
		Config: menusync.Config{Schedule: "@every 24h"},
		Restaurants: []menusync.Restaurant{
			{Restaurant: directory.Restaurant{ID: bistro, Name: "Larder Bistro", Connection: "main"}, Settings: menu.DefaultSettings()},
		},
		Connections: []menusync.Connection{{Name: "main", Source: g.service, Settings: menu.DefaultSettings()}},
		Redis:       opened,
		Store:       g.store,
		Replica:     g.replica,
		Observer:    g.observer,
		Clock:       g.clock,
		Log:         logger,
	}
	for _, f := range change {
		f(&g.deps)
	}
	g.Instance = g.another()
	return g
}

// onDefaultSchedule is for tests of schedules, in which cron does not run.
func onDefaultSchedule(d *menusync.Deps) { d.Config.Schedule = menusync.DefaultSchedule }

// another returns a second instance on the same Redis and service; change may alter
// its dependencies.
func (g *fixture) another(change ...func(*menusync.Deps)) *menusync.Instance {
	g.t.Helper()
	deps := g.deps
	for _, f := range change {
		f(&deps)
	}
	runner, err := menusync.NewInstance(deps)
	if err != nil {
		g.t.Fatal(err)
	}
	return runner
}

func (g *fixture) clock() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

func (g *fixture) advance(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = g.now.Add(d)
}

// once returns a run that may only fail because of the service.
func (g *fixture) once() runlog.Run {
	g.t.Helper()
	run, err := g.OnceOf(g.t.Context(), bistro, runlog.TriggerCron)
	if err != nil {
		g.t.Fatalf("OnceOf: %v", err)
	}
	return run
}

// want fails unless the run has this outcome.
func (g *fixture) want(run runlog.Run, outcome runlog.Outcome, version int64) {
	g.t.Helper()
	if !run.Finished() || run.Outcome != outcome || run.Version != version {
		g.t.Fatalf("run ended %s %q at version %d (%s), want %q at version %d",
			run.State, run.Outcome, run.Version, run.Error, outcome, version)
	}
}

// current returns the version in Redis.
func (g *fixture) current() cache.Version {
	g.t.Helper()
	version, err := g.store.Current(g.t.Context(), bistro)
	if err != nil {
		g.t.Fatalf("Current: %v", err)
	}
	return version
}

// schedule runs a Scheduler over r until the test ends or stop is called.
func (g *fixture) schedule(r *menusync.Instance) (stop func()) {
	g.t.Helper()
	ctx, cancel := context.WithCancel(g.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Scheduler.Run(ctx) }()
	var once stdsync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				g.t.Errorf("Scheduler.Run: %v", err)
			}
		})
	}
	g.t.Cleanup(stop)
	return stop
}

// eventually polls until ok returns true, for at most a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-limit.C:
			t.Fatalf("not within a minute: %s", what)
		case <-ticker.C:
		}
	}
}
