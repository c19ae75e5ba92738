package auth

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"larder.local/httpapi/ratelimit"
	"larder.local/internal/setting"
)

// Scope is a permission of a token. ScopeOrders includes ScopeMenu; ScopeOps includes ScopeOpsRead and ScopeSync (policy H2).
type Scope string

// The scopes of clients.
const (
	ScopeMenu   Scope = "menu"   // read menus, check orders
	ScopeOrders Scope = "orders" // place orders; includes menu
	ScopeOps    Scope = "ops"    // everything below /v1/ops, such as syncs, runs and unknown outcomes

	ScopeOpsRead Scope = "ops.read" // the reads below /v1/ops, and the console without actions
	ScopeSync    Scope = "sync"     // sync one restaurant at a time, without force, and follow the run
)

const (
	minSecret     = 16 // bytes of a client secret if other machines can reach larder (policy H8)
	minSigningKey = 32 // bytes of a signing key: as long as an HS256 digest
)

// Config is the `auth:` section of the configuration. Policies H2 to H4.
type Config struct {
	// OpenMenu lets everyone read menus and check orders without a token. The default is true.
	OpenMenu *bool `yaml:"open_menu"`
	// Issuer and Audience are the `iss` and `aud` of the tokens. The default is "larder".
	Issuer   string `yaml:"issuer"`
	Audience string `yaml:"audience"`
	// TokenLifetime is how long a token is valid. The default is one hour.
	TokenLifetime time.Duration `yaml:"token_lifetime"`
	// SessionLifetime is how long an operator stays signed in to /ops. The default is 8 hours.
	SessionLifetime time.Duration `yaml:"session_lifetime"`
	// SigningKey signs the tokens (HS256). It has at least 32 bytes. If it is empty, larder creates a
	// random key and stores it in Redis.
	SigningKey string `secret:"true" yaml:"signing_key"`
	// Clients may request tokens.
	Clients []ClientConfig `yaml:"clients"`
	// PublicOrders lets guests' browsers place orders without a token. Policy H3.
	PublicOrders PublicOrders `yaml:"public_orders"`
}

// ClientConfig is one element of `auth.clients`.
type ClientConfig struct {
	ID     string  `yaml:"id"`
	Secret string  `secret:"true" yaml:"secret"`
	Scopes []Scope `yaml:"scopes"`
	// Connection limits the client to the menus, orders and runs of one connection. Empty means all connections.
	Connection string `yaml:"connection"`
}

// PublicOrders is `auth.public_orders`. If it is enabled, pages of the listed origins can place
// orders without a bearer token. Policy H3.
type PublicOrders struct {
	Enabled      bool           `yaml:"enabled"`
	Origins      []string       `yaml:"origins"` // [OriginSelf] is larder's own origin
	PaymentTypes []string       `yaml:"payment_types"`
	Rate         ratelimit.Rate `yaml:"rate"` // of each IP address
}

// OriginSelf in auth.public_orders.origins means larder's own pages, if the browser opened them at
// a name in http.hosts, at localhost or at an IP address.
const OriginSelf = "self"

// SetDefaults sets the default values. It runs before the file is read, so a zero in the file replaces the default.
func (c *Config) SetDefaults() {
	c.OpenMenu = cmp.Or(c.OpenMenu, new(true))
	c.Issuer = cmp.Or(c.Issuer, "larder")
	c.Audience = cmp.Or(c.Audience, "larder")
	c.TokenLifetime = cmp.Or(c.TokenLifetime, time.Hour)
	c.SessionLifetime = cmp.Or(c.SessionLifetime, 8*time.Hour)
	if len(c.PublicOrders.PaymentTypes) == 0 {
		c.PublicOrders.PaymentTypes = []string{"cash", "card"}
	}
	c.PublicOrders.Rate = cmp.Or(c.PublicOrders.Rate, ratelimit.Rate{Count: 5, Per: time.Minute})
}

// TakesOrders reports whether any client may place orders.
func (c Config) TakesOrders() bool {
	return c.PublicOrders.Enabled ||
		slices.ContainsFunc(c.Clients, func(client ClientConfig) bool { return slices.Contains(client.Scopes, ScopeOrders) })
}

// Validate checks the section after SetDefaults. It joins all errors, each a *setting.Error.
// ValidateFor has the checks that depend on whether other machines can reach larder.
func (c Config) Validate() error {
	var faults setting.Faults
	seen := map[string]bool{}
	for i, client := range c.Clients {
		key, known := setting.Index("auth.clients", i), client.ID != "" && client.ID != PublicClient
		faults.If(client.ID == "", key+".id", "must not be empty")
		faults.If(client.ID == PublicClient, key+".id", "%q is reserved for guests without a token; choose another id", client.ID)
		faults.If(known && seen[client.ID], key+".id", "%q is used twice; ids must be unique", client.ID)
		seen[client.ID] = true
		faults.If(client.Secret == "", key+".secret", "must not be empty")
		faults.If(len(client.Scopes) == 0, key+".scopes", "must contain at least one of menu, orders, ops, ops.read, sync")
		for j, scope := range client.Scopes {
			faults = append(faults, setting.OneOf(setting.Index(key+".scopes", j), "scope", scope,
				ScopeMenu, ScopeOrders, ScopeOps, ScopeOpsRead, ScopeSync))
		}
	}
	faults.If(c.TokenLifetime < time.Second, "auth.token_lifetime", "must be at least 1s")
	faults.If(c.SessionLifetime < time.Minute, "auth.session_lifetime", "must be at least 1m")
	faults.If(c.SigningKey != "" && len(c.SigningKey) < minSigningKey, "auth.signing_key", "must have at least 32 bytes")
	public := c.PublicOrders
	for i, origin := range public.Origins {
		if origin != OriginSelf {
			faults = append(faults, setting.Origin(setting.Index("auth.public_orders.origins", i), origin))
		}
	}
	faults.If(public.Enabled && len(public.Origins) == 0, "auth.public_orders.origins",
		"must list the origins that may place orders if enabled is true")
	faults.If(public.Enabled && len(public.PaymentTypes) == 0, "auth.public_orders.payment_types",
		"must contain at least one of cash, card, online if enabled is true")
	for i, kind := range public.PaymentTypes {
		key := setting.Index("auth.public_orders.payment_types", i)
		faults = append(faults, setting.OneOf(key, "payment type", kind, "cash", "card", "online"))
	}
	return errors.Join(faults...)
}

// ValidateFor checks the secrets. If other machines can reach larder, it rejects weak secrets
// (policy H8). exposed is the reason why other machines can reach larder. It is empty if they cannot.
func (c Config) ValidateFor(exposed string) error {
	if exposed == "" {
		return nil
	}
	var faults setting.Faults
	for _, weak := range c.WeakSecrets() {
		faults = append(faults, setting.Errorf(weak.Key,
			"%s, which is not allowed because %s; create a random one with `openssl rand -base64 32`", weak.Msg, exposed))
	}
	return errors.Join(faults...)
}

// WeakSecret is a secret that can be guessed.
type WeakSecret struct{ Key, Msg, Secret string }

// WeakSecrets returns the secrets of the section that can be guessed, and what is wrong with each (policy H8).
func (c Config) WeakSecrets() []WeakSecret {
	var all []WeakSecret
	add := func(key, secret, id string, minLength int) {
		if msg := weakness(secret, id, minLength); msg != "" {
			all = append(all, WeakSecret{key, msg, secret})
		}
	}
	for i, client := range c.Clients {
		add(setting.Index("auth.clients", i)+".secret", client.Secret, client.ID, minSecret)
	}
	if c.SigningKey != "" {
		add("auth.signing_key", c.SigningKey, "", minSigningKey)
	}
	return all
}

// MenuIsOpen reports whether everyone may read menus.
func (c Config) MenuIsOpen() bool { return c.OpenMenu == nil || *c.OpenMenu }
