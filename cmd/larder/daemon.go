package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"larder/cache"
	"larder/cache/replica"
	"larder/configs"
	"larder/httpapi"
	"larder/httpapi/metrics"
	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering"
	"larder/ordering/journal"
	"larder/ordering/validate"
	menusync "larder/sync"
)

// stopGrace is what a shutdown may take beyond the drain of HTTP and the calls
// in flight: runs give up, leases are released, endings are written down, Redis
// is closed.
const stopGrace = 5 * time.Second

// daemon is every package of the program, wired.
type daemon struct {
	cfg       *configs.Config
	log       logrus.FieldLogger
	clients   []*upstream.Client
	redis     *redisdb.DB
	store     *cache.Store
	replica   *replica.Replica
	directory *directory.Directory
	runner    *menusync.Runner
	scheduler *menusync.Scheduler
	validator *validate.Validator
	journal   *journal.Journal
	orders    *ordering.Orders
	server    *httpapi.Server
	tracing   *tracing.Tracing // nil: off
}

// newDaemon wires the packages. It does not wait: neither Redis nor the
// ordering service need be reachable. close it, or run it.
// with may add to what its server works with.
func newDaemon(cfg *configs.Config, log logrus.FieldLogger, with ...func(*httpapi.Deps)) (*daemon, error) {
	d := &daemon{cfg: cfg, log: log}
	if err := d.wire(with); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// listeningDaemon is newDaemon with open listeners, so that a taken port is reported
// before anything else begins. run it.
func listeningDaemon(ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, with ...func(*httpapi.Deps)) (*daemon, error) {
	for _, warning := range cfg.Warnings() {
		log.WithField("event", "config.warning").Warn(warning)
	}
	if len(cfg.Connections) == 0 {
		log.WithField("event", "config.nothing_to_serve").Warn("the configuration has no connection: there is nothing to serve")
	}
	d, err := newDaemon(cfg, log, with...) //nolint:contextcheck // handlers take their request's context
	if err != nil {
		return nil, err
	}
	if err := d.server.Listen(ctx); err != nil {
		return nil, errors.Join(err, d.close()) //nolint:contextcheck // the end is bounded by itself
	}
	return d, nil
}

// wire makes the parts of the daemon in the order of their imports. What was made before an
// error is for close.
func (d *daemon) wire(with []func(*httpapi.Deps)) (err error) {
	cfg, log := d.cfg, d.log
	observer := metrics.New(thisBuild().Version)
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
	restaurants := restaurantsOf(cfg)
	d.directory = directory.New(d.listedConnections(), listed(restaurants))
	d.store = cache.NewStore(d.redis, cache.StoreConfig{History: cfg.Sync.History, Clock: time.Now})
	d.replica = replica.New(d.store, replica.Config{
		Restaurants: d.directory.Menus,
		Allowed:     d.directory.HasMenu,
		DataLost:    func(ids []menu.RestaurantID) { d.runner.Republish(ids) },
		Connections: d.connections(),
		Memory:      int64(cfg.Cache.Memory), Poll: cfg.Cache.Poll, Clock: time.Now, Log: log,
	})
	d.runner, err = menusync.NewRunner(menusync.Deps{
		Config: cfg.Sync, Restaurants: restaurants, Connections: d.sources(),
		Redis: d.redis, Store: d.store, Replica: d.replica, Observer: observer, Tracing: d.tracing, Clock: time.Now, Log: log,
	})
	if err != nil {
		return err
	}
	d.scheduler = menusync.NewScheduler(d.runner)
	d.validator = validate.New(cfg.Ordering.Config, time.Now)
	d.validator.SetRestaurants(rulesOf(cfg))
	d.journal = journal.New(d.redis, cfg.Ordering, log)
	d.orders = ordering.NewOrders(cfg.Ordering, ordering.Deps{
		Validator: d.validator, Catalogues: d.replica, Services: d.services(),
		Journal: d.journal, Reasons: d.reasons, RefreshReasons: d.runner.RefreshReasons, Connections: d.connections,
		Clock: time.Now, NewRef: ordering.Refs(time.Now), Log: log, Observe: observer.OrderEvent,
	})
	deps := httpapi.Deps{
		Replica: d.replica, Store: d.store, Directory: d.directory, Runner: d.runner, Validator: d.validator,
		Orders: d.orders, Journal: d.journal, UnknownOrders: d.journal.Unknown,
		Connections: d.spellings(), Redis: d.redis, AllowMissingKey: cfg.Ordering.AllowMissingKey,
		Metrics: observer, Tracing: d.tracing, Clock: time.Now, Log: log, Version: thisBuild().Version,
	}
	for _, add := range with {
		add(&deps)
	}
	d.server, err = httpapi.New(cfg.HTTP, cfg.Auth, deps)
	return err
}

// connect makes the clients of the ordering services.
func (d *daemon) connect(observer *metrics.Metrics) error {
	for _, connection := range d.cfg.Connections {
		client, err := upstream.New(connection, upstream.Deps{Log: d.log, Observe: observer.Upstream})
		if err != nil {
			return fmt.Errorf("connection %s: %w", connection.Name, err)
		}
		d.clients = append(d.clients, client)
	}
	return nil
}

// services returns the ordering services that take orders, by their connections.
func (d *daemon) services() map[string]ordering.Service {
	services := make(map[string]ordering.Service, len(d.clients))
	for _, client := range d.clients {
		services[client.Name()] = client
	}
	return services
}

// run does the daemon's work until ctx ends, then stops it part by part: HTTP
// is drained while what requests need is still there; then schedules stop,
// leases are released, and orders in flight are brought to their end, even if
// no client waits for them (policy O8); then Redis is closed. All of it is bounded by
// http.drain_delay + http.drain_timeout + ordering.place_timeout + stopGrace.
func (d *daemon) run(ctx context.Context) error {
	front, stopFront := context.WithCancel(ctx)
	defer stopFront()
	behind, stopBehind := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBehind()
	group, behind := errgroup.WithContext(behind)
	context.AfterFunc(behind, stopFront) // a part that fails ends the daemon
	group.Go(func() error {
		defer stopBehind()
		return d.server.Run(front)
	})
	group.Go(func() error {
		d.warnOfOrders(behind)
		return nil
	})
	for _, work := range []func(context.Context) error{d.scheduler.Run, d.orders.Run, d.replica.Run, d.store.Run, d.redis.Run} {
		group.Go(func() error { return ignoreCanceled(work(behind)) })
	}
	finished := make(chan error, 1)
	go func() { finished <- errors.Join(group.Wait(), d.close()) }() //nolint:contextcheck // the end is bounded by itself
	return d.bounded(ctx, finished)
}

// warnOfOrders logs at the start what keeps orders from being placed,
// when a setting of Redis does (policy O14). A Redis that does not answer is
// logged elsewhere.
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

// bounded waits for the daemon's end; once ctx is over, no longer than allowed.
func (d *daemon) bounded(ctx context.Context, finished <-chan error) error {
	select {
	case err := <-finished:
		return err
	case <-ctx.Done():
	}
	d.log.WithField("event", "daemon.stopping").Info("stopping: requests in flight are finished first")
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
		return fmt.Errorf("did not stop within %v: work in flight was given up", limit)
	}
}

// close closes connections. A part that was never made is no error.
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

// ignoreCanceled returns err, or nil if it only means that its context was canceled.
func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// mapped returns what each makes of every item.
func mapped[T, U any](items []T, each func(T) U) []U {
	made := make([]U, len(items))
	for i, item := range items {
		made[i] = each(item)
	}
	return made
}

func restaurantsOf(cfg *configs.Config) []menusync.Restaurant {
	return mapped(cfg.Restaurants, func(r configs.Restaurant) menusync.Restaurant {
		return menusync.Restaurant{
			Restaurant: directory.Restaurant{ID: r.ID, Name: r.Name, Phone: r.Phone, Address: r.Address, Connection: r.Connection},
			Schedule:   r.Schedule, TimeZone: r.TimeZone, Settings: settingsOf(cfg, cfg.OrderingOf(r), r.Connection),
		}
	})
}

// listed are the restaurants as the directory knows them.
func listed(restaurants []menusync.Restaurant) []directory.Restaurant {
	return mapped(restaurants, func(r menusync.Restaurant) directory.Restaurant { return r.Restaurant })
}

// listedConnections are the connections as the directory knows them.
func (d *daemon) listedConnections() []directory.Connection {
	return mapped(d.clients, func(client *upstream.Client) directory.Connection {
		return directory.Connection{
			Name: client.Name(), DefaultMenu: cache.DefaultMenu(client.Name()), KeepsDefaultMenu: client.Config().KeepsDefaultMenu(),
		}
	})
}

// settingsOf are the switches that a menu of the connection is compiled with.
func settingsOf(cfg *configs.Config, rules ordering.Config, connection string) menu.Settings {
	for _, c := range cfg.Connections {
		if c.Name == connection {
			return rules.MenuSettings(c.StopListAnyValue)
		}
	}
	return rules.MenuSettings(false)
}

func (d *daemon) sources() []menusync.Connection {
	return mapped(d.clients, func(client *upstream.Client) menusync.Connection {
		return menusync.Connection{
			Name: client.Name(), Source: client, DefaultMenu: client.Config().KeepsDefaultMenu(),
			Settings: settingsOf(d.cfg, d.cfg.Ordering, client.Name()),
		}
	})
}

func rulesOf(cfg *configs.Config) []validate.Restaurant {
	rules := make([]validate.Restaurant, 0, len(cfg.Restaurants))
	zones := map[string]*time.Location{} // many restaurants share few
	for _, r := range cfg.Restaurants {
		zone, known := zones[r.TimeZone]
		if !known {
			var err error
			if zone, err = time.LoadLocation(r.TimeZone); err != nil {
				zone = time.UTC // configs has refused it before
			}
			zones[r.TimeZone] = zone
		}
		of := validate.Restaurant{ID: r.ID, Location: zone}
		if r.Ordering != nil {
			of.Override = *r.Ordering
		}
		rules = append(rules, of)
	}
	return rules
}

func (d *daemon) spellings() []httpapi.Connection {
	return mapped(d.clients, func(client *upstream.Client) httpapi.Connection {
		return httpapi.Connection{
			Name: client.Name(), FieldCase: client.Config().FieldCase, Breaker: client.BreakerState, Load: client.Load,
		}
	})
}

func (d *daemon) connections() []string { return mapped(d.clients, (*upstream.Client).Name) }

// reasons are the rejection reasons of a connection as they were last fetched.
func (d *daemon) reasons(ctx context.Context, connection string) ([]upstream.Reason, error) {
	raw, err := d.replica.Reasons(ctx, connection)
	if err != nil {
		return nil, err
	}
	var reasons []upstream.Reason
	return reasons, json.Unmarshal(raw, &reasons)
}
