package configs

import (
	"fmt"
	"reflect"
	"slices"
)

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
	return c.reload(path, data, env, options...)
}

// reload is Reload for YAML text that is already in memory.
func (c *Config) reload(name string, data []byte, env []string, options ...Option) (*Config, []string, error) {
	l := newLoader(name, env, options...)
	given := l.parse(data)
	next := *c
	next.Restaurants, next.Sync.Schedule, next.Auth.Clients = given.Restaurants, given.Sync.Schedule, given.Auth.Clients
	next.warnings = given.warnings
	if len(l.problems) == 0 {
		next.checkReload(l, given)
	}
	if len(l.problems) > 0 {
		return nil, nil, l.problems.sorted()
	}
	return &next, next.differences(given), nil
}

// checkReload checks restaurants and clients once more, beside the sections
// that larder runs with.
func (c *Config) checkReload(l *loader, given *Config) {
	running := make(map[string]bool, len(c.Connections))
	for _, connection := range c.Connections {
		running[connection.Name] = true
	}
	needsRunning := func(list string, i int, connection string) {
		if !running[connection] {
			l.problem(fmt.Sprintf("%s[%d].connection", list, i), "larder runs without the connection %q: a new connection takes a restart", connection)
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
		l.sectionErrors("auth", c.Auth.ValidateFor(c.HTTP))
		c.checkDemoSecrets(l)
	}
}

// differences names the sections in which the two are not the same.
func (c *Config) differences(other *Config) []string {
	mine, theirs := reflect.ValueOf(c).Elem(), reflect.ValueOf(other).Elem()
	var names []string
	for _, f := range fieldsOf(mine.Type()) {
		if !reflect.DeepEqual(mine.Field(f.index).Interface(), theirs.Field(f.index).Interface()) {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}
