package configs

import (
	"fmt"
	"reflect"
	"slices"
)

// Reload reads the configuration again for a larder that runs with c. next is
// c with the restaurants, the sync.schedule and the auth.clients that are
// configured now: these can change while larder runs. restart names the sections that differ in
// anything else, which takes a restart; nil where none does.
//
// The error is Errors, as of Load: then nothing of it may be used. A restaurant
// of a connection that c does not have is a fault too.
func (c *Config) Reload(path string, env []string, options ...Option) (next *Config, restart []string, err error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	return c.ReloadText(path, data, env, options...)
}

// ReloadText is Reload for YAML text that is already in memory.
func (c *Config) ReloadText(name string, data []byte, env []string, options ...Option) (next *Config, restart []string, err error) {
	l := newLoader(name, options...)
	given := l.parse(data, env)
	if len(l.problems) == 0 {
		next = c.with(given)
		next.checkReload(l, given)
	}
	if len(l.problems) > 0 {
		return nil, nil, l.sorted()
	}
	return next, next.differs(given), nil
}

// with gives c with what can change while larder runs.
func (c *Config) with(given *Config) *Config {
	next := *c
	next.Restaurants, next.Sync.Schedule, next.Auth.Clients = given.Restaurants, given.Sync.Schedule, given.Auth.Clients
	next.warnings = given.warnings
	return &next
}

// checkReload judges restaurants and clients once more, beside the sections
// that larder runs with.
func (c *Config) checkReload(l *loader, given *Config) {
	running := make(map[string]bool, len(c.Connections))
	for _, connection := range c.Connections {
		running[connection.Name] = true
	}
	for i, r := range given.Restaurants {
		if key := fmt.Sprintf("restaurants[%d].connection", i); !running[r.Connection] {
			l.problem(l.origins.find(key), key, "larder runs without the connection %q: a new connection takes a restart", r.Connection)
		}
	}
	for i, client := range given.Auth.Clients {
		if key := fmt.Sprintf("auth.clients[%d].connection", i); client.Connection != "" && !running[client.Connection] {
			l.problem(l.origins.find(key), key, "larder runs without the connection %q: a new connection takes a restart", client.Connection)
		}
	}
	if len(l.problems) == 0 {
		c.checkRestaurants(l)
		l.room("auth", c.Auth.ValidateFor(c.HTTP))
		c.checkDemoSecrets(l)
	}
}

// differs names the sections in which the two are not the same.
func (c *Config) differs(other *Config) []string {
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
