package configs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/shopspring/decimal"

	"larder.local/httpapi/auth"
	"larder.local/internal/setting"
	menusync "larder.local/sync"
)

// restaurantID matches the ids of restaurants, which become parts of paths and Redis keys.
var restaurantID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// IsRestaurantID reports whether id is valid as the id of a restaurant.
func IsRestaurantID(id string) bool { return restaurantID.MatchString(id) }

// check calls Validate of each section and checks the rules between sections.
func (c *Config) check(l *loader) {
	c.findTLSFiles(l)
	c.checkSections(l)
	if l.thorough && l.file != "" && len(c.Connections) == 0 {
		at := l.places.find("connections")
		at.Line, at.Column = max(at.Line, 1), max(at.Column, 1)
		l.problemAt(at, "connections", "is empty, so there is nothing to serve: add a connection, or check that this is the right file")
		l.unread["connections"] = true
	}
	c.fillRestaurants()
	c.checkRestaurants(l)
	for i, client := range c.Auth.Clients {
		if client.Connection != "" {
			c.checkConnection(l, fmt.Sprintf("auth.clients[%d].connection", i), client.Connection)
		}
	}
	c.checkSecrets(l)
	if l.thorough {
		c.checkStateDir(l)
		c.warnOfWeakSecrets(l)
	}
	if l.secretInside {
		l.warnOfMode("", l.file)
	}
	c.warnOfSelf(l)
}

// checkSections calls Validate of every section.
func (c *Config) checkSections(l *loader) {
	l.sectionErrors("http", c.HTTP.Validate())
	l.sectionErrors("redis", c.Redis.Validate())
	l.sectionErrors("cache", c.Cache.Validate())
	names := map[string]int{}
	for i, connection := range c.Connections {
		key := fmt.Sprintf("connections[%d]", i)
		l.sectionErrors(key, connection.Validate())
		if before, twice := names[connection.Name]; twice && connection.Name != "" {
			l.problem(key+".name", "%q is already the name of connections[%d]: change one of them", connection.Name, before)
		}
		names[connection.Name] = i
	}
	l.sectionErrors("sync", c.Sync.Validate())
	l.sectionErrors("ordering", c.Ordering.Validate())
	l.sectionErrors("auth", c.Auth.Validate())
	l.sectionErrors("tracing", c.Tracing.Validate())
}

// sectionErrors reports the errors of a section. Their keys may be relative to the section.
func (l *loader) sectionErrors(section string, err error) {
	for _, err := range separate(err) {
		key, msg := "", err.Error()
		if wrong, ok := errors.AsType[*setting.Error](err); ok {
			key, msg = wrong.Key, wrong.Msg
		}
		if key != section && !strings.HasPrefix(key, section+".") && !strings.HasPrefix(key, section+"[") {
			key = strings.TrimSuffix(section+"."+key, ".")
		}
		l.problem(key, "%s", msg)
	}
}

// separate returns the errors that were joined.
func separate(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, each := range joined.Unwrap() {
		all = append(all, separate(each)...)
	}
	return all
}

// fillRestaurants sets the defaults of name and connection.
func (c *Config) fillRestaurants() {
	for i := range c.Restaurants {
		r := &c.Restaurants[i]
		r.Name = cmp.Or(r.Name, string(r.ID))
		if r.Connection == "" && len(c.Connections) == 1 {
			r.Connection = c.Connections[0].Name
		}
	}
}

func (c *Config) checkRestaurants(l *loader) {
	seen := map[string]int{}
	for i, r := range c.Restaurants {
		key := fmt.Sprintf("restaurants[%d]", i)
		id := string(r.ID)
		if id == "" {
			l.problem(key+".id", "is missing: write the restaurant's id of the ordering service")
		} else if !IsRestaurantID(id) {
			l.problem(key+".id", "%q is not a valid restaurant id: use 1 to 64 of A-Z a-z 0-9 . _ : -", id)
		}
		if before, twice := seen[id]; twice && id != "" {
			l.problem(key+".id", "%q is already the id of restaurants[%d]: remove one of them", id, before)
		}
		seen[id] = i
		c.checkConnection(l, key+".connection", r.Connection)
		l.checkContact(key, r)
		if r.Ordering != nil {
			l.sectionErrors(key+".ordering", overrideErrors(c.OrderingOf(r).Validate(), c.Ordering.Validate()))
		}
		c.checkTerms(l, key, r)
		if r.ShrinkLimit != nil {
			if err := menusync.CheckShrinkLimit(*r.ShrinkLimit); err != nil {
				l.problem(key+".shrink_limit", "%v", err)
			}
		}
		if _, err := menusync.TimeZone(r.TimeZone); err != nil {
			l.problem(key+".time_zone", "%v: use an IANA name such as Europe/Lisbon", err)
		}
		if _, err := menusync.ParseSchedule(r.Schedule, "", id); err != nil && r.Schedule != "" {
			l.problem(key+".schedule", "%v", err)
		}
	}
}

// checkTerms checks what a restaurant asks of its orders.
func (c *Config) checkTerms(l *loader, key string, r Restaurant) {
	if r.Hours != nil {
		l.sectionErrors(key+".hours", r.Hours.Validate())
		if r.TimeZone == "" {
			l.problem(key+".hours", "needs a time zone: set time_zone of the restaurant, such as Europe/Lisbon")
		}
		if l.thorough {
			for _, text := range r.Hours.Warnings() {
				l.warnings = append(l.warnings, fmt.Sprintf("%v: %s.hours %s", l.places.find(key+".hours"), key, text))
			}
		}
	}
	most := c.OrderingOf(r).MaxLead
	for name, lead := range map[string]*time.Duration{"delivery": r.LeadTime.Delivery, "pickup": r.LeadTime.Pickup} {
		if lead != nil && (*lead < 0 || *lead > most) {
			l.problem(key+".lead_time."+name, "must be between 0 and ordering.max_lead, %v", most)
		}
	}
	for name, minimum := range map[string]decimal.Decimal{"delivery": r.MinimumOrder.Delivery, "pickup": r.MinimumOrder.Pickup} {
		digits := minimum.Exponent() // a larger one could use all memory
		if minimum.Sign() < 0 || digits < -6 || digits > 9 || minimum.GreaterThan(decimal.New(1, 9)) {
			l.problem(key+".minimum_order."+name, "must be between 0 and 1000000000, with at most 6 decimals; 0 means none")
		}
	}
	if strings.ContainsFunc(r.DeliveryTerms, unicode.IsControl) || len(r.DeliveryTerms) > maxAddress {
		l.problem(key+".delivery_terms", "is not a valid text: write one line of at most %d bytes", maxAddress)
	}
}

// overrideErrors returns the errors of a restaurant's own values that the section ordering does not have.
func overrideErrors(own, general error) error {
	reported := map[string]bool{}
	for _, err := range separate(general) {
		reported[err.Error()] = true
	}
	return errors.Join(slices.DeleteFunc(separate(own), func(err error) bool { return reported[err.Error()] })...)
}

const maxPhone, maxAddress = 100, 500 // in bytes

// checkContact checks the phone numbers and the address.
func (l *loader) checkContact(key string, r Restaurant) {
	for name, phone := range map[string]string{".phone": r.Phone, ".guest_phone": r.GuestPhone} {
		hasDigits := strings.ContainsFunc(phone, unicode.IsDigit)
		if strings.ContainsFunc(phone, unicode.IsControl) || len(phone) > maxPhone || phone != "" && !hasDigits {
			l.problem(key+name, "%q is not a telephone number: write one such as %q, with at most %d bytes",
				phone, "+351 22 000 00 00", maxPhone)
		}
	}
	if strings.ContainsFunc(r.Address, unicode.IsControl) || len(r.Address) > maxAddress {
		l.problem(key+".address", "is not a valid address: write one line of at most %d bytes", maxAddress)
	}
}

// checkConnection reports the name of a connection that does not exist.
func (c *Config) checkConnection(l *loader, key, name string) {
	names := make([]string, 0, len(c.Connections))
	unread := l.isUnread("connections")
	for i, connection := range c.Connections {
		names = append(names, connection.Name)
		unread = unread || connection.Name == "" || l.isUnread(fmt.Sprintf("connections[%d].name", i)) // which is an error
	}
	switch {
	case slices.Contains(names, name), unread:
	case len(names) == 0:
		l.problem(key, "there is no connection: add one under connections")
		l.unread["connections"] = true // omit the same error of other restaurants
	case name == "":
		l.problem(key, "is missing: use one of %s", strings.Join(names, ", "))
	default:
		l.problem(key, "there is no connection %q: use one of %s", name, strings.Join(names, ", "))
	}
}

// demoSecrets are the secrets in demo.yaml.
var demoSecrets = []string{"demo-secret", "storefront-secret", "ops-secret", "till-secret"} //nolint:gochecknoglobals // constant

// checkSecrets rejects the demo's published secrets and weak ones off loopback (policies H2, H4 and H8).
func (c *Config) checkSecrets(l *loader) {
	exposed := c.HTTP.Exposed()
	if exposed == "" || slices.ContainsFunc(l.problems, func(p *Error) bool { return p.Key == "http.listen" }) {
		return
	}
	check := func(key, secret string) {
		if slices.Contains(demoSecrets, secret) {
			l.problem(key, "this is the published secret of the demo: set another one, because %s", exposed)
			l.unread[key] = true // omit further errors of this secret
		}
	}
	for i, connection := range c.Connections {
		check(fmt.Sprintf("connections[%d].client_secret", i), connection.ClientSecret)
	}
	for i, client := range c.Auth.Clients {
		check(fmt.Sprintf("auth.clients[%d].secret", i), client.Secret)
	}
	l.sectionErrors("auth", c.Auth.ValidateFor(exposed))
}

// findTLSFiles resolves the paths of TLS files, and warns of files that cannot serve their purpose (policies H12, H13).
func (c *Config) findTLSFiles(l *loader) {
	for i := range c.Connections {
		key := fmt.Sprintf("connections[%d].tls.", i)
		files := &c.Connections[i].TLS
		for name, path := range map[string]*string{"ca_file": &files.CAFile, "cert_file": &files.CertFile, "key_file": &files.KeyFile} {
			if *path != "" && l.places.find(key+name).Variable == "" {
				*path = l.relative(*path)
			}
		}
		if files.KeyFile != "" {
			l.warnOfMode(key+"key_file", files.KeyFile)
		}
		if text := files.Warning(time.Now()); text != "" {
			l.warnings = append(l.warnings, key+"cert_file: "+text)
		}
	}
}

// checkStateDir reports a state_dir that is not a folder (policy O14a). A missing one is created.
func (c *Config) checkStateDir(l *loader) {
	info, err := os.Stat(c.Ordering.StateDir)
	if c.Ordering.StateDir != "" && (err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR)) {
		l.problem("ordering.state_dir", "%s is not a folder: use a folder that larder can write to", c.Ordering.StateDir)
	}
}

// warnOfSelf warns if "self" needs host names that http.hosts does not have.
func (c *Config) warnOfSelf(l *loader) {
	public := c.Auth.PublicOrders
	if public.Enabled && slices.Contains(public.Origins, auth.OriginSelf) && len(c.HTTP.Hosts) == 0 && c.HTTP.Exposed() != "" {
		l.warnings = append(l.warnings, `auth.public_orders.origins: "self" covers localhost and IP addresses only: `+
			"add the host names at which guests open larder's page to http.hosts")
	}
}
