package configs

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"larder/httpapi"
	"larder/internal/setting"
	menusync "larder/sync"
)

// restaurantID is the form of a restaurant's id: it becomes part of paths and of Redis keys.
var restaurantID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// IsRestaurantID tells whether a text can be the id of a restaurant.
func IsRestaurantID(id string) bool { return restaurantID.MatchString(id) }

// check judges what could be read: each room its own section, then what no
// room can see alone.
func (c *Config) check(l *loader) {
	c.checkSections(l)
	c.settleRestaurants()
	c.checkConnections(l)
	c.checkRestaurants(l)
	for i, client := range c.Auth.Clients {
		if client.Connection != "" {
			c.checkConnection(l, fmt.Sprintf("auth.clients[%d].connection", i), client.Connection)
		}
	}
	l.room("auth", c.Auth.ValidateFor(c.HTTP)) // policies H2 and H4
	c.checkDemoSecrets(l)
	c.checkStateDir(l)
	c.warnOfSelf(l)
}

// checkStateDir reports a state_dir that cannot be a folder (policy O14a). One
// that does not exist is created by the first larder that serves.
func (c *Config) checkStateDir(l *loader) {
	const key = "ordering.state_dir"
	dir := c.Ordering.StateDir
	if !l.checkFolders || dir == "" {
		return
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		l.problem(l.origins.find(key), key, "%s is not a folder: name a folder that larder can write to", dir)
	}
}

// warnOfSelf warns where guests are expected at a host name that is not known.
func (c *Config) warnOfSelf(l *loader) {
	public := c.Auth.PublicOrders
	if public.Enabled && slices.Contains(public.Origins, httpapi.OriginSelf) && len(c.HTTP.Hosts) == 0 && c.HTTP.Exposed() != "" {
		l.warnings = append(l.warnings, `auth.public_orders.origins: "self" covers localhost and IP addresses only: `+
			"add the host names at which guests open larder's page to http.hosts")
	}
}

// checkSections asks every room about its own values.
func (c *Config) checkSections(l *loader) {
	v := reflect.ValueOf(c).Elem()
	for _, f := range fieldsOf(v.Type()) {
		section := v.FieldByIndex(f.index)
		if section.Kind() != reflect.Slice {
			l.room(f.name, validate(section))
			continue
		}
		for i := range section.Len() {
			l.room(fmt.Sprintf("%s[%d]", f.name, i), validate(section.Index(i)))
		}
	}
}

func validate(v reflect.Value) error {
	if checked, ok := reflect.TypeAssert[interface{ Validate() error }](v.Addr()); ok {
		return checked.Validate()
	}
	return nil
}

// room reports a room's faults where their keys stand. Rooms name a key from
// the top of the file or from their own section; both are understood.
func (l *loader) room(section string, err error) {
	if err == nil {
		return
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, each := range many.Unwrap() {
			l.room(section, each)
		}
		return
	}
	key, msg := fault(err)
	if key != section && !strings.HasPrefix(key, section+".") && !strings.HasPrefix(key, section+"[") {
		key = strings.TrimSuffix(section+"."+key, ".")
	}
	l.problem(l.origins.find(key), key, "%s", msg)
}

// fault returns the key of a package's error and what is wrong with it.
func fault(err error) (key, msg string) {
	if e, ok := errors.AsType[*setting.Error](err); ok {
		return e.Key, e.Msg
	}
	return "", err.Error()
}

// settleRestaurants fills in what a restaurant may leave out.
func (c *Config) settleRestaurants() {
	for i := range c.Restaurants {
		r := &c.Restaurants[i]
		if r.Name == "" {
			r.Name = string(r.ID)
		}
		if r.Connection == "" && len(c.Connections) == 1 {
			r.Connection = c.Connections[0].Name
		}
	}
}

func (c *Config) checkConnections(l *loader) {
	seen := map[string]int{}
	for i, connection := range c.Connections {
		key := fmt.Sprintf("connections[%d].name", i)
		if before, twice := seen[connection.Name]; twice && connection.Name != "" {
			l.problem(l.origins.find(key), key, "%q is already the name of connections[%d]: give each its own", connection.Name, before)
		}
		seen[connection.Name] = i
	}
}

func (c *Config) checkRestaurants(l *loader) {
	seen := map[string]int{}
	for i, r := range c.Restaurants {
		key := fmt.Sprintf("restaurants[%d]", i)
		id := string(r.ID)
		if !restaurantID.MatchString(id) {
			l.problem(l.origins.find(key+".id"), key+".id", "%q is no restaurant id: use 1 to 64 of A-Z a-z 0-9 . _ : -", id)
		}
		if before, twice := seen[id]; twice && id != "" {
			l.problem(l.origins.find(key+".id"), key+".id", "%q is already the id of restaurants[%d]: remove one of them", id, before)
		}
		seen[id] = i
		c.checkConnection(l, key+".connection", r.Connection)
		l.contact(key, r)
		if r.Ordering != nil {
			l.room(key+".ordering", beyond(c.OrderingOf(r).Validate(), c.Ordering.Validate()))
		}
		if _, err := menusync.ParseSchedule(c.Sync.Schedule, r.TimeZone, id); err != nil && r.TimeZone != "" {
			l.problem(l.origins.find(key+".time_zone"), key+".time_zone", "%v: use an IANA name such as Europe/Lisbon", err)
		} else if r.Schedule != "" {
			if _, err := menusync.ParseSchedule(r.Schedule, r.TimeZone, id); err != nil {
				l.problem(l.origins.find(key+".schedule"), key+".schedule", `%v: write "@every 2m", five cron fields such as "*/5 * * * *", or "@hourly"`, err)
			}
		}
	}
}

// The most bytes of what operators are shown of a restaurant.
const (
	maxPhone   = 100
	maxAddress = 500
)

// contact checks what operators are shown of a restaurant.
func (l *loader) contact(key string, r Restaurant) {
	if strings.ContainsFunc(r.Phone, unicode.IsControl) || len(r.Phone) > maxPhone || r.Phone != "" && !strings.ContainsFunc(r.Phone, unicode.IsDigit) {
		l.problem(l.origins.find(key+".phone"), key+".phone", `%q is no telephone number: write one as people dial it, such as "+351 22 000 00 00", in at most %d bytes`, r.Phone, maxPhone)
	}
	if strings.ContainsFunc(r.Address, unicode.IsControl) || len(r.Address) > maxAddress {
		l.problem(l.origins.find(key+".address"), key+".address", "is no address: write one line of at most %d bytes", maxAddress)
	}
}

// beyond gives the faults of a restaurant's own values: those that the general
// section has too are reported there.
func beyond(own, general error) error {
	said := map[string]bool{}
	for _, err := range faults(general) {
		said[err.Error()] = true
	}
	return errors.Join(slices.DeleteFunc(faults(own), func(err error) bool { return said[err.Error()] })...)
}

// faults takes a room's joined faults apart.
func faults(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.Clone(many.Unwrap())
	}
	return []error{err}
}

// checkConnection reports a reference to a connection that is not there.
func (c *Config) checkConnection(l *loader, key, name string) {
	names := make([]string, 0, len(c.Connections))
	unknown := l.isUnread("connections")
	for i, connection := range c.Connections {
		names = append(names, connection.Name)
		unknown = unknown || l.isUnread(fmt.Sprintf("connections[%d].name", i))
	}
	at := l.origins.find(key)
	switch {
	case slices.Contains(names, name), unknown:
	case len(names) == 0:
		l.problem(at, key, "there is no connection: add one under connections")
	case name == "":
		l.problem(at, key, "is missing: name one of the connections %s", strings.Join(names, ", "))
	default:
		l.problem(at, key, "there is no connection %q: the connections are %s", name, strings.Join(names, ", "))
	}
}

// checkDemoSecrets rejects the demo's published secrets where requests of
// other machines can reach larder. Policies H4 and H8.
func (c *Config) checkDemoSecrets(l *loader) {
	exposed := c.HTTP.Exposed()
	if exposed == "" {
		return
	}
	known := demoSecrets()
	eachSecret("", reflect.ValueOf(c).Elem(), func(path string, v reflect.Value) {
		if slices.Contains(known, v.String()) {
			l.problem(l.origins.find(path), path, "is the demo's secret, which everyone knows: larder rejects it because %s", exposed)
		}
	})
}
