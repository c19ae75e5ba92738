package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"golang.org/x/sync/errgroup"

	"larder/cache"
	"larder/cache/replica"
	"larder/httpapi"
	"larder/httpapi/auth"
	"larder/httpapi/metrics"
	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/upstream"
	"larder/ordering"
	"larder/ordering/journal"
	"larder/ordering/validate"
	menusync "larder/sync"
	"larder/sync/runlog"
)

// The restaurants and clients of the tests' fixture.
const (
	bistro = "bistro"  // connection main
	north  = "north-1" // connection north
	empty  = "empty"   // connection main; its menu is not available

	bistroPhone, bistroAddress = "+351 22 000 00 00", "Rua das Flores 1, Porto"

	clientShop  = "shop"  // menu, orders; connection main
	clientOps   = "ops"   // all scopes
	clientNorth = "north" // all scopes, only connection north
	clientRead  = "reader"
)

const fullMenu = `{"name": "Dinner", "categories": [{"id": "c1", "name": "Pizza"}, {"id": "c2", "name": "Sweet", "parentId": "c1"}],
"products": [
 {"id": "p1", "externalId": "e1", "categoryId": "c1", "name": "Margherita", "price": 199.90, "schemeId": "s1", "description": "tomato & basil"},
 {"id": "p/2 +%", "externalId": "e2", "categoryId": "c2", "name": "Crème brûlée", "price": 90, "description": ""},
 {"id": "p3", "externalId": "twin", "categoryId": "c1", "name": "Twin A", "price": 10},
 {"id": "p4", "externalId": "twin", "categoryId": "c1", "name": "Twin B", "price": 11},
 {"id": "p5", "externalId": "e5", "categoryId": "c1", "name": "Stopped pie", "price": 12, "isContainInStopList": ["bistro"]}],
"ingredientsSchemes": [{"id": "s1", "ingredientsGroups": [{"id": "g1", "minCount": 1, "maxCount": 2}]}],
"ingredientsGroups": [{"id": "g1", "name": "Sauce", "ingredients": ["i1", "i2"]}],
"ingredients": [{"id": "i1", "externalId": "x1", "name": "Garlic", "price": 10.5}, {"id": "i2", "externalId": "x2", "name": "Chili", "price": 0}]}`

// service is an ordering service in memory. Tests set its responses.
type service struct {
	mu      sync.Mutex
	menus   map[string]string
	reasons []upstream.Reason
	create  func(body []byte) (upstream.Created, error)
	sent    [][]byte
	hold    chan struct{} // menu views wait until it is closed

	busy     bool     // no call gets a slot
	reserved []string // the clients that requested a slot
}

func (*service) AskTokenAgain() time.Duration { return 0 }

func (s *service) MenuView(ctx context.Context, restaurant string, _ upstream.Validator, _ int64) (upstream.Menu, error) {
	s.mu.Lock()
	raw, known, hold := s.menus[restaurant], s.menus[restaurant] != "", s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return upstream.Menu{}, ctx.Err()
		}
	}
	if !known {
		return upstream.Menu{}, &upstream.Error{Operation: "menu", Status: http.StatusBadGateway, Err: errors.New("no menu")}
	}
	return upstream.Menu{Body: []byte(raw)}, nil
}

// DoubtResponses implements ordering.Service.
func (*service) DoubtResponses() {}

func (s *service) RejectionReasons(context.Context) ([]upstream.Reason, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reasons, nil
}

func (s *service) Reserve(ctx context.Context, op ordering.Operation, client string, _ time.Time) (*upstream.Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved = append(s.reserved, client)
	if s.busy {
		return nil, &upstream.Error{Operation: op, Err: upstream.ErrBusy, RetryAfter: 5400 * time.Millisecond}
	}
	return new(upstream.Slot), ctx.Err()
}

// setBusy removes or restores the capacity of the ordering service.
func (s *service) setBusy(busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = busy
}

// requesters returns the clients that requested a slot.
func (s *service) requesters() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reserved)
}

func (s *service) CreateOrder(_ context.Context, body []byte) (upstream.Created, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, body)
	if s.create != nil {
		return s.create(body)
	}
	return upstream.Created{OrderID: strconv.Itoa(764 + len(s.sent)), Answer: upstream.Answer{Status: http.StatusCreated}}, nil
}

func (*service) Pay(context.Context, string, []byte) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func (*service) Complete(context.Context, string) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func (*service) Reject(context.Context, string, []byte) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func (s *service) setMenu(restaurant, raw string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.menus[restaurant] = raw
}

func (s *service) answerCreate(answer func(body []byte) (upstream.Created, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.create = answer
}

// received returns the bodies of the orders that arrived.
func (s *service) received() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.sent...)
}

// plan has the options of a fixture.
type plan struct {
	cfg      httpapi.Config
	auth     auth.Config
	redis    redisdb.Config
	ordering ordering.Config
	unsynced bool                        // no sync at the start
	services map[string]ordering.Service // by connection; the default is an ordering service in memory
	orders   httpapi.Orders
	runner   func(*menusync.Deps) // changes the restaurants and connections
	deps     func(*httpapi.Deps)
	sources  *upstream.Sources // of the connections; nil: all menus and orders are of one
}

// fixture is a complete instance with a real listener and an ordering service in memory.
type fixture struct {
	t         *testing.T
	tb        testing.TB // t, or that of the fuzz test
	url       string
	server    *httpapi.Server
	service   *service
	redis     *redisdb.DB
	store     *cache.Store
	replica   *replica.Replica
	directory *directory.Directory
	runner    *menusync.Runner
	scheduler *menusync.Scheduler
	engine    *ordering.Orders
	journal   *journal.Journal
	logs      *logtest.Hook
	skew      atomic.Int64 // offset of the clock of package httpapi
}

// anyMenu lets a menu follow another one with other dishes, which the guard would question.
func anyMenu(p *plan) {
	p.runner = func(d *menusync.Deps) { d.Config.ShrinkLimit = 1 }
}

func newFixture(t *testing.T, changes ...func(*plan)) *fixture {
	t.Helper()
	w := newFixtureFor(t, changes...)
	w.t = t
	return w
}

// newFixtureFor is newFixture for fuzz tests, which only send reads.
func newFixtureFor(tb testing.TB, changes ...func(*plan)) *fixture {
	tb.Helper()
	p := defaultPlan()
	for _, change := range changes {
		change(&p)
	}
	logger, hook := logtest.NewNullLogger()
	logger.SetLevel(logrus.DebugLevel)
	w := &fixture{tb: tb, logs: hook}
	w.service = &service{
		menus:   map[string]string{bistro: fullMenu, north: fullMenu, "": fullMenu},
		reasons: []upstream.Reason{{ID: "r1", Reason: "sold out", Type: "simple"}},
	}
	var err error
	if w.redis, err = redisdb.Open(p.redis, logger); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.redis.Close() })
	sourcesOf := func(id menu.RestaurantID) []string {
		connection, _ := w.directory.ConnectionOf(id)
		return p.sources.Names(connection)
	}
	w.store = cache.NewStore(w.redis, cache.StoreConfig{Sources: sourcesOf})
	w.replica = replica.New(w.store, replica.Config{
		Restaurants: func() []menu.RestaurantID { return w.directory.Menus() }, Log: logger, Sources: p.sources.Names,
		Setup: func(id menu.RestaurantID) replica.Setup {
			return replica.Setup{Settings: menu.DefaultSettings(), Sources: sourcesOf(id)}
		},
	})
	observer := metrics.New("1.2.3")
	synced := w.syncDeps(p, observer)
	w.runner = w.newRunner(synced)
	w.scheduler = menusync.NewScheduler(w.runner)
	clock := func() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) }
	validator := validate.New(p.ordering.Config, clock)
	w.journal = journal.New(w.redis, p.ordering, logger)
	w.journal.UseSources(p.sources)
	w.engine = w.newEngine(p, validator, clock, observer.OrderEvent, logger)
	if p.orders == nil {
		p.orders = w.engine
	}
	deps := httpapi.Deps{
		Replica:         w.replica,
		Store:           w.store,
		Scheduler:       w.scheduler,
		Runner:          w.runner,
		Validator:       validator,
		Orders:          p.orders,
		Connections:     []httpapi.Connection{{Connection: metrics.Connection{Name: "main"}}, {Connection: metrics.Connection{Name: "north"}}},
		Journal:         w.journal,
		UnknownOrders:   w.journal.Unknown,
		Redis:           w.redis,
		AllowMissingKey: p.ordering.AllowMissingKey,
		Metrics:         observer,
		Log:             logger,
		Clock:           clock,
	}
	if p.deps != nil {
		p.deps(&deps)
	}
	w.directory = directoryOf(synced, deps.Connections)
	deps.Directory = w.directory
	w.server, err = httpapi.New(p.cfg, p.auth, deps)
	if err != nil {
		tb.Fatal(err)
	}
	if !p.unsynced {
		w.syncOnce(bistro)
		w.syncOnce(north)
		w.syncOnce(empty)
	}
	w.url = serveFast(tb, w.server)
	return w
}

// serveFast serves the public routes with the fast path, as Run does.
func serveFast(tb testing.TB, server *httpapi.Server) string {
	tb.Helper()
	behind := httptest.NewUnstartedServer(server.Handler())
	fastPath := server.FastPath(behind.Listener)
	behind.Listener = fastPath
	ctx, cut := context.WithCancel(context.WithoutCancel(tb.Context()))
	var group errgroup.Group
	group.Go(func() error { return fastPath.Run(ctx) })
	behind.Start()
	tb.Cleanup(func() {
		behind.Close()
		cut()
		if err := group.Wait(); err != nil {
			tb.Error(err)
		}
	})
	watch(tb, behind.URL)
	return behind.URL
}

func defaultPlan() plan {
	p := plan{ordering: ordering.DefaultConfig()}
	p.cfg.Metrics = httpapi.MetricsOpen
	p.ordering.AllowNonDurable = true // the embedded Redis of most tests
	p.cfg.SetDefaults()
	p.auth.SetDefaults()
	p.redis.SetDefaults()
	p.auth.Clients = []auth.ClientConfig{
		{ID: clientShop, Secret: secretOf(clientShop), Scopes: []auth.Scope{"menu", "orders"}, Connection: "main"},
		{ID: clientOps, Secret: secretOf(clientOps), Scopes: []auth.Scope{"menu", "orders", "ops"}},
		{ID: clientNorth, Secret: secretOf(clientNorth), Scopes: []auth.Scope{"orders", "ops"}, Connection: "north"},
		{ID: clientRead, Secret: secretOf(clientRead), Scopes: []auth.Scope{"menu"}},
	}
	return p
}

// newEngine returns the engine that places orders, with the fixture's own Redis.
func (w *fixture) newEngine(p plan, validator *validate.Validator, clock func() time.Time, observe func(event, connection string), log logrus.FieldLogger) *ordering.Orders {
	services := map[string]ordering.Service{"main": w.service, "north": w.service}
	maps.Copy(services, p.services)
	return ordering.NewOrders(p.ordering, ordering.Deps{
		Validator:  validator,
		Catalogues: w.replica,
		Journal:    w.journal,
		Sources:    p.sources,
		Services:   services,
		Reasons: func(ctx context.Context, connection string) ([]upstream.Reason, error) {
			raw, _, err := w.store.Reasons(ctx, connection)
			var reasons []upstream.Reason
			return reasons, errors.Join(err, json.Unmarshal(raw, &reasons))
		},
		RefreshMenu: func(restaurant menu.RestaurantID) ordering.MenuRefresh { // nil without schedule
			if reserved := w.scheduler.RefreshMenu(restaurant); reserved != nil {
				return reserved
			}
			return nil
		},
		Connections: func() []string { return []string{"main", "north"} },
		Clock:       clock,
		NewRef:      ordering.Refs(clock),
		Log:         log,
		Observe:     observe,
	})
}

func secretOf(client string) string { return client + "-q8Zr0tKcV2mXw5Ea" }

// syncDeps returns the dependencies of the scheduler.
func (w *fixture) syncDeps(p plan, observer menusync.Observer) menusync.Deps {
	settings := menu.DefaultSettings()
	restaurant := func(id, connection string) menusync.Restaurant {
		one := menusync.Restaurant{
			Restaurant: directory.Restaurant{ID: menu.RestaurantID(id), Name: "The " + id, Connection: connection},
			Settings:   settings, Schedule: "@every 24h",
		}
		if id == bistro {
			one.Phone, one.Address = bistroPhone, bistroAddress
		}
		return one
	}
	deps := menusync.Deps{
		Config:      menusync.Config{Schedule: "@every 24h"},
		Restaurants: []menusync.Restaurant{restaurant(north, "north"), restaurant(bistro, "main"), restaurant(empty, "main")},
		Connections: []menusync.Connection{
			{Name: "main", Source: w.service, DefaultMenu: true, Settings: settings}, {Name: "north", Source: w.service, Settings: settings},
		},
		Redis:    w.redis,
		Store:    w.store,
		Replica:  w.replica,
		Observer: observer,
	}
	if p.runner != nil {
		p.runner(&deps)
	}
	return deps
}

// directoryOf returns a directory with the synced restaurants and the server's connections.
func directoryOf(synced menusync.Deps, connections []httpapi.Connection) *directory.Directory {
	list := make([]directory.Connection, len(connections))
	for i, c := range connections {
		list[i] = directory.Connection{
			Name: c.Name, DefaultMenu: cache.DefaultMenu(c.Name),
			KeepsDefaultMenu: slices.ContainsFunc(synced.Connections, func(s menusync.Connection) bool { return s.Name == c.Name && s.DefaultMenu }),
		}
	}
	return directory.New(list, directoryEntries(synced.Restaurants))
}

func directoryEntries(synced []menusync.Restaurant) []directory.Restaurant {
	list := make([]directory.Restaurant, len(synced))
	for i := range synced {
		list[i] = synced[i].Restaurant
	}
	return list
}

// replace reloads with other restaurants.
func (w *fixture) replace(restaurants []menusync.Restaurant) {
	w.tb.Helper()
	if _, err := w.scheduler.Replace(restaurants, "@every 24h", nil); err != nil {
		w.tb.Fatal(err)
	}
	w.directory.Replace(directoryEntries(restaurants))
}

func (w *fixture) newRunner(deps menusync.Deps) *menusync.Runner {
	w.tb.Helper()
	runner, err := menusync.NewRunner(deps)
	if err != nil {
		w.tb.Fatal(err)
	}
	return runner
}

// syncOnce runs one sync of a restaurant.
func (w *fixture) syncOnce(restaurant string) runlog.Run {
	w.tb.Helper()
	run, err := syncOnce(w.tb.Context(), w.runner, menu.RestaurantID(restaurant))
	if err != nil && !errors.Is(err, menusync.ErrBusy) {
		w.tb.Fatal(err)
	}
	return run
}

func syncOnce(ctx context.Context, runner *menusync.Runner, restaurant menu.RestaurantID) (runlog.Run, error) {
	target, err := runner.Target(restaurant)
	if err != nil {
		return runlog.Run{}, err
	}
	return runner.Once(ctx, target, runlog.TriggerStartup)
}

// schedule runs the scheduler until the test ends. Manual runs need it.
func (w *fixture) schedule() {
	ctx, cancel := context.WithCancel(w.t.Context())
	var group errgroup.Group
	group.Go(func() error { return w.scheduler.Run(ctx) })
	w.t.Cleanup(func() {
		cancel()
		if err := group.Wait(); err != nil {
			w.t.Error(err)
		}
	})
}

// ahead moves the clock of package httpapi forward.
func (w *fixture) ahead(d time.Duration) { w.skew.Add(int64(d)) }
