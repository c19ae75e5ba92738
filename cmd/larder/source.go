package main

import (
	"context"
	"errors"
	"time"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/cmd/larder/cli"
	"larder.local/internal/menu"
	"larder.local/ordering"
	menusync "larder.local/sync"
)

const (
	// recentOrders is how long after an order a restaurant's menu is fetched before others (policy O16).
	recentOrders = time.Hour
	// recentWithin limits the search for these orders.
	recentWithin = 2 * time.Second
	// reportPause is the pause before the foreign orders are read again, because Redis did not respond.
	reportPause = 10 * time.Second
)

// sourcesOf returns the source of a restaurant or default menu, then its former names.
func (d *daemon) sourcesOf(id menu.RestaurantID) []string {
	connection, _ := d.directory.ConnectionOf(id)
	return d.sources.Names(connection)
}

// setUp sets what setupOf returns.
func (d *daemon) setUp(restaurants []menusync.Restaurant) {
	setups := make(map[menu.RestaurantID]replica.Setup, len(restaurants)+len(d.clients))
	for _, r := range restaurants {
		setups[r.ID] = replica.Setup{Settings: r.Settings, Name: r.Name}
	}
	for _, client := range d.clients {
		setups[cache.DefaultMenu(client.Name())] = replica.Setup{Settings: settingsOf(d.cfg, d.cfg.Ordering, client.Name())}
	}
	d.setups.Store(&setups)
}

// setupOf returns what the configuration says about a menu (policy S9).
func (d *daemon) setupOf(id menu.RestaurantID) replica.Setup {
	return (*d.setups.Load())[id]
}

// recentRestaurants returns the restaurants with an order in the last hour, as far as they are found quickly.
func (d *daemon) recentRestaurants(ctx context.Context) map[menu.RestaurantID]bool {
	ctx, cancel := context.WithTimeout(ctx, recentWithin)
	defer cancel()
	recent, _ := d.journal.RecentRestaurants(ctx, d.connections(), time.Now().Add(-recentOrders)) // only their order depends on it
	return recent
}

// reportForeignOrders logs, at the start and after each reload, the orders that cannot be changed any more, because their
// connection has another source or is not configured (policy O16). It ends with ctx.
func (d *daemon) reportForeignOrders(ctx context.Context) {
	if !d.cfg.Auth.TakesOrders() {
		return
	}
	for ctx.Err() == nil {
		found, err := d.journal.ForeignOrders(ctx, d.connections())
		for _, f := range found {
			d.log.WithField("event", "order.of_another_service").WithField("connection", f.Connection).WithField("source", f.Source).
				WithField("open", f.Open).WithField("unknown", f.Unknown).Warn(cli.ForeignText(f))
		}
		var again <-chan time.Time
		if _, unreadable := errors.AsType[*ordering.FormatError](err); err != nil && !unreadable { // logged as journal.format
			again = time.After(reportPause)
		}
		select {
		case <-ctx.Done():
		case <-d.reloaded:
		case <-again:
		}
	}
}
