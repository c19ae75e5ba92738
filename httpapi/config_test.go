package httpapi

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/menus"
	"larder.local/internal/setting"
)

// faults returns the keys that a configuration error names.
func faults(err error) []string {
	var keys []string
	var walk func(error)
	walk = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range joined.Unwrap() {
				walk(one)
			}
			return
		}
		if fault, ok := errors.AsType[*setting.Error](err); ok {
			keys = append(keys, fault.Key)
		}
	}
	if err != nil {
		walk(err)
	}
	return keys
}

func defaults() (Config, auth.Config) {
	var cfg Config
	var authCfg auth.Config
	cfg.SetDefaults()
	authCfg.SetDefaults()
	return cfg, authCfg
}

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	cfg, authCfg := defaults()
	if err := errors.Join(cfg.Validate(), authCfg.Validate(), authCfg.ValidateFor(cfg.Exposed())); err != nil {
		t.Fatalf("the defaults are refused: %v", err)
	}
	if cfg.Listen != "127.0.0.1:8080" || cfg.AccessLog != LogSampled || !authCfg.MenuIsOpen() || len(authCfg.Clients) != 0 {
		t.Errorf("got %+v %+v", cfg, authCfg)
	}
	if got, want := menus.PublicCacheControl(cfg.MaxAge, cfg.StaleWhileRevalidate, cfg.StaleIfError), "public, max-age=0, stale-while-revalidate=30, stale-if-error=86400"; got != want {
		t.Errorf("Cache-Control %q, want %q (policy H5)", got, want)
	}
	cfg.MaxAge, cfg.StaleIfError, cfg.StaleWhileRevalidate = time.Minute, 0, 0
	if got, want := menus.PublicCacheControl(cfg.MaxAge, cfg.StaleWhileRevalidate, cfg.StaleIfError), "public, max-age=60"; got != want {
		t.Errorf("Cache-Control %q, want %q", got, want)
	}
}

// guestsName is a list whose third client has the reserved name of guests.
func guestsName(like auth.ClientConfig) []auth.ClientConfig {
	clients := []auth.ClientConfig{like, like, like}
	clients[1].ID, clients[2].ID = "ops", auth.PublicClient
	return clients
}

func TestConfigFaultsNameTheirKeys(t *testing.T) {
	t.Parallel()
	for key, change := range map[string]func(*Config, *auth.Config){
		"http.listen":                      func(c *Config, _ *auth.Config) { c.Listen = "8080" },
		"http.ops_listen":                  func(c *Config, _ *auth.Config) { c.OpsListen = c.Listen },
		"http.cors_origins[1]":             func(c *Config, _ *auth.Config) { c.CORSOrigins = []string{"*", "shop.example"} },
		"http.hosts[1]":                    func(c *Config, _ *auth.Config) { c.Hosts = []string{"shop.example", "https://shop.example"} },
		"http.trusted_proxies[0]":          func(c *Config, _ *auth.Config) { c.TrustedProxies = []string{"proxy"} },
		"http.metrics":                     func(c *Config, _ *auth.Config) { c.Metrics = "some" },
		"http.access_log":                  func(c *Config, _ *auth.Config) { c.AccessLog = "some" },
		"http.compat.refusal_status":       func(c *Config, _ *auth.Config) { c.Compat.RefusalStatus = 500 },
		"http.compat.refusal_errors":       func(c *Config, _ *auth.Config) { c.Compat.RefusalErrors = "some" },
		"http.max_connections":             func(c *Config, _ *auth.Config) { c.MaxConnections = -1 },
		"http.max_connections_per_address": func(c *Config, _ *auth.Config) { c.MaxConnectionsPerAddress = -1 },
		"http.max_age":                     func(c *Config, _ *auth.Config) { c.MaxAge = -1 },
		"http.drain_timeout":               func(c *Config, _ *auth.Config) { c.DrainTimeout = -1 },
		"http.drain_delay":                 func(c *Config, _ *auth.Config) { c.DrainDelay = -1 },
		"http.page.currency":               func(c *Config, _ *auth.Config) { c.Page.Currency = "rub" },
		"http.page.color":                  func(c *Config, _ *auth.Config) { c.Page.Color = "red" },
		"http.page.logo":                   func(c *Config, _ *auth.Config) { c.Page.Logo = "logo.svg" },
		"http.page.font":                   func(c *Config, _ *auth.Config) { c.Page.Font = "a;b" },
		"http.page.image_origins[0]":       func(c *Config, _ *auth.Config) { c.Page.ImageOrigins = []string{"https://img.example;x"} },
		"http.page.image_origins[1]":       func(c *Config, _ *auth.Config) { c.Page.ImageOrigins = []string{"https://img.example", "*"} },
		"auth.clients[0].id":               func(_ *Config, a *auth.Config) { a.Clients[0].ID = "" },
		"auth.clients[2].id":               func(_ *Config, a *auth.Config) { a.Clients = guestsName(a.Clients[0]) },
		"auth.clients[1].id":               func(_ *Config, a *auth.Config) { a.Clients = append(a.Clients, a.Clients[0]) },
		"auth.clients[0].secret":           func(_ *Config, a *auth.Config) { a.Clients[0].Secret = "" },
		"auth.clients[0].scopes":           func(_ *Config, a *auth.Config) { a.Clients[0].Scopes = nil },
		"auth.clients[0].scopes[0]":        func(_ *Config, a *auth.Config) { a.Clients[0].Scopes = []auth.Scope{"all"} },
		"auth.token_lifetime":              func(_ *Config, a *auth.Config) { a.TokenLifetime = time.Millisecond },
		"auth.signing_key":                 func(_ *Config, a *auth.Config) { a.SigningKey = "short" },
		"auth.public_orders.origins":       func(_ *Config, a *auth.Config) { a.PublicOrders.Enabled = true },
		"auth.public_orders.payment_types": func(_ *Config, a *auth.Config) {
			a.PublicOrders = auth.PublicOrders{Enabled: true, Origins: []string{"https://shop.example"}}
		},
		"auth.public_orders.payment_types[1]": func(_ *Config, a *auth.Config) { a.PublicOrders.PaymentTypes = []string{"cash", "cheque"} },
		"auth.public_orders.origins[0]":       func(_ *Config, a *auth.Config) { a.PublicOrders.Origins = []string{"*"} },
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			cfg, authCfg := defaults()
			authCfg.Clients = []auth.ClientConfig{{ID: "shop", Secret: "not-a-short-one-at-all", Scopes: []auth.Scope{auth.ScopeMenu}}}
			change(&cfg, &authCfg)
			got := faults(errors.Join(cfg.Validate(), authCfg.Validate()))
			if !slices.Equal(got, []string{key}) {
				t.Errorf("got faults %v, want %s alone", got, key)
			}
		})
	}
}

func TestWeakSecretsAreRejectedWhereOthersReachLarder(t *testing.T) { // policies H2, H4, H8
	t.Parallel()
	const short, demo, known = "is shorter than 16 bytes", "can be guessed", "can be guessed"
	const good = "q8Zr0tKcV2mXw5Ea"
	for name, test := range map[string]struct {
		listen, ops, proxy, secret string
		fault                      string
	}{
		"short on loopback":               {"127.0.0.1:8080", "", "", "s3cr3t", ""},
		"short on localhost":              {"localhost:8080", "", "", "s3cr3t", ""},
		"short on IPv6 loopback":          {"[::1]:8080", "", "", "s3cr3t", ""},
		"short on every address":          {":8080", "", "", "s3cr3t", short},
		"short on an address":             {"192.0.2.1:8080", "", "", "s3cr3t", short},
		"short, ops alone off loopback":   {"127.0.0.1:8080", "0.0.0.0:8081", "", "s3cr3t", short},
		"one letter behind a local proxy": {"127.0.0.1:8080", "", "127.0.0.1", "x", short},
		"short behind a local proxy, ops": {"127.0.0.1:8080", "127.0.0.1:8081", "::1", "s3cr3t", short},
		"the demo's on loopback":          {"127.0.0.1:8080", "", "", "storefront-secret", ""},
		"the demo's off loopback":         {"0.0.0.0:8080", "", "", "storefront-secret", demo},
		"the demo's behind a local proxy": {"127.0.0.1:8080", "", "127.0.0.1", "storefront-secret", demo},
		"another case":                    {"127.0.0.1:8080", "", "127.0.0.1", "Storefront-Secret", demo},
		"a good one off loopback":         {"0.0.0.0:8080", "", "", good, ""},
		"a good one behind a local proxy": {"127.0.0.1:8080", "", "127.0.0.1", good, ""},
		"one that ends as it begins":      {"0.0.0.0:8080", "", "", "q8Zr0tKcV2mXw5Eq", ""},
		"a long one that repeats":         {"0.0.0.0:8080", "", "", good + good, ""},
		"fifteen bytes are still short":   {"0.0.0.0:8080", "", "", "q8Zr0tKcV2mXw5E", short},
		"one letter sixteen times":        {"0.0.0.0:8080", "", "", "aaaaaaaaaaaaaaaa", "repeats a text"},
		"a word twice":                    {"127.0.0.1:8080", "", "127.0.0.1", "changemechangeme", "repeats a text"},
		"a word and a part of it":         {"0.0.0.0:8080", "", "", "passwordpasswordpass", "repeats a text"},
		"digits in order":                 {"127.0.0.1:8080", "", "127.0.0.1", "1234567890123456", known},
		"digits in order, twice":          {"0.0.0.0:8080", "", "", "0123456789abcdef0123456789abcdef", known},
		"an example's, spelled otherwise": {"0.0.0.0:8080", "", "", "Your_Client-Secret", known},
		"a name that is no address":       {"shop.example:80", "", "", "s3cr3t", short},
		"what cannot be read is not safe": {"nonsense", "", "", "s3cr3t", short},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, authCfg := defaults()
			cfg.Listen, cfg.OpsListen = test.listen, test.ops
			if test.proxy != "" {
				cfg.TrustedProxies = []string{test.proxy}
			}
			authCfg.Clients = []auth.ClientConfig{{ID: "storefront", Secret: test.secret, Scopes: []auth.Scope{auth.ScopeMenu}}}
			err := authCfg.ValidateFor(cfg.Exposed())
			switch {
			case test.fault == "" && err != nil:
				t.Errorf("rejected: %v", err)
			case test.fault != "" && (err == nil || !strings.Contains(err.Error(), "auth.clients[0].secret: "+test.fault)):
				t.Errorf("got %v, want an error that says %q", err, test.fault)
			case err != nil && len(test.secret) > 1 && strings.Contains(err.Error(), test.secret):
				t.Errorf("the error holds the secret: %v", err)
			}
		})
	}
	cfg, authCfg := defaults()
	cfg.TrustedProxies, authCfg.SigningKey = []string{"127.0.0.1"}, strings.Repeat("signing-key", 3)
	if got := faults(authCfg.ValidateFor(cfg.Exposed())); !slices.Equal(got, []string{"auth.signing_key"}) {
		t.Errorf("a signing key that repeats a word: faults %v, want auth.signing_key", got)
	}
}
