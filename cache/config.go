package cache

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// RedisConfig is the configuration's section redis.
type RedisConfig struct {
	// URL names the Redis in one of its forms: "embedded" or an address
	// (docs/redis.md, "Forms"). It may hold a password.
	URL string `secret:"true" yaml:"url"`
	// CAFile is a file of certificates (PEM) that alone are trusted to vouch for
	// a Redis over TLS, and for its Sentinels; empty: the system's.
	CAFile string `yaml:"ca_file"`
	// SentinelUsername and SentinelPassword are for the Sentinels themselves;
	// those in the URL are for the Redis that they watch.
	SentinelUsername string `yaml:"sentinel_username"`
	SentinelPassword string `secret:"true"            yaml:"sentinel_password"`
	// Prefix begins every key, so that several larders share one Redis.
	Prefix string `yaml:"prefix"`
	// Shared says that several larders, replicas of each other, are to stand on
	// this Redis; then it is none that each of them has for itself.
	Shared bool `yaml:"shared"`
}

// SetDefaults fills what is empty.
func (c *RedisConfig) SetDefaults() {
	if c.URL == "" {
		c.URL = Embedded
	}
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
}

// Validate checks the section after SetDefaults. Every fault comes back, each
// a *ConfigError; none of them repeats the URL, which may hold a password.
func (c RedisConfig) Validate() error {
	var faults []error
	if to, err := parseURL(c.URL); err != nil {
		faults = append(faults, err)
	} else {
		faults = append(faults, c.unfit(to)...)
	}
	if !validPrefix(c.Prefix) {
		faults = append(faults, &ConfigError{Key: "redis.prefix", Msg: "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -"})
	}
	return errors.Join(faults...)
}

// unfit finds the settings that have no meaning with the URL's form: what they
// were meant to do would silently not happen.
func (c RedisConfig) unfit(to address) []error {
	var faults []error
	if c.CAFile != "" && to.options.TLSConfig == nil {
		faults = append(faults, &ConfigError{Key: "redis.ca_file", Msg: "is for TLS: write rediss://, rediss+sentinel:// or rediss+cluster:// in redis.url"})
	} else if c.CAFile != "" {
		if _, err := c.authority(); err != nil {
			faults = append(faults, err)
		}
	}
	for _, setting := range []struct{ key, value string }{
		{"redis.sentinel_username", c.SentinelUsername}, {"redis.sentinel_password", c.SentinelPassword},
	} {
		if setting.value != "" && to.form != Sentinel {
			faults = append(faults, &ConfigError{Key: setting.key, Msg: "is for redis+sentinel:// and rediss+sentinel:// in redis.url"})
		}
	}
	if c.Shared && to.form == Embedded {
		faults = append(faults, &ConfigError{Key: "redis.shared", Msg: "instances cannot share an embedded Redis, " +
			"which each of them has for itself: set redis.url to one that all of them reach, such as redis://redis.internal:6379"})
	}
	if c.SentinelUsername != "" && c.SentinelPassword == "" {
		faults = append(faults, &ConfigError{Key: "redis.sentinel_password", Msg: "must be given with redis.sentinel_username"})
	}
	return faults
}

// Config is the configuration's section cache.
type Config struct {
	// Memory bounds the ready-made response bodies of one process.
	Memory ByteSize `yaml:"memory"`
	// Poll is how often versions are compared with Redis, should a notice be
	// lost.
	Poll time.Duration `yaml:"poll"`
}

const (
	defaultMemory ByteSize = 512 << 20
	leastMemory   ByteSize = 1 << 20
	defaultPoll            = 5 * time.Second
	leastPoll              = 100 * time.Millisecond
)

// SetDefaults fills what is zero.
func (c *Config) SetDefaults() {
	if c.Memory == 0 {
		c.Memory = defaultMemory
	}
	if c.Poll == 0 {
		c.Poll = defaultPoll
	}
}

// Validate checks the section after SetDefaults. Every fault comes back, each
// a *ConfigError.
func (c Config) Validate() error {
	var faults []error
	if c.Memory < leastMemory {
		faults = append(faults, &ConfigError{Key: "cache.memory", Msg: "must be at least 1MiB"})
	}
	if c.Poll < leastPoll {
		faults = append(faults, &ConfigError{Key: "cache.poll", Msg: "must be at least " + leastPoll.String()})
	}
	return errors.Join(faults...)
}

// ConfigError is one thing that is wrong with a section of this room.
type ConfigError struct {
	Key string // the YAML key, as "redis.url"
	Msg string // what is wrong with it and what would be right
}

// Error names the key and what is wrong with it.
func (e *ConfigError) Error() string { return e.Key + ": " + e.Msg }

// ByteSize is a number of bytes, written as 1048576, 512KiB, 512MiB or 2GiB.
type ByteSize int64

// UnmarshalText reads a whole number with an optional unit (B, KiB, MiB, GiB).
func (b *ByteSize) UnmarshalText(text []byte) error {
	number := strings.TrimSpace(string(text))
	shift := 0
	for unit, by := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, shift = rest, by
			break
		}
	}
	number = strings.TrimSpace(strings.TrimSuffix(number, "B"))
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > (1<<62)>>shift {
		return fmt.Errorf("%q is no size: write 1048576, 512KiB, 512MiB or 2GiB", text)
	}
	*b = ByteSize(n << shift)
	return nil
}

// MarshalText writes the size with the largest unit that divides it.
func (b ByteSize) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String is the size with the largest unit that divides it.
func (b ByteSize) String() string {
	units := [...]string{"", "KiB", "MiB", "GiB"}
	n, unit := int64(b), 0
	for n != 0 && n%1024 == 0 && unit < len(units)-1 {
		n, unit = n>>10, unit+1
	}
	return strconv.FormatInt(n, 10) + units[unit]
}

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

func validPrefix(prefix string) bool { return prefixForm.MatchString(prefix) }
