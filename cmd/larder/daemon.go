package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/cmd/larder/cli"
	"larder.local/configs"
	"larder.local/httpapi"
	"larder.local/httpapi/metrics"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/sleep"
	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
	"larder.local/ordering/validate"
	menusync "larder.local/sync"
)

// stopGrace is the time to stop runs, release leases, write outcomes and close Redis.
const stopGrace = 5 * time.Second

// daemon holds the connected packages of the program.
type daemon struct {
	cfg       *configs.Config
	log       logrus.FieldLogger
	clients   []*upstream.Client
	redis     *redisdb.DB
	store     *cache.Store
	replica   *replica.Replica
	directory *directory.Directory
	sources   *upstream.Sources
	setups    atomic.Pointer[map[menu.RestaurantID]replica.Setup] // without sources
	runner    *menusync.Runner
	scheduler *menusync.Scheduler
	validator *validate.Validator
	journal   *journal.Journal
	orders    *ordering.Orders
	server    *httpapi.Server
	tracing   *tracing.Tracing // nil: off
	reloaded  sleep.Signal
}

// newDaemon connects the packages and opens the listeners. It does not wait for Redis or for the ordering service.
// dropped is nil, or returns the number of dropped log lines; photos is nil, or the demo's photos. The caller must
// call run.
func newDaemon(
	ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, dropped func() float64, photos http.Handler,
) (*daemon, error) {
	for _, warning := range cfg.Warnings() {
		log.WithField("event", "config.warning").Warn(warning)
	}
	if len(cfg.Connections) == 0 {
		log.WithField("event", "config.nothing_to_serve").Warn(configs.NothingToServe)
	}
	d := &daemon{cfg: cfg, log: log, reloaded: sleep.NewSignal()}
	err := d.wire(dropped, photos) //nolint:contextcheck // handlers use the context of their request
	if err == nil {
		err = d.server.Listen(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, d.close()) //nolint:contextcheck // close has its own time limit
	}
	return d, nil
}

// wire creates the packages' objects. After an error, close closes those that exist.
func (d *daemon) wire(dropped func() float64, photos http.Handler) (err error) {
	cfg, log := d.cfg, d.log
	observer := metrics.New(thisBuild().Version)
	observer.LogLinesDropped = dropped
	if d.tracing, err = tracing.New(cfg.Tracing, thisBuild().Version, log); err != nil {
		return err
	}
	if err := d.connect(observer); err != nil {
		return err
	}
	if d.redis, err = redisdb.Open(cfg.Redis, log); err != nil {
		return err
	}
	d.redis.Observe(observer.Redis)
	if err := d.tracing.Redis(d.redis.Client(), d.redis.NoRetry()); err != nil {
		return err
	}
	if err := d.wireMenus(observer); err != nil {
		return err
	}
	d.wireOrders(observer)
	d.server, err = httpapi.New(cfg.HTTP, cfg.Auth, httpapi.Deps{
		Replica:         d.replica,
		Store:           d.store,
		Directory:       d.directory,
		Scheduler:       d.scheduler,
		Runner:          d.runner,
		Validator:       d.validator,
		Orders:          d.orders,
		Journal:         d.journal,
		UnknownOrders:   d.journal.Unknown,
		Connections:     d.connectionStates(),
		Redis:           d.redis,
		AllowMissingKey: cfg.Ordering.AllowMissingKey,
		Metrics:         observer,
		Tracing:         d.tracing,
		Photos:          photos,
		Log:             log,
		Version:         thisBuild().Version,
	})
	return err
}

// wireMenus creates what fetches, stores and holds menus.
func (d *daemon) wireMenus(observer *metrics.Metrics) (err error) {
	cfg, log := d.cfg, d.log
	restaurants := restaurantsOf(cfg)
	d.directory = directory.New(d.listedConnections(), listed(restaurants))
	d.sources = upstream.NewSources(cfg.Connections)
	d.setUp(restaurants)
	d.store = cache.NewStore(d.redis, cache.StoreConfig{History: cfg.Sync.History, Sources: d.sourcesOf})
	d.replica = replica.New(d.store, replica.Config{
		Restaurants: d.directory.Menus,
		Allowed:     d.directory.HasMenu,
		DataLost:    func(ids []menu.RestaurantID) { d.scheduler.Republish(ids) },
		Setup:       d.setupOf,
		Sources:     d.sources.Names,
		Connections: d.connections(),
		Memory:      int64(cfg.Cache.Memory),
		Poll:        cfg.Cache.Poll,
		Log:         log,
	})
	if d.runner, err = menusync.NewRunner(menusync.Deps{
		Config:      cfg.Sync,
		Restaurants: restaurants,
		Connections: d.syncedConnections(),
		Recent:      d.recentRestaurants,
		Redis:       d.redis,
		Store:       d.store,
		Replica:     d.replica,
		Observer:    observer,
		Tracing:     d.tracing,
		Log:         log,
	}); err == nil {
		d.scheduler = menusync.NewScheduler(d.runner)
	}
	return err
}

// wireOrders creates what validates, places and records orders.
func (d *daemon) wireOrders(observer *metrics.Metrics) {
	services := make(map[string]ordering.Service, len(d.clients))
	for _, client := range d.clients {
		services[client.Name()] = client
	}
	cfg := d.cfg.Ordering
	d.validator = validate.New(cfg.Config, time.Now)
	d.validator.Availability = d.replica.Availability.Of
	d.validator.SetRestaurants(rulesOf(d.cfg))
	d.journal = journal.New(d.redis, cfg, d.log)
	d.journal.UseSources(d.sources)
	d.orders = ordering.NewOrders(cfg, ordering.Deps{
		Validator:      d.validator,
		Catalogues:     d.replica,
		Services:       services,
		Journal:        d.journal,
		Sources:        d.sources,
		Reasons:        d.reasons,
		RefreshReasons: d.runner.RefreshReasons,
		RefreshMenu:    d.refreshMenu,
		Connections:    d.connections,
		Log:            d.log,
		Observe:        observer.OrderEvent,
	})
}

// refreshMenu reserves a sync after a refused order (policy O18).
func (d *daemon) refreshMenu(restaurant menu.RestaurantID) ordering.MenuRefresh {
	if reserved := d.scheduler.RefreshMenu(restaurant); reserved != nil {
		return reserved
	}
	return nil
}

// connect creates the clients of the ordering services.
func (d *daemon) connect(observer *metrics.Metrics) error {
	for _, connection := range d.cfg.Connections {
		client, err := upstream.New(connection, upstream.Deps{Log: d.log, Observe: observer.Upstream})
		if err != nil {
			return fmt.Errorf("connection %s: %w", connection.Name, err)
		}
		observer.StartConnection(connection.Name)
		d.clients = append(d.clients, client)
	}
	return nil
}

// run runs the daemon until ctx ends. It then drains HTTP, stops syncs, finishes orders in
// progress, even if no client waits for them (policy O8), and closes Redis. Its time limit is
// http.drain_delay + http.drain_timeout + ordering.place_timeout + stopGrace.
func (d *daemon) run(ctx context.Context) error {
	httpCtx, stopHTTP := context.WithCancel(ctx)
	defer stopHTTP()
	workCtx, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	group, workCtx := errgroup.WithContext(workCtx)
	context.AfterFunc(workCtx, stopHTTP) // if one package fails, the daemon ends
	group.Go(func() error {
		defer stopWork()
		return d.server.Run(httpCtx)
	})
	group.Go(func() error {
		d.warnOfOrders(workCtx)
		d.reportForeignOrders(workCtx)
		return nil
	})
	for _, work := range []func(context.Context) error{d.scheduler.Run, d.orders.Run, d.replica.Run, d.store.Run, d.redis.Run} {
		group.Go(func() error { return work(workCtx) })
	}
	finished := make(chan error, 1)
	go func() { finished <- errors.Join(group.Wait(), d.close()) }() //nolint:contextcheck // close has its own time limit
	return d.bounded(ctx, finished)
}

// warnOfOrders logs at the start if a setting of Redis prevents orders (policy O14).
func (d *daemon) warnOfOrders(ctx context.Context) {
	if !d.cfg.Auth.TakesOrders() {
		return
	}
	logged := map[string]bool{} // connections that share a Redis have the same message
	for _, connection := range d.connections() {
		var notReady *ordering.NotReadyError
		if err := d.journal.Ready(ctx, connection); errors.As(err, &notReady) && notReady.Err == nil && !logged[notReady.Msg] {
			logged[notReady.Msg] = true
			d.log.WithField("event", "order.not_ready").Warn("no orders are placed: " + notReady.Msg)
		}
	}
}

// bounded waits until the daemon has ended, or the time limit of a shutdown is over.
func (d *daemon) bounded(ctx context.Context, finished <-chan error) error {
	select {
	case err := <-finished:
		return err
	case <-ctx.Done():
	}
	d.log.WithField("event", "daemon.stopping").Info("stopping: finishing requests in progress")
	limit := d.cfg.HTTP.DrainDelay + d.cfg.HTTP.DrainTimeout + d.cfg.Ordering.PlaceTimeout + stopGrace
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-finished:
		if err == nil {
			d.log.WithField("event", "daemon.stopped").Info("stopped")
		}
		return err
	case <-timer.C:
		return fmt.Errorf("did not stop within %v: requests and calls in progress were aborted", limit)
	}
}

// close closes all network connections. Fields that wire has not set are skipped.
func (d *daemon) close() error {
	for _, client := range d.clients {
		client.Close()
	}
	var err error
	if d.redis != nil {
		err = d.redis.Close()
	}
	return errors.Join(err, d.tracing.Close())
}

func restaurantsOf(cfg *configs.Config) []menusync.Restaurant {
	return cli.Mapped(cfg.Restaurants, func(r configs.Restaurant) menusync.Restaurant {
		return menusync.Restaurant{
			Restaurant: directory.Restaurant{
				ID:         r.ID,
				Name:       r.Name,
				Phone:      r.Phone,
				GuestPhone: r.GuestPhone,
				Address:    r.Address,
				TimeZone:   r.TimeZone,
				Connection: r.Connection,

				DeliveryTerms: r.DeliveryTerms,
			},
			Schedule: r.Schedule,
			TimeZone: r.TimeZone,
			Settings: settingsOf(cfg, cfg.OrderingOf(r), r.Connection),
			Guard:    cfg.Sync.GuardOf(r.Guard, r.ShrinkLimit),
		}
	})
}

// listed returns the restaurants in the form of the directory.
func listed(restaurants []menusync.Restaurant) []directory.Restaurant {
	return cli.Mapped(restaurants, func(r menusync.Restaurant) directory.Restaurant { return r.Restaurant })
}

// listedConnections returns the connections in the form of the directory.
func (d *daemon) listedConnections() []directory.Connection {
	return cli.Mapped(d.clients, func(client *upstream.Client) directory.Connection {
		return directory.Connection{
			Name: client.Name(), DefaultMenu: cache.DefaultMenu(client.Name()), KeepsDefaultMenu: client.Config().KeepsDefaultMenu(),
		}
	})
}

// settingsOf returns the settings for compiling the menus of a connection.
func settingsOf(cfg *configs.Config, rules ordering.Config, connection string) menu.Settings {
	i := slices.IndexFunc(cfg.Connections, func(c upstream.Config) bool { return c.Name == connection })
	return rules.MenuSettings(i >= 0 && cfg.Connections[i].StopListAnyValue)
}

func (d *daemon) syncedConnections() []menusync.Connection {
	return cli.Mapped(d.clients, func(client *upstream.Client) menusync.Connection {
		return menusync.Connection{
			Name:        client.Name(),
			Source:      client,
			SourceName:  d.sources.Current(client.Name()),
			DefaultMenu: client.Config().KeepsDefaultMenu(),
			Settings:    settingsOf(d.cfg, d.cfg.Ordering, client.Name()),
			Guard:       d.cfg.Sync.GuardOf(menusync.Guard{}, nil),
		}
	})
}

func rulesOf(cfg *configs.Config) []validate.Restaurant {
	return cli.Mapped(cfg.Restaurants, func(r configs.Restaurant) validate.Restaurant {
		zone, _ := menusync.TimeZone(r.TimeZone) // configs has rejected unknown zones
		delivery, pickup := configs.TermsOf(r)
		return validate.Restaurant{
			ID: r.ID, Location: zone, Override: *cmp.Or(r.Ordering, &validate.Override{}), Delivery: delivery, Pickup: pickup,
		}
	})
}

func (d *daemon) connectionStates() []httpapi.Connection {
	return cli.Mapped(d.clients, func(c *upstream.Client) httpapi.Connection {
		breaker := func() string { return d.runner.BreakerState(c.Name()) }
		of := metrics.Connection{Name: c.Name(), Breaker: breaker, Load: c.Load, Token: c.TokenStatus}
		return httpapi.Connection{Connection: of, FieldCase: c.Config().FieldCase}
	})
}

func (d *daemon) connections() []string { return cli.Mapped(d.clients, (*upstream.Client).Name) }

// reasons returns the rejection reasons of a connection from the last fetch.
func (d *daemon) reasons(ctx context.Context, connection string) ([]upstream.Reason, error) {
	raw, err := d.replica.Reasons(ctx, connection)
	if err != nil {
		return nil, err
	}
	var reasons []upstream.Reason
	return reasons, json.Unmarshal(raw, &reasons)
}
