// Package configs is larder's configuration: one struct composed of each
// package's own Config, read from one YAML file and the environment.
//
// Load does everything between the file and a configuration that can be relied
// on: defaults, the file (strict: an unknown key is an error), the LARDER_…
// environment over it, secrets from files and ${NAME}, and the checks of every
// package and between them. It reports all problems at once, each with file,
// line and column (or the variable's name) and what to do about it.
//
// The package starts nothing and opens no connection. cmd/larder, internal/cli
// and internal/demo are its callers.
package configs

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"

	"larder/cache"
	"larder/httpapi"
	"larder/httpapi/auth"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering"
	"larder/ordering/validate"
	menusync "larder/sync"
)

// Config is larder's whole configuration, one field for each section. Load
// returns it with every default set and every value checked.
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

// Restaurant is one element of restaurants[]: a restaurant whose menu is kept.
type Restaurant struct {
	// ID is the ordering service's restaurantId: 1 to 64 of A-Z a-z 0-9 . _ : -
	ID menu.RestaurantID `yaml:"id"`
	// Name is shown to people; empty: the id.
	Name string `yaml:"name"`
	// Phone is the number that operators call about an order, and Address where
	// the restaurant is: shown to operators alone.
	Phone   string `yaml:"phone"`
	Address string `yaml:"address"`
	// Connection is the name of the connection that has the menu and takes the
	// orders; empty where there is only one.
	Connection string `yaml:"connection"`
	// Schedule is when the menu is synced; empty: sync.schedule.
	Schedule string `yaml:"schedule"`
	// TimeZone is the IANA name that schedules in cron fields and `soonest`
	// orders are read in; empty: UTC.
	TimeZone string `yaml:"time_zone"`
	// Ordering holds the restaurant's own values of the ordering section.
	Ordering *validate.Override `yaml:"ordering"`
}

// OrderingOf returns the ordering settings of one restaurant: its own over the general ones.
func (c *Config) OrderingOf(r Restaurant) ordering.Config {
	if r.Ordering == nil {
		return c.Ordering
	}
	own := c.Ordering
	own.Config = own.With(*r.Ordering)
	return own
}

// Warnings returns what Load found odd without rejecting it, for the log.
func (c *Config) Warnings() []string { return c.warnings }

//go:embed larder.yaml
var sampleFile []byte

//go:embed demo.yaml
var demoFile []byte

// Sample returns larder.yaml: every key with its meaning and default, for people to copy.
func Sample() []byte { return slices.Clone(sampleFile) }

// Demo returns demo.yaml: the configuration of `larder demo`.
func Demo() []byte { return slices.Clone(demoFile) }

// Reload reads the configuration again while larder runs with c. next is c
// with the restaurants, the sync.schedule and the auth.clients that are
// configured now: these can change while larder runs. restart names the sections
// that differ in anything else, which takes a restart; nil if none does.
//
// The error is Errors, as of Load. A restaurant of a connection that c does not
// have is one too.
func (c *Config) Reload(path string, env []string, options ...Option) (next *Config, restart []string, err error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	l := newLoader(path, env, options...)
	given := l.parse(data)
	merged := *c
	merged.Restaurants, merged.Sync.Schedule, merged.Auth.Clients = given.Restaurants, given.Sync.Schedule, given.Auth.Clients
	merged.warnings = given.warnings
	if len(l.problems) == 0 {
		merged.checkReload(l, given)
	}
	if len(l.problems) > 0 {
		return nil, nil, l.problems.sorted()
	}
	return &merged, merged.differences(given), nil
}

// checkReload checks restaurants and clients once more, beside the sections
// that larder runs with.
func (c *Config) checkReload(l *loader, given *Config) {
	needsRunning := func(list string, i int, name string) {
		if !slices.ContainsFunc(c.Connections, func(running upstream.Config) bool { return running.Name == name }) {
			l.problem(fmt.Sprintf("%s[%d].connection", list, i),
				"larder runs without the connection %q: a new connection takes a restart", name)
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
		l.sectionErrors("auth", c.Auth.ValidateFor(c.HTTP.Exposed()))
		c.checkDemoSecrets(l)
	}
}

// differences names the sections in which the two are not the same.
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
