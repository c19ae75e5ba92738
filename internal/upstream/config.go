package upstream

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"time"

	"larder/internal/setting"
)

// Defaults of a connection.
const (
	DefaultTokenTimeout = 10 * time.Second
	DefaultMenuTimeout  = 30 * time.Second
	DefaultWriteTimeout = 15 * time.Second
	DefaultConcurrency  = 16
)

// maxTimeout bounds every timeout: more is a slip of the pen.
const maxTimeout = 10 * time.Minute

// Config is one element of connections[]: one API connection of the ordering
// service.
type Config struct {
	// Name is how restaurants and clients refer to the connection.
	Name string `yaml:"name"`
	// BaseURL is the service's address, without /orders/api/v1.
	BaseURL string `yaml:"base_url"`
	// AuthURL is the token endpoint's address, without /connect/token.
	AuthURL string `yaml:"auth_url"`
	// ClientID is issued for the API connection.
	ClientID string `yaml:"client_id"`
	// ClientSecret is issued for the API connection.
	ClientSecret string `yaml:"client_secret" secret:"true"`
	// TokenRequest is the form of the token request (policy W1).
	TokenRequest TokenRequest `yaml:"token_request"`
	// DefaultMenu also keeps the connection's own menu view; nil means true.
	DefaultMenu *bool `yaml:"default_menu"`
	// FieldCase is the spelling of names in what is sent (policy W3).
	FieldCase FieldCase `yaml:"field_case"`
	// StopListAnyValue reads any non-empty stop list as stopped (policy W7).
	StopListAnyValue bool `yaml:"stop_list_any_value"`
	// RetryUnavailable counts 503 on a call that writes as not executed, so
	// that it may be tried again (policy O8); nil means true. When false a 503
	// is judged as any other 5xx.
	RetryUnavailable *bool `yaml:"retry_unavailable"`
	// Traceparent sends the W3C header of that name with calls that are traced.
	Traceparent bool `yaml:"traceparent"`
	// Rate is the most requests a second, menu and order calls together; 0 is
	// no limit.
	Rate float64 `yaml:"rate"`
	// Concurrency is the most requests at once; reads leave one slot free for
	// orders where there is more than one (policy O8a). 0 means DefaultConcurrency.
	Concurrency int `yaml:"concurrency"`
	// Timeouts bound each kind of call.
	Timeouts Timeouts `yaml:"timeouts"`
}

// Timeouts bound the calls of one connection.
type Timeouts struct {
	// Token bounds one token request.
	Token time.Duration `yaml:"token"`
	// Menu bounds one try of a read: menu view or rejection reasons.
	Menu time.Duration `yaml:"menu"`
	// Write bounds a call that writes as a whole, from its request's arrival on:
	// token, waiting, all tries.
	Write time.Duration `yaml:"write"`
}

// SetDefaults fills in what is not set.
func (c *Config) SetDefaults() {
	c.TokenRequest.SetDefaults()
	if c.DefaultMenu == nil {
		c.DefaultMenu = new(true)
	}
	if c.RetryUnavailable == nil {
		c.RetryUnavailable = new(true)
	}
	c.FieldCase = cmp.Or(c.FieldCase, FieldCaseDocument)
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.Timeouts.Token = cmp.Or(c.Timeouts.Token, DefaultTokenTimeout)
	c.Timeouts.Menu = cmp.Or(c.Timeouts.Menu, DefaultMenuTimeout)
	c.Timeouts.Write = cmp.Or(c.Timeouts.Write, DefaultWriteTimeout)
}

// KeepsDefaultMenu reports whether the connection's own menu view is kept too.
func (c Config) KeepsDefaultMenu() bool { return c.DefaultMenu == nil || *c.DefaultMenu }

var validName = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// Validate checks a configuration whose defaults are set. The error joins one
// *setting.Error for each wrong key.
func (c Config) Validate() error {
	var errs []error
	bad := func(key, format string, args ...any) {
		errs = append(errs, setting.Errorf(key, format, args...))
	}
	if !validName.MatchString(c.Name) {
		bad("name", "%q: use 1 to 64 of A-Z a-z 0-9 . _ : -", c.Name)
	}
	for _, address := range [][2]string{{"base_url", c.BaseURL}, {"auth_url", c.AuthURL}} {
		if msg := addressFault(address[1]); msg != "" {
			bad(address[0], "%s", msg)
		}
	}
	if c.ClientID == "" {
		bad("client_id", "is missing")
	}
	if c.ClientSecret == "" {
		bad("client_secret", "is missing (or give client_secret_file)")
	}
	if form := c.TokenRequest.Encoding; form != EncodingMultipart && form != EncodingURLEncoded {
		bad("token_request.encoding", "%q: use %s or %s", form, EncodingMultipart, EncodingURLEncoded)
	}
	if c.FieldCase != FieldCaseDocument && c.FieldCase != FieldCaseCamel {
		bad("field_case", "%q: use document or camel", string(c.FieldCase))
	}
	if c.Rate < 0 || math.IsNaN(c.Rate) || math.IsInf(c.Rate, 0) {
		bad("rate", "must be 0 (no limit) or more requests a second")
	}
	if c.Concurrency < 1 {
		bad("concurrency", "must be at least 1")
	}
	for _, t := range []struct {
		key   string
		value time.Duration
	}{
		{"timeouts.token", c.Timeouts.Token},
		{"timeouts.menu", c.Timeouts.Menu},
		{"timeouts.write", c.Timeouts.Write},
	} {
		if t.value <= 0 || t.value > maxTimeout {
			bad(t.key, "%s: must be above 0 and at most %s", t.value, maxTimeout)
		}
	}
	return errors.Join(errs...)
}

// addressFault returns why an address cannot be used, or "".
func addressFault(address string) string {
	if address == "" {
		return "is missing"
	}
	parsed, err := url.Parse(address)
	switch {
	case err != nil:
		return "is no URL" // the parser's words would repeat a password
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return fmt.Sprintf("%q: must begin with http:// or https://", parsed.Redacted())
	case parsed.Hostname() == "":
		return fmt.Sprintf("%q: has no host", parsed.Redacted())
	case parsed.User != nil:
		return "must hold no user and password: use client_id and client_secret"
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return fmt.Sprintf("%q: must have neither query nor fragment", address)
	}
	return ""
}
