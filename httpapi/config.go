package httpapi

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"larder/httpapi/compat"
	"larder/httpapi/events"
	"larder/httpapi/ratelimit"
	"larder/internal/setting"
)

// AccessLog is which requests get a line in the log.
type AccessLog string

// The three ways of http.access_log. Requests that place or change an order, and
// answers of 500 and above, are logged in each of them.
const (
	LogErrors  AccessLog = "errors"  // answers of 500 and above only
	LogSampled AccessLog = "sampled" // also slow requests and one in a hundred of the rest
	LogAll     AccessLog = "all"     // every request
)

// MetricsAccess is who may read /metrics.
type MetricsAccess string

// The three ways of http.metrics.
const (
	MetricsOpen MetricsAccess = "open" // anyone who reaches the listener
	MetricsOps  MetricsAccess = "ops"  // a token with the scope ops
	MetricsOff  MetricsAccess = "off"  // nobody: the route is not there
)

// Config is the `http:` section of the configuration.
type Config struct {
	// Listen is the address of the public listener, host:port; port 0 picks a free one.
	Listen string `yaml:"listen"`
	// OpsListen moves /v1/ops, /ops and /metrics to a listener of their own; empty = the same one. Policy H6.
	OpsListen string `yaml:"ops_listen"`
	// Hosts are the server's own host names, as people reach it; localhost and
	// literal addresses need not be listed. Policy H3.
	Hosts []string `yaml:"hosts"`
	// CORSOrigins are the origins whose pages may read the public routes; "*" = any. None by default.
	CORSOrigins []string `yaml:"cors_origins"`
	// TrustedProxies are the addresses or networks whose X-Forwarded-For is believed. None by default (policy H1).
	TrustedProxies []string `yaml:"trusted_proxies"`
	// MaxAge, StaleWhileRevalidate and StaleIfError make up the Cache-Control
	// of open menu reads (policy H5); of the last two, zero is left out.
	MaxAge               time.Duration `yaml:"max_age"`
	StaleWhileRevalidate time.Duration `yaml:"stale_while_revalidate"`
	StaleIfError         time.Duration `yaml:"stale_if_error"`
	// Compat is what larder's own refusals look like on the compatible API.
	Compat compat.Config `yaml:"compat"`
	// Rate holds the token buckets of policy H1.
	Rate RateConfig `yaml:"rate"`
	// Page is the menu page at /.
	Page PageConfig `yaml:"page"`
	// Events holds the limits of event streams.
	Events events.Config `yaml:"events"`
	// Metrics is who may read /metrics: open (anyone), ops (a token with that
	// scope), off; empty: ops, or open on a listener of its own (policy H8).
	Metrics MetricsAccess `yaml:"metrics"`
	// AccessLog is errors, sampled or all.
	AccessLog AccessLog `yaml:"access_log"`
	// FastPath answers reads of menus, products and menu views before net/http; true when left out.
	FastPath *bool `yaml:"fast_path"`
	// Docs serves the pages under /docs that show the API document; true when left out.
	Docs *bool `yaml:"docs"`
	// MaxConnections is how many connections the public listener may have open, of
	// both paths; 0 lifts the limit. Further ones wait with the system.
	MaxConnections int `yaml:"max_connections"`
	// MaxConnectionsPerAddress is how many of them one address may have open, an
	// IPv6 network of 64 bits counting as one; 0, the default, is no limit.
	// Further ones are closed at once. TrustedProxies have none.
	MaxConnectionsPerAddress int `yaml:"max_connections_per_address"`
	// DrainTimeout bounds how long requests in flight may take at a shutdown.
	DrainTimeout time.Duration `yaml:"drain_timeout"`
	// DrainDelay is how long /readyz answers 503 before the listener closes, for balancers that poll it.
	DrainDelay time.Duration `yaml:"drain_delay"`
}

// RateConfig is `http.rate`: what one address or client may do. Policy H1.
// "0" lifts a limit.
type RateConfig struct {
	Validate       ratelimit.Rate `yaml:"validate"`         // order checks, an address
	Place          ratelimit.Rate `yaml:"place"`            // orders placed, and as many changes of orders, a client
	TokenFailures  ratelimit.Rate `yaml:"token_failures"`   // failed token requests, a client and address
	SignInFailures ratelimit.Rate `yaml:"sign_in_failures"` // failed attempts to sign in to /ops, a client and address
	// AddressFailures limits both together, an address, whatever clients they name. Policy H8.
	AddressFailures ratelimit.Rate `yaml:"address_failures"`
}

// SetDefaults fills what is not set. It runs before the file is read, so that
// a zero in the file stands.
func (c *Config) SetDefaults() {
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:8080")
	c.StaleWhileRevalidate = cmp.Or(c.StaleWhileRevalidate, 30*time.Second)
	c.StaleIfError = cmp.Or(c.StaleIfError, 24*time.Hour)
	c.AccessLog = cmp.Or(c.AccessLog, LogSampled)
	c.FastPath = cmp.Or(c.FastPath, new(true))
	c.Docs = cmp.Or(c.Docs, new(true))
	c.MaxConnections = cmp.Or(c.MaxConnections, 25_000) // the event streams of policy H1, and readers
	c.Compat.SetDefaults()
	c.Events.SetDefaults()
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 20*time.Second)
	c.Rate.Validate = cmp.Or(c.Rate.Validate, ratelimit.Rate{Count: 20, Per: time.Second})
	c.Rate.Place = cmp.Or(c.Rate.Place, ratelimit.Rate{Count: 5, Per: time.Second})
	c.Rate.TokenFailures = cmp.Or(c.Rate.TokenFailures, ratelimit.Rate{Count: 10, Per: time.Minute})
	c.Rate.SignInFailures = cmp.Or(c.Rate.SignInFailures, ratelimit.Rate{Count: 5, Per: time.Minute})
	c.Rate.AddressFailures = cmp.Or(c.Rate.AddressFailures, ratelimit.Rate{Count: 30, Per: time.Minute})
}

// Validate checks the section after SetDefaults. Every fault comes back, each
// a *setting.Error, joined.
func (c Config) Validate() error {
	errs := []error{checkListen("http.listen", c.Listen)}
	if c.OpsListen != "" {
		errs = append(errs, checkListen("http.ops_listen", c.OpsListen))
		if c.OpsListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
			errs = append(errs, setting.Errorf("http.ops_listen", "is the same address as http.listen; leave it empty to serve ops there"))
		}
	}
	for i, host := range c.Hosts {
		errs = append(errs, checkHost(setting.Index("http.hosts", i), host))
	}
	for i, origin := range c.CORSOrigins {
		if origin != "*" {
			errs = append(errs, setting.Origin(setting.Index("http.cors_origins", i), origin))
		}
	}
	for i, proxy := range c.TrustedProxies {
		errs = append(errs, checkProxy(setting.Index("http.trusted_proxies", i), proxy))
	}
	errs = append(errs, c.Compat.Check()...)
	errs = append(errs, c.Events.Check()...)
	errs = append(errs, c.Page.check()...)
	if c.Metrics != "" {
		errs = append(errs, setting.OneOf("http.metrics", c.Metrics, MetricsOpen, MetricsOps, MetricsOff))
	}
	errs = append(errs, setting.OneOf("http.access_log", c.AccessLog, LogErrors, LogSampled, LogAll))
	if c.MaxConnections < 0 {
		errs = append(errs, setting.Errorf("http.max_connections", "must not be negative; 0 is no limit"))
	}
	if c.MaxConnectionsPerAddress < 0 {
		errs = append(errs, setting.Errorf("http.max_connections_per_address", "must not be negative; 0 is no limit"))
	}
	for _, duration := range []struct {
		key   string
		value time.Duration
	}{
		{"http.max_age", c.MaxAge},
		{"http.stale_while_revalidate", c.StaleWhileRevalidate},
		{"http.stale_if_error", c.StaleIfError},
		{"http.drain_timeout", c.DrainTimeout},
		{"http.drain_delay", c.DrainDelay},
	} {
		if duration.value < 0 {
			errs = append(errs, setting.Errorf(duration.key, "must not be negative"))
		}
	}
	return errors.Join(errs...)
}

// metricsAccess returns who may read /metrics. Policy H8.
func (c Config) metricsAccess() MetricsAccess {
	switch {
	case c.Metrics != "":
		return c.Metrics
	case c.OpsListen != "":
		return MetricsOpen
	default:
		return MetricsOps
	}
}

// fastPath reports whether the public listener has the fast path.
func (c Config) fastPath() bool { return c.FastPath == nil || *c.FastPath }

// checkListen reports an address that net.Listen would not take.
func checkListen(key, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return setting.Errorf(key, "%q is no host:port address, as 127.0.0.1:8080", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return setting.Errorf(key, "port %q is not between 0 and 65535", port)
	}
	return nil
}

// checkHost reports what is no host name.
func checkHost(key, host string) error {
	valid := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.'
	}
	if host == "" || strings.HasPrefix(host, ".") || strings.ContainsFunc(host, func(r rune) bool { return !valid(r) }) {
		return setting.Errorf(key, "%q is no host name; write it without scheme and port, as shop.example", host)
	}
	return nil
}

// checkProxy reports what is neither an address nor a network.
func checkProxy(key, proxy string) error {
	_, notAddress := netip.ParseAddr(proxy)
	_, notNetwork := netip.ParsePrefix(proxy)
	if notAddress != nil && notNetwork != nil {
		return setting.Errorf(key, "%q is neither an address nor a network, as 10.0.0.0/8", proxy)
	}
	return nil
}

// Exposed returns why requests of other machines can reach larder, in words for
// an error message: a listener beyond loopback, or a trusted proxy, which
// passes them on. It is empty where none can.
func (c Config) Exposed() string {
	switch {
	case !IsLoopback(c.Listen):
		return "http.listen (" + c.Listen + ") is reachable from other machines"
	case c.OpsListen != "" && !IsLoopback(c.OpsListen):
		return "http.ops_listen (" + c.OpsListen + ") is reachable from other machines"
	case len(c.TrustedProxies) > 0:
		return "http.trusted_proxies names a proxy, which passes on requests of other machines"
	default:
		return ""
	}
}

// IsLoopback reports whether a listener's address (host:port) is reachable from
// this machine only.
func IsLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
