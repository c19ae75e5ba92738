// Package apitest is the fixture of the tests of httpapi and the packages below it: a complete instance, whose server is
// requested over HTTP. Every response is checked against the API document.
package apitest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/metrics"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/apicoverage"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
	"larder.local/ordering/validate"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// The restaurants and clients of the tests' fixture.
const (
	Bistro = "bistro"  // connection main
	North  = "north-1" // connection north
	Empty  = "empty"   // connection main; its menu is not available

	BistroPhone   = "+351 22 000 00 00"
	BistroAddress = "Rua das Flores 1, Porto"

	ClientShop  = "shop"  // menu, orders; connection main
	ClientOps   = "ops"   // all scopes
	ClientNorth = "north" // all scopes, only connection north
	ClientRead  = "reader"
)

// Plan has the options of a fixture.
type Plan struct {
	HTTP     httpapi.Config
	Auth     auth.Config
	Redis    redisdb.Config
	Ordering ordering.Config
	Unsynced bool                        // no sync at the start
	Services map[string]ordering.Service // by connection; the default is an ordering service in memory
	Orders   httpapi.Orders
	Sync     func(*menusync.Deps) // changes the restaurants and connections
	Deps     func(*httpapi.Deps)
	Sources  *upstream.Sources                              // of the connections; nil: all menus and orders are of one
	Serve    func(testing.TB, *httpapi.Server) (url string) // the default runs the server on a free port
}

// Fixture is a complete instance with a real listener and an ordering service in memory.
type Fixture struct {
	T         *testing.T
	TB        testing.TB // t, or that of the fuzz test
	URL       string
	Server    *httpapi.Server
	Service   *Service
	Redis     *redisdb.DB
	Store     *cache.Store
	Replica   *replica.Replica
	Directory *directory.Directory
	Runner    *menusync.Runner
	scheduler *menusync.Scheduler
	Engine    *ordering.Orders
	Journal   *journal.Journal
	Logs      *logtest.Hook
	skew      atomic.Int64 // offset of the clock of package httpapi
}

// AnyMenu lets a menu follow another one with other dishes, which the guard would question.
func AnyMenu(p *Plan) {
	p.Sync = func(d *menusync.Deps) { d.Config.ShrinkLimit = 1 }
}

// New returns a fixture whose server runs until the test ends. changes change its options.
func New(t *testing.T, changes ...func(*Plan)) *Fixture {
	t.Helper()
	w := NewFor(t, changes...)
	w.T = t
	return w
}

// NewFor is New for fuzz tests and benchmarks, which only send reads.
func NewFor(tb testing.TB, changes ...func(*Plan)) *Fixture {
	tb.Helper()
	p := DefaultPlan()
	for _, change := range changes {
		change(&p)
	}
	logger, hook := logtest.NewNullLogger()
	logger.SetLevel(logrus.DebugLevel)
	w := &Fixture{TB: tb, Logs: hook}
	w.Service = &Service{
		Menus:   map[string]string{Bistro: FullMenu, North: FullMenu, "": FullMenu},
		reasons: []upstream.Reason{{ID: "r1", Reason: "sold out", Type: "simple"}},
	}
	var err error
	if w.Redis, err = redisdb.Open(p.Redis, logger); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Redis.Close() })
	sourcesOf := func(id menu.RestaurantID) []string {
		connection, _ := w.Directory.ConnectionOf(id)
		return p.Sources.Names(connection)
	}
	w.Store = cache.NewStore(w.Redis, cache.StoreConfig{Sources: sourcesOf})
	w.Replica = replica.New(w.Store, replica.Config{
		Restaurants: func() []menu.RestaurantID { return w.Directory.Menus() }, Log: logger, Sources: p.Sources.Names,
	})
	observer := metrics.New("1.2.3")
	synced := w.SyncDeps(p, observer)
	w.Runner = w.NewRunner(synced)
	w.scheduler = menusync.NewScheduler(w.Runner)
	clock := func() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) }
	validator := validate.New(p.Ordering.Config, clock)
	w.Journal = journal.New(w.Redis, p.Ordering, logger)
	w.Journal.UseSources(p.Sources)
	w.Engine = w.newEngine(p, validator, clock, observer, logger)
	if p.Orders == nil {
		p.Orders = w.Engine
	}
	deps := httpapi.Deps{
		Replica:         w.Replica,
		Store:           w.Store,
		Scheduler:       w.scheduler,
		Runner:          w.Runner,
		Validator:       validator,
		Orders:          p.Orders,
		Connections:     []httpapi.Connection{IdleConnection("main"), IdleConnection("north")},
		Journal:         w.Journal,
		UnknownOrders:   w.Journal.Unknown,
		Redis:           w.Redis,
		AllowMissingKey: p.Ordering.AllowMissingKey,
		Metrics:         observer,
		Log:             logger,
		Clock:           clock,
	}
	if p.Deps != nil {
		p.Deps(&deps)
	}
	w.Directory = Directory(synced, deps.Connections)
	deps.Directory = w.Directory
	w.Server, err = httpapi.New(p.HTTP, p.Auth, deps)
	if err != nil {
		tb.Fatal(err)
	}
	if !p.Unsynced {
		w.SyncOnce(Bistro)
		w.SyncOnce(North)
		w.SyncOnce(Empty)
	}
	w.URL = p.Serve(tb, w.Server)
	return w
}

// Run runs the server on its address until the test ends, and returns its URL.
func Run(tb testing.TB, server *httpapi.Server) string {
	tb.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(tb.Context()))
	if err := server.Listen(ctx); err != nil {
		stop()
		tb.Fatal(err)
	}
	var group errgroup.Group
	group.Go(func() error { return server.Run(ctx) })
	tb.Cleanup(func() {
		stop()
		if err := group.Wait(); err != nil {
			tb.Error(err)
		}
	})
	url := "http://" + server.Addr()
	apicoverage.Watch(tb, url)
	return url
}

// DefaultPlan returns the options of a fixture without changes.
func DefaultPlan() Plan {
	p := Plan{Ordering: ordering.DefaultConfig(), Serve: Run}
	p.HTTP.Listen = "127.0.0.1:0"
	p.HTTP.Metrics = httpapi.MetricsOpen
	p.Ordering.AllowNonDurable = true // the embedded Redis of most tests
	p.HTTP.SetDefaults()
	p.Auth.SetDefaults()
	p.Redis.SetDefaults()
	p.Auth.Clients = []auth.ClientConfig{
		{ID: ClientShop, Secret: Secret(ClientShop), Scopes: []auth.Scope{"menu", "orders"}, Connection: "main"},
		{ID: ClientOps, Secret: Secret(ClientOps), Scopes: []auth.Scope{"menu", "orders", "ops"}},
		{ID: ClientNorth, Secret: Secret(ClientNorth), Scopes: []auth.Scope{"orders", "ops"}, Connection: "north"},
		{ID: ClientRead, Secret: Secret(ClientRead), Scopes: []auth.Scope{"menu"}},
	}
	return p
}

// newEngine returns the engine that places orders, with the fixture's own Redis.
func (w *Fixture) newEngine(
	p Plan, validator *validate.Validator, clock func() time.Time, observer *metrics.Metrics, log logrus.FieldLogger,
) *ordering.Orders {
	validator.Availability = w.Replica.Availability.Of
	services := map[string]ordering.Service{"main": w.Service, "north": w.Service}
	maps.Copy(services, p.Services)
	return ordering.NewOrders(p.Ordering, ordering.Deps{
		Validator:  validator,
		Catalogues: w.Replica,
		Journal:    w.Journal,
		Sources:    p.Sources,
		Services:   services,
		Reasons: func(ctx context.Context, connection string) ([]upstream.Reason, error) {
			raw, _, err := w.Store.Reasons(ctx, connection)
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
		Observe:     observer.OrderEvent,
	})
}

// Secret returns the secret of a client.
func Secret(client string) string { return client + "-q8Zr0tKcV2mXw5Ea" }

// SyncDeps returns the dependencies of the scheduler.
func (w *Fixture) SyncDeps(p Plan, observer menusync.Observer) menusync.Deps {
	settings := menu.DefaultSettings()
	restaurant := func(id, connection string) menusync.Restaurant {
		one := menusync.Restaurant{
			Restaurant: directory.Restaurant{ID: menu.RestaurantID(id), Name: "The " + id, Connection: connection},
			Settings:   settings, Schedule: "@every 24h",
		}
		if id == Bistro {
			one.Phone, one.Address = BistroPhone, BistroAddress
		}
		return one
	}
	deps := menusync.Deps{
		Config:      menusync.Config{Schedule: "@every 24h"},
		Restaurants: []menusync.Restaurant{restaurant(North, "north"), restaurant(Bistro, "main"), restaurant(Empty, "main")},
		Connections: []menusync.Connection{
			{Name: "main", Source: w.Service, DefaultMenu: true, Settings: settings},
			{Name: "north", Source: w.Service, Settings: settings},
		},
		Redis:    w.Redis,
		Store:    w.Store,
		Replica:  w.Replica,
		Observer: observer,
	}
	if p.Sync != nil {
		p.Sync(&deps)
	}
	return deps
}

// Directory returns a directory with the synced restaurants and the server's connections.
func Directory(synced menusync.Deps, connections []httpapi.Connection) *directory.Directory {
	list := make([]directory.Connection, len(connections))
	for i, c := range connections {
		list[i] = directory.Connection{
			Name: c.Name, DefaultMenu: cache.DefaultMenu(c.Name),
			KeepsDefaultMenu: slices.ContainsFunc(synced.Connections, func(s menusync.Connection) bool {
				return s.Name == c.Name && s.DefaultMenu
			}),
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

// Replace reloads with other restaurants.
func (w *Fixture) Replace(restaurants []menusync.Restaurant) {
	w.TB.Helper()
	if _, err := w.scheduler.Replace(restaurants, "@every 24h", nil); err != nil {
		w.TB.Fatal(err)
	}
	w.Directory.Replace(directoryEntries(restaurants))
}

// NewRunner returns a runner, which does not need to be closed.
func (w *Fixture) NewRunner(deps menusync.Deps) *menusync.Runner {
	w.TB.Helper()
	runner, err := menusync.NewRunner(deps)
	if err != nil {
		w.TB.Fatal(err)
	}
	return runner
}

// SyncOnce runs one sync of a restaurant.
func (w *Fixture) SyncOnce(restaurant string) runlog.Run {
	w.TB.Helper()
	run, err := SyncOnce(w.TB.Context(), w.Runner, menu.RestaurantID(restaurant))
	if err != nil && !errors.Is(err, menusync.ErrBusy) {
		w.TB.Fatal(err)
	}
	return run
}

// SyncOnce runs one sync of a restaurant.
func SyncOnce(ctx context.Context, runner *menusync.Runner, restaurant menu.RestaurantID) (runlog.Run, error) {
	target, err := runner.Target(restaurant)
	if err != nil {
		return runlog.Run{}, err
	}
	return runner.Once(ctx, target, runlog.TriggerStartup)
}

// Schedule runs the scheduler until the test ends. Manual runs need it.
func (w *Fixture) Schedule() {
	ctx, cancel := context.WithCancel(w.T.Context())
	var group errgroup.Group
	group.Go(func() error { return w.scheduler.Run(ctx) })
	w.T.Cleanup(func() {
		cancel()
		if err := group.Wait(); err != nil {
			w.T.Error(err)
		}
	})
}

// Ahead moves the clock of package httpapi forward.
func (w *Fixture) Ahead(d time.Duration) { w.skew.Add(int64(d)) }

// IdleConnection returns a connection without calls and without a token.
func IdleConnection(name string) httpapi.Connection {
	return httpapi.Connection{Connection: metrics.Connection{
		Name:    name,
		Breaker: func() string { return "closed" },
		Load:    func() upstream.Load { return upstream.Load{} },
		Token:   func() upstream.TokenStatus { return upstream.TokenStatus{State: upstream.TokenNone, OK: true} },
	}}
}
