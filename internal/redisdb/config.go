package redisdb

import (
	"cmp"
	"crypto/x509"
	"errors"
	"regexp"

	"larder.local/internal/setting"
	"larder.local/internal/smallfile"
)

// DefaultPrefix is the default of redis.prefix.
const DefaultPrefix = "larder"

var prefixPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// Config is the `redis:` section of the configuration.
type Config struct {
	// URL is "embedded" or an address (docs/redis.md, "Forms"). It may hold a password.
	URL string `secret:"true" yaml:"url"`
	// CAFile is a file of PEM certificates. If it is set, only they are trusted for
	// the TLS of the Redis and its Sentinels; empty: the system's certificates.
	CAFile string `yaml:"ca_file"`
	// SentinelUsername and SentinelPassword are for the Sentinels; the user and
	// password in the URL are for the Redis that they watch.
	SentinelUsername string `yaml:"sentinel_username"`
	SentinelPassword string `secret:"true"            yaml:"sentinel_password"`
	// Prefix starts every key, so that several programs can share one Redis.
	Prefix string `yaml:"prefix"`
	// Shared means that several instances use this Redis. Validate then rejects an
	// embedded Redis, which instances cannot share.
	Shared bool `yaml:"shared"`
}

// SetDefaults sets every empty field to its default.
func (c *Config) SetDefaults() {
	c.URL = cmp.Or(c.URL, Embedded)
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
}

// Validate checks the section after SetDefaults. The error joins one *setting.Error
// for each fault. No error contains the URL, which may hold a password.
func (c Config) Validate() error {
	_, err := c.parse()
	return err
}

// parse returns the address, completed by the options that the URL does not contain. The error is that of Validate.
func (c Config) parse() (address, error) {
	var faults setting.Faults
	addr, err := parseURL(c.URL)
	if err != nil {
		faults = append(faults, err)
	} else {
		faults = c.complete(&addr)
	}
	faults.If(!prefixPattern.MatchString(c.Prefix), "redis.prefix", "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -")
	return addr, errors.Join(faults...)
}

// complete sets the trusted certificates and the credentials of the Sentinels. It returns an error for each setting that has no
// effect with the URL's topology.
func (c Config) complete(addr *address) (faults setting.Faults) {
	plain := addr.options.TLSConfig == nil
	faults.If(c.CAFile != "" && plain, "redis.ca_file",
		"is for TLS: write rediss://, rediss+sentinel:// or rediss+cluster:// in redis.url")
	if c.CAFile != "" && !plain {
		trusted, err := c.authority()
		faults = append(faults, err)
		addr.options.TLSConfig.RootCAs = trusted
	}
	const forSentinels = "is for redis+sentinel:// and rediss+sentinel:// in redis.url"
	faults.If(c.SentinelUsername != "" && addr.topology != Sentinel, "redis.sentinel_username", forSentinels)
	faults.If(c.SentinelPassword != "" && addr.topology != Sentinel, "redis.sentinel_password", forSentinels)
	faults.If(c.Shared && addr.topology == Embedded, "redis.shared", "instances cannot share an embedded Redis; "+
		"set redis.url to a Redis that all of them can reach, such as redis://redis.internal:6379")
	faults.If(c.SentinelUsername != "" && c.SentinelPassword == "", "redis.sentinel_password",
		"is required with redis.sentinel_username")
	addr.options.SentinelUsername, addr.options.SentinelPassword = c.SentinelUsername, c.SentinelPassword
	return faults
}

// authority reads CAFile. The error is a *setting.Error.
func (c Config) authority() (*x509.CertPool, error) {
	certificates, err := smallfile.Read(c.CAFile)
	if err != nil {
		return nil, setting.Errorf("redis.ca_file", "cannot be read: %v", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(certificates) {
		return nil, setting.Errorf("redis.ca_file", "%s contains no PEM certificate", c.CAFile)
	}
	return trusted, nil
}
