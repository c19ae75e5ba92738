package upstream

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"larder.local/internal/setting"
)

// Defaults of a connection.
const (
	defaultTokenTimeout = 10 * time.Second
	// defaultReuse is far below the usual idle limits of servers and load balancers, 5 s to minutes.
	defaultReuse        = 2 * time.Second
	defaultMenuTimeout  = 30 * time.Second
	DefaultWriteTimeout = 15 * time.Second
	defaultConcurrency  = 16
)

// maxTimeout is the maximum of every timeout; a longer one is probably a mistake.
const maxTimeout = 10 * time.Minute

// FieldCase is the spelling of field names in requests (policy W3).
type FieldCase string

// The spellings: as documented (restaurantID, ID, cityID), or camel case (restaurantId, id, cityId).
const (
	FieldCaseDocument FieldCase = "document"
	FieldCaseCamel    FieldCase = "camel"
)

// Spell returns the spelling of a field name of the document.
func (f FieldCase) Spell(name string) string {
	if f != FieldCaseCamel {
		return name
	}
	if name == "ID" {
		return "id"
	}
	if stem, ok := strings.CutSuffix(name, "ID"); ok {
		return stem + "Id"
	}
	return name
}

// Config is one element of connections[]: one API connection of the ordering service.
type Config struct {
	// Name identifies the connection for restaurants and clients.
	Name string `yaml:"name"`
	// BaseURL is the service's URL without /orders/api/v1.
	BaseURL string `yaml:"base_url"`
	// AuthURL is the URL of the token endpoint without /connect/token.
	AuthURL string `yaml:"auth_url"`
	// FormerURLs and FormerClientIDs list earlier values of BaseURL and ClientID that mean the same service (policy O16).
	FormerURLs      []string `yaml:"former_urls"`
	ClientID        string   `yaml:"client_id"`
	FormerClientIDs []string `yaml:"former_client_ids"`
	// ClientSecret is issued for the API connection, together with ClientID.
	ClientSecret string `yaml:"client_secret" secret:"true"`
	// TokenRequest is the format of the token request (policy W1).
	TokenRequest TokenRequest `yaml:"token_request"`
	// DefaultMenu enables the default menu of the connection; nil means true.
	DefaultMenu *bool `yaml:"default_menu"`
	// FieldCase is the spelling of field names in requests (policy W3).
	FieldCase FieldCase `yaml:"field_case"`
	// StopListAnyValue counts any non-empty stop list as stopped (policy W7).
	StopListAnyValue bool `yaml:"stop_list_any_value"`
	// RetryUnavailable means that the service, and everything before it, answers 503 only to calls that were not
	// executed, so that they may be repeated (policy O8b).
	RetryUnavailable bool `yaml:"retry_unavailable"`
	// RefusalCodes lists errors that certainly refuse a call, although their status is 5xx: CODE, or CODE: part of
	// the message (policy O8b). 502 and 504 never do.
	RefusalCodes []string `yaml:"refusal_codes"`
	// TimeoutWords are further words of messages that say that the outcome of a call is unknown (policy O8b).
	TimeoutWords []string `yaml:"timeout_words"`
	// OrderNumbers is the place where an orderID is unique (policy O17).
	OrderNumbers OrderNumbers `yaml:"order_numbers"`
	// Traceparent enables the W3C traceparent header for traced calls.
	Traceparent bool `yaml:"traceparent"`
	// Rate is the maximum number of requests per second, including menus; 0 means no limit.
	Rate float64 `yaml:"rate"`
	// Concurrency is the maximum number of concurrent requests. If it is more than 1, reads leave
	// at least half of them to orders (policy O8c). 0 means defaultConcurrency.
	Concurrency int      `yaml:"concurrency"`
	TLS         TLS      `yaml:"tls"`
	Timeouts    Timeouts `yaml:"timeouts"`
}

// OrderNumbers is the place where an orderID is unique.
type OrderNumbers string

// The values of OrderNumbers.
const (
	OrderNumbersService    OrderNumbers = "service"    // at the service
	OrderNumbersRestaurant OrderNumbers = "restaurant" // in each restaurant
)

// Timeouts limit the calls of one connection.
type Timeouts struct {
	// Token limits one token request.
	Token time.Duration `yaml:"token"`
	// Menu limits one attempt of a read: menu view or rejection reasons.
	Menu time.Duration `yaml:"menu"`
	// Write limits a whole call that writes, from its arrival: token, waiting and all attempts.
	Write time.Duration `yaml:"write"`
	// Reuse is how long after the start of a request its TCP connection may carry another call that
	// writes. 0 means that each has its own, and nil means defaultReuse.
	Reuse *time.Duration `yaml:"reuse"`
}

// SetDefaults sets the defaults of empty fields.
func (c *Config) SetDefaults() {
	c.TokenRequest.SetDefaults()
	c.DefaultMenu = cmp.Or(c.DefaultMenu, new(true))
	c.Timeouts.Reuse = cmp.Or(c.Timeouts.Reuse, new(defaultReuse))
	c.OrderNumbers = cmp.Or(c.OrderNumbers, OrderNumbersService)
	c.FieldCase = cmp.Or(c.FieldCase, FieldCaseDocument)
	c.Concurrency = cmp.Or(c.Concurrency, defaultConcurrency)
	c.Timeouts.Token = cmp.Or(c.Timeouts.Token, defaultTokenTimeout)
	c.Timeouts.Menu = cmp.Or(c.Timeouts.Menu, defaultMenuTimeout)
	c.Timeouts.Write = cmp.Or(c.Timeouts.Write, DefaultWriteTimeout)
}

// KeepsDefaultMenu reports whether the default menu of the connection is kept.
func (c Config) KeepsDefaultMenu() bool { return c.DefaultMenu == nil || *c.DefaultMenu }

var validName = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// Validate checks a configuration after SetDefaults. The error joins a *setting.Error for each invalid key.
func (c Config) Validate() error {
	var faults setting.Faults
	faults.If(c.Name == "", "name", "is missing: write any name, such as main")
	faults.If(c.Name != "" && !validName.MatchString(c.Name), "name", "%q: use 1 to 64 of A-Z a-z 0-9 . _ : -", c.Name)
	for _, address := range [][3]string{{"base_url", c.BaseURL, pathAPI}, {"auth_url", c.AuthURL, pathToken}} {
		msg := addressFault(address[1])
		faults.If(msg != "", address[0], "%s", msg)
		twice := strings.HasSuffix(strings.TrimRight(address[1], "/"), address[2])
		faults.If(twice, address[0], "end it before %s: larder adds that itself", address[2])
	}
	c.checkFormer(&faults)
	faults.If(c.ClientID == "", "client_id", "is missing")
	faults.If(c.ClientSecret == "", "client_secret", "is missing (set it, or client_secret_file)")
	form := c.TokenRequest.Encoding
	faults.If(form != EncodingMultipart && form != EncodingURLEncoded,
		"token_request.encoding", "%q: use %s or %s", form, EncodingMultipart, EncodingURLEncoded)
	faults.If(c.FieldCase != FieldCaseDocument && c.FieldCase != FieldCaseCamel,
		"field_case", "unknown value %q (valid: document, camel)", string(c.FieldCase))
	faults.If(c.OrderNumbers != OrderNumbersService && c.OrderNumbers != OrderNumbersRestaurant,
		"order_numbers", "unknown value %q (valid: service, restaurant)", string(c.OrderNumbers))
	faults.If(c.Rate < 0 || math.IsNaN(c.Rate) || math.IsInf(c.Rate, 0), "rate", "must be a number of at least 0; 0 means no limit")
	faults.If(c.Concurrency < 1, "concurrency", "must be at least 1")
	c.checkTexts(&faults)
	faults = append(faults, c.TLS.check(c))
	checkTimeout := func(key string, value time.Duration) {
		faults.If(value <= 0 || value > maxTimeout, key, "must be more than 0 and at most %s, not %s", maxTimeout, value)
	}
	checkTimeout("timeouts.token", c.Timeouts.Token)
	checkTimeout("timeouts.menu", c.Timeouts.Menu)
	checkTimeout("timeouts.write", c.Timeouts.Write)
	reuse := *cmp.Or(c.Timeouts.Reuse, new(defaultReuse))
	faults.If(reuse < 0 || reuse > maxTimeout,
		"timeouts.reuse", "must not be negative or more than %s, not %s; 0 means never", maxTimeout, reuse)
	return errors.Join(faults...)
}

// checkFormer checks the earlier addresses and clients of the service (policy O16).
func (c Config) checkFormer(faults *setting.Faults) {
	for i, address := range c.FormerURLs {
		key, msg := setting.Index("former_urls", i), addressFault(address)
		faults.If(address == "", key, "is empty")
		faults.If(address != "" && msg != "", key, "%s", msg)
	}
	for i, client := range c.FormerClientIDs {
		faults.If(client == "", setting.Index("former_client_ids", i), "is empty")
	}
}

// checkTexts checks the texts by which errors of the service are judged (policy O8b).
func (c Config) checkTexts(faults *setting.Faults) {
	for i, entry := range c.RefusalCodes {
		code, _, _ := strings.Cut(entry, ":")
		faults.If(strings.TrimSpace(code) == "",
			setting.Index("refusal_codes", i), "%q has no code: write CODE, or CODE: part of the message", entry)
	}
	for i, word := range c.TimeoutWords {
		faults.If(strings.TrimSpace(word) == "", setting.Index("timeout_words", i), "is empty: it would match every message")
	}
}

// addressFault returns why a URL cannot be used, or "".
func addressFault(address string) string {
	if address == "" {
		return "is missing"
	}
	if !strings.ContainsAny(address, "/@") { // 127.0.0.1:9090
		return strconv.Quote(address) + " is not a valid URL: start it with http:// or https://, such as http://" + address
	}
	parsed, err := url.Parse(address)
	switch {
	case err != nil && (strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")):
		return "not a valid URL: check the host and the port, and remove spaces"
	case err != nil:
		return "not a valid URL (start with http:// or https://)" // the parser's error would contain a password
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return fmt.Sprintf("%q must start with http:// or https://", parsed.Redacted())
	case parsed.Hostname() == "":
		return fmt.Sprintf("%q has no host", parsed.Redacted())
	case parsed.User != nil:
		return "must not contain a user and password: use client_id and client_secret"
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return fmt.Sprintf("%q must not have a query or fragment", address)
	}
	return ""
}
