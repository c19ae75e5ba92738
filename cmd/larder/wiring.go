package main

import (
	"context"
	"encoding/json"
	"time"

	"larder/cache"
	"larder/configs"
	"larder/httpapi"
	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
	menusync "larder/sync"
)

func restaurantsOf(cfg *configs.Config) []menusync.Restaurant {
	restaurants := make([]menusync.Restaurant, 0, len(cfg.Restaurants))
	for _, r := range cfg.Restaurants {
		restaurants = append(restaurants, menusync.Restaurant{
			ID: r.ID, Name: r.Name, Phone: r.Phone, Address: r.Address, Connection: r.Connection, Schedule: r.Schedule, TimeZone: r.TimeZone,
			Settings: settingsOf(cfg, cfg.OrderingOf(r), r.Connection),
		})
	}
	return restaurants
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
	sources := make([]menusync.Connection, 0, len(d.clients))
	for _, client := range d.clients {
		sources = append(sources, menusync.Connection{
			Name: client.Name(), Source: client, DefaultMenu: client.Config().KeepsDefaultMenu(),
			Settings: settingsOf(d.cfg, d.cfg.Ordering, client.Name()),
		})
	}
	return sources
}

func rulesOf(cfg *configs.Config) []ordering.Restaurant {
	rules := make([]ordering.Restaurant, 0, len(cfg.Restaurants))
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
		of := ordering.Restaurant{ID: r.ID, Location: zone}
		if r.Ordering != nil {
			of.Override = *r.Ordering
		}
		rules = append(rules, of)
	}
	return rules
}

func (d *daemon) spellings() []httpapi.Connection {
	connections := make([]httpapi.Connection, 0, len(d.clients))
	for _, client := range d.clients {
		connections = append(connections, httpapi.Connection{
			Name: client.Name(), FieldCase: client.Config().FieldCase, Breaker: client.BreakerState, Load: client.Load,
		})
	}
	return connections
}

func (d *daemon) connections() []string {
	names := make([]string, 0, len(d.clients))
	for _, client := range d.clients {
		names = append(names, client.Name())
	}
	return names
}

// reasons are the rejection reasons of a connection as they were last fetched.
func (d *daemon) reasons(ctx context.Context, connection string) ([]upstream.Reason, error) {
	raw, err := d.replica.Reasons(ctx, connection)
	if err != nil {
		return nil, err
	}
	var reasons []upstream.Reason
	return reasons, json.Unmarshal(raw, &reasons)
}

// catalogues are the menus that orders are checked against: those in memory.
type catalogues struct{ replica *cache.Replica }

// Catalogue returns the restaurant's menu with its version.
func (c catalogues) Catalogue(ctx context.Context, restaurant menu.RestaurantID) (int64, *menu.Catalogue, error) {
	snapshot, err := c.replica.Catalogue(ctx, restaurant)
	if err != nil {
		return 0, nil, err
	}
	return snapshot.Version.Version, snapshot.Catalogue, nil
}

var _ ordering.Service = (*upstream.Client)(nil)
