// Package configs reads the configuration from one YAML file and the environment. The
// configuration is composed of the Config of each package.
//
// Load sets defaults, reads the file (an unknown key is an error), applies the LARDER_…
// variables, reads secrets from files and ${NAME}, and checks all values. It reports
// all errors at once, each with its place (file, line and column, or variable) and fix.
//
// Its invariant: a Config that Load returns is valid as a whole. cmd/larder, cmd/larder/cli and
// cmd/larder/demo call it. The package never connects to anything and changes no file.
package configs

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"larder.local/cache"
	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/internal/hours"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
	menusync "larder.local/sync"
)

// Config is the whole configuration, one field for each section.
type Config struct {
	HTTP        httpapi.Config    `yaml:"http"`
	Redis       redisdb.Config    `yaml:"redis"`
	Cache       cache.Config      `yaml:"cache"`
	Connections []upstream.Config `yaml:"connections"`
	Restaurants []Restaurant      `yaml:"restaurants"`
	Sync        menusync.Config   `yaml:"sync"`
	Ordering    ordering.Config   `yaml:"ordering"`
	Auth        auth.Config       `yaml:"auth"`
	Tracing     tracing.Config    `yaml:"tracing"`

	warnings []string
}

// Restaurant is one element of restaurants[].
type Restaurant struct {
	ID         menu.RestaurantID `yaml:"id"`          // the ordering service's restaurantId
	Name       string            `yaml:"name"`        // the displayed name; default: the id
	Phone      string            `yaml:"phone"`       // for questions about an order; only operators see it
	GuestPhone string            `yaml:"guest_phone"` // guests see it
	Address    string            `yaml:"address"`     // guests see it
	Connection string            `yaml:"connection"`  // the name of a connection; default: the only one
	Schedule   string            `yaml:"schedule"`    // when the menu is synced; default: sync.schedule
	TimeZone   string            `yaml:"time_zone"`   // IANA name for cron fields, hours, `soonest` (default: UTC) and guests
	Hours      *hours.Config     `yaml:"hours"`       // when an order may be ready; default: at any time
	// LeadTime and MinimumOrder are by type of order. The default of LeadTime is that of ordering.
	LeadTime      LeadTime           `yaml:"lead_time"`
	MinimumOrder  MinimumOrder       `yaml:"minimum_order"`
	DeliveryTerms string             `yaml:"delivery_terms"` // guests see it
	Ordering      *validate.Override `yaml:"ordering"`       // overrides keys of the section ordering
	// ShrinkLimit and Guard override those of the section sync.
	ShrinkLimit *float64       `yaml:"shrink_limit"`
	Guard       menusync.Guard `yaml:"guard"`
}

// LeadTime is the time from an order to its earliest expected time.
type LeadTime struct {
	Delivery *time.Duration `yaml:"delivery"`
	Pickup   *time.Duration `yaml:"pickup"`
}

// MinimumOrder has the lowest totals of orders; 0 means none.
type MinimumOrder struct {
	Delivery decimal.Decimal `yaml:"delivery"`
	Pickup   decimal.Decimal `yaml:"pickup"`
}

// TermsOf returns what a restaurant asks of its orders for delivery and for pickup.
func TermsOf(r Restaurant) (delivery, pickup validate.Terms) {
	zone, _ := menusync.TimeZone(r.TimeZone) // an unknown one is an error of Load
	return validate.Terms{Hours: r.Hours.For("delivery", zone), LeadTime: r.LeadTime.Delivery, Minimum: r.MinimumOrder.Delivery},
		validate.Terms{Hours: r.Hours.For("pickup", zone), LeadTime: r.LeadTime.Pickup, Minimum: r.MinimumOrder.Pickup}
}

// OrderingOf returns the section ordering with the overrides of one restaurant.
func (c *Config) OrderingOf(r Restaurant) ordering.Config {
	if r.Ordering == nil {
		return c.Ordering
	}
	own := c.Ordering
	own.Config = own.With(*r.Ordering)
	return own
}

// NothingToServe warns of a configuration without connections. serve accepts it.
const NothingToServe = "there is nothing to serve: add a connection under connections"

// Warnings returns messages of Load that are not errors.
func (c *Config) Warnings() []string { return c.warnings }

//go:embed larder.yaml
var sampleFile []byte

//go:embed demo.yaml
var demoFile []byte

// Sample returns larder.yaml, which describes every key and its default.
func Sample() []byte { return slices.Clone(sampleFile) }

// Demo returns demo.yaml, the configuration of `larder demo`.
func Demo() []byte { return slices.Clone(demoFile) }

// Reload reads the configuration again while larder runs with c. It returns c with the new restaurants, sync.schedule,
// auth.clients, and the secrets, tls, former_urls and former_client_ids of its connections, which apply without a restart, and
// the names of the sections with other changes, which need one.
//
// The error is Errors, as in Load. A new connection of a restaurant is an error too.
func (c *Config) Reload(path string, env []string, options ...Option) (next *Config, restart []string, err error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	l := newLoader(path, env, options...)
	given := l.parse(data)
	merged := *c
	merged.Restaurants, merged.Sync.Schedule, merged.Auth.Clients = given.Restaurants, given.Sync.Schedule, given.Auth.Clients
	merged.Connections = withReloaded(c.Connections, given.Connections)
	merged.warnings = given.warnings
	if len(l.problems) == 0 {
		merged.checkReload(l, given)
	}
	if len(l.problems) > 0 {
		return nil, nil, l.problems.sorted()
	}
	return &merged, merged.differences(given), nil
}

// withReloaded returns the running connections with the secrets, TLS, former addresses and former clients of the given ones.
func withReloaded(running, given []upstream.Config) []upstream.Config {
	running = slices.Clone(running)
	for i := range running {
		for _, c := range given {
			if c.Name == running[i].Name && upstream.Source(c) == upstream.Source(running[i]) { // others are those of a later start
				running[i].FormerURLs, running[i].FormerClientIDs = c.FormerURLs, c.FormerClientIDs
				running[i].ClientSecret = c.ClientSecret
				if c.BaseURL == running[i].BaseURL && c.AuthURL == running[i].AuthURL { // otherwise its TLS is that of a later start
					running[i].TLS = c.TLS
				}
			}
		}
	}
	return running
}

// checkReload checks the new restaurants and clients against the running sections.
func (c *Config) checkReload(l *loader, given *Config) {
	needsRunning := func(list string, i int, name string) {
		if !slices.ContainsFunc(c.Connections, func(running upstream.Config) bool { return running.Name == name }) {
			l.problem(fmt.Sprintf("%s[%d].connection", list, i),
				"the connection %q is new: restart larder to use it", name)
		}
	}
	for i, r := range given.Restaurants {
		needsRunning("restaurants", i, r.Connection)
	}
	for i, client := range given.Auth.Clients {
		if client.Connection != "" {
			needsRunning("auth.clients", i, client.Connection)
		}
	}
	if len(l.problems) == 0 {
		c.checkRestaurants(l)
		c.checkSecrets(l)
	}
}

// differences returns the names of the sections that differ.
func (c *Config) differences(other *Config) []string {
	mine, theirs := reflect.ValueOf(c).Elem(), reflect.ValueOf(other).Elem()
	var names []string
	for _, f := range fieldsOf(mine.Type()) {
		if !reflect.DeepEqual(mine.FieldByIndex(f.index).Interface(), theirs.FieldByIndex(f.index).Interface()) {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}
