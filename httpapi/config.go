package httpapi

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/compat"
	"larder.local/httpapi/events"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/storefront"
	"larder.local/internal/setting"
)

// AccessLog selects which requests are logged.
type AccessLog string

// The values of http.access_log. Requests that place or change an order, and responses with
// status 500 or higher, are logged with each value.
const (
	LogErrors  AccessLog = "errors"  // responses with status 500 or higher only
	LogSampled AccessLog = "sampled" // also slow requests and 1 of 100 other requests
	LogAll     AccessLog = "all"     // every request
)

// MetricsAccess selects who may read /metrics.
type MetricsAccess string

// The values of http.metrics.
const (
	MetricsOpen MetricsAccess = "open" // everyone who can reach the listener
	MetricsOps  MetricsAccess = "ops"  // tokens with the scope ops
	MetricsOff  MetricsAccess = "off"  // nobody: the route does not exist
)

// Config is the `http:` section of the configuration.
type Config struct {
	// Listen is the address of the public listener, host:port. Port 0 selects a free port.
	Listen string `yaml:"listen"`
	// OpsListen moves /v1/ops, /ops and /metrics to a separate listener. If empty, the public
	// listener serves them. Policy H6.
	OpsListen string `yaml:"ops_listen"`
	// Hosts are the server's public host names. localhost and IP addresses need not be listed. Policy H3.
	Hosts []string `yaml:"hosts"`
	// CORSOrigins are the origins whose pages may read the public routes; "*" means any. By
	// default, only larder's own pages may.
	CORSOrigins []string `yaml:"cors_origins"`
	// TrustedProxies are the addresses or networks whose X-Forwarded-For is trusted. By
	// default, no proxy is trusted. Policy H1.
	TrustedProxies []string `yaml:"trusted_proxies"`
	// MaxAge, StaleWhileRevalidate and StaleIfError are the Cache-Control of public menu reads
	// (policy H5). StaleWhileRevalidate and StaleIfError are left out if zero.
	MaxAge               time.Duration `yaml:"max_age"`
	StaleWhileRevalidate time.Duration `yaml:"stale_while_revalidate"`
	StaleIfError         time.Duration `yaml:"stale_if_error"`
	// Compat sets the format of larder's own errors on the compatible API.
	Compat compat.Config `yaml:"compat"`
	// Rate has the rate limits of policy H1.
	Rate RateConfig `yaml:"rate"`
	// Page configures the menu page at /.
	Page storefront.Config `yaml:"page"`
	// Events has the limits of event streams.
	Events events.Config `yaml:"events"`
	// Metrics selects who may read /metrics. If empty, it is ops, or open if OpsListen is set (policy H8).
	Metrics MetricsAccess `yaml:"metrics"`
	// AccessLog selects the requests in the log.
	AccessLog AccessLog `yaml:"access_log"`
	// FastPath answers reads of menus, products and menu views before net/http. The default is true.
	FastPath *bool `yaml:"fast_path"`
	// Docs serves the pages of the API document below /docs. The default is true.
	Docs *bool `yaml:"docs"`
	// MaxConnections limits the open connections of the public listener; 0 means no limit.
	// Further connections wait in the listen backlog.
	MaxConnections int `yaml:"max_connections"`
	// MaxConnectionsPerAddress limits the open connections of one address; 0, the default, means no limit. An IPv6
	// network of 64 bits counts as one address. Further connections are closed at once. TrustedProxies are exempt.
	MaxConnectionsPerAddress int `yaml:"max_connections_per_address"`
	// DrainTimeout limits how long requests in progress may take during a shutdown.
	DrainTimeout time.Duration `yaml:"drain_timeout"`
	// DrainDelay is the time between the first 503 of /readyz and the closing of the listener,
	// for load balancers that poll /readyz.
	DrainDelay time.Duration `yaml:"drain_delay"`
}

// RateConfig is `http.rate`: the rate limits of an address or client (policy H1). "0" means no limit.
type RateConfig struct {
	Validate       ratelimit.Rate `yaml:"validate"`         // order checks per address
	Place          ratelimit.Rate `yaml:"place"`            // placed orders per client, and separately changes of orders
	TokenFailures  ratelimit.Rate `yaml:"token_failures"`   // failed token requests per client and address
	SignInFailures ratelimit.Rate `yaml:"sign_in_failures"` // failed sign-ins to /ops per client and address
	// AddressFailures limits failed token requests and sign-ins together, per address and for
	// all client ids. Policy H8.
	AddressFailures ratelimit.Rate `yaml:"address_failures"`
}

// SetDefaults sets the default values. It runs before the file is read, so that a zero in the file is kept.
func (c *Config) SetDefaults() {
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:8080")
	c.StaleWhileRevalidate = cmp.Or(c.StaleWhileRevalidate, 30*time.Second)
	c.StaleIfError = cmp.Or(c.StaleIfError, 24*time.Hour)
	c.AccessLog = cmp.Or(c.AccessLog, LogSampled)
	c.FastPath = cmp.Or(c.FastPath, new(true))
	c.Docs = cmp.Or(c.Docs, new(true))
	c.MaxConnections = cmp.Or(c.MaxConnections, 25_000) // enough for the event streams of policy H1 and for readers
	c.Compat.SetDefaults()
	c.Events.SetDefaults()
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 20*time.Second)
	c.Rate.Validate = cmp.Or(c.Rate.Validate, ratelimit.Rate{Count: 20, Per: time.Second})
	c.Rate.Place = cmp.Or(c.Rate.Place, ratelimit.Rate{Count: 5, Per: time.Second})
	c.Rate.TokenFailures = cmp.Or(c.Rate.TokenFailures, ratelimit.Rate{Count: 10, Per: time.Minute})
	c.Rate.SignInFailures = cmp.Or(c.Rate.SignInFailures, ratelimit.Rate{Count: 5, Per: time.Minute})
	c.Rate.AddressFailures = cmp.Or(c.Rate.AddressFailures, ratelimit.Rate{Count: 30, Per: time.Minute})
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9.-]*$`)

// Validate checks the section after SetDefaults. It returns all faults joined, each a
// *setting.Error.
func (c Config) Validate() error {
	faults := setting.Faults{checkListen("http.listen", c.Listen)}
	if c.OpsListen != "" {
		faults = append(faults, checkListen("http.ops_listen", c.OpsListen))
		same := c.OpsListen == c.Listen && !strings.HasSuffix(c.Listen, ":0")
		faults.If(same, "http.ops_listen", "is the same address as http.listen; leave it empty to serve ops there")
	}
	for i, host := range c.Hosts {
		faults.If(!hostForm.MatchString(host), setting.Index("http.hosts", i),
			"%q is not a host name; write it without scheme and port, such as shop.example", host)
	}
	for i, origin := range c.CORSOrigins {
		if origin != "*" {
			faults = append(faults, setting.Origin(setting.Index("http.cors_origins", i), origin))
		}
	}
	for i, proxy := range c.TrustedProxies {
		faults.If(len(auth.NewProxies([]string{proxy})) == 0, setting.Index("http.trusted_proxies", i),
			"%q is neither an IP address nor a network, such as 10.0.0.0/8", proxy)
	}
	faults = append(faults, c.Compat.Check()...)
	faults = append(faults, c.Events.Check()...)
	faults = append(faults, c.Page.Check()...)
	faults = append(faults,
		setting.OneOf("http.metrics", "value", c.metricsAccess(), MetricsOpen, MetricsOps, MetricsOff),
		setting.OneOf("http.access_log", "value", c.AccessLog, LogErrors, LogSampled, LogAll))
	const noLimit, negative = "must not be negative; 0 means no limit", "must not be negative"
	faults.If(c.MaxConnections < 0, "http.max_connections", noLimit)
	faults.If(c.MaxConnectionsPerAddress < 0, "http.max_connections_per_address", noLimit)
	faults.If(c.MaxAge < 0, "http.max_age", negative)
	faults.If(c.StaleWhileRevalidate < 0, "http.stale_while_revalidate", negative)
	faults.If(c.StaleIfError < 0, "http.stale_if_error", negative)
	faults.If(c.DrainTimeout < 0, "http.drain_timeout", negative)
	faults.If(c.DrainDelay < 0, "http.drain_delay", negative)
	return errors.Join(faults...)
}

// metricsAccess returns http.metrics or its default (policy H8).
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

// checkListen reports an address that net.Listen would reject.
func checkListen(key, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return setting.Errorf(key, "%q is not a host:port address, such as 127.0.0.1:8080", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return setting.Errorf(key, "port %q is not between 0 and 65535", port)
	}
	return nil
}

// Exposed returns why requests of other machines can reach larder, for an error message: a
// listener that is not on loopback, or a trusted proxy. It returns "" if none can.
func (c Config) Exposed() string {
	switch {
	case !IsLoopback(c.Listen):
		return "http.listen (" + c.Listen + ") is reachable from other machines"
	case c.OpsListen != "" && !IsLoopback(c.OpsListen):
		return "http.ops_listen (" + c.OpsListen + ") is reachable from other machines"
	case len(c.TrustedProxies) > 0:
		return "http.trusted_proxies lists a proxy, which forwards requests from other machines"
	default:
		return ""
	}
}

// IsLoopback reports whether a listener's address (host:port) is reachable only from this machine.
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
