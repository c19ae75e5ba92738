package cache

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Embedded is the redis.url of a Redis inside the process, in memory only.
const Embedded = "embedded"

// RedisConfig is the configuration's section redis.
type RedisConfig struct {
	// URL is "embedded", or redis:// or rediss:// with user, password, host,
	// port and database number. It may hold a password.
	URL string `secret:"true" yaml:"url"`
	// DataDir is the data folder of a managed server.
	DataDir string `yaml:"data_dir"`
	// Prefix begins every key, so that several larders share one Redis.
	Prefix string `yaml:"prefix"`
}

// SetDefaults fills what is empty.
func (c *RedisConfig) SetDefaults() {
	if c.URL == "" {
		c.URL = Embedded
	}
	if c.DataDir == "" {
		c.DataDir = "./data"
	}
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
}

// Validate checks the section after SetDefaults. Every fault comes back, each
// a *ConfigError; none of them repeats the URL, which may hold a password.
func (c RedisConfig) Validate() error {
	var faults []error
	if _, err := parseURL(c.URL); err != nil {
		faults = append(faults, err)
	}
	if !validPrefix(c.Prefix) {
		faults = append(faults, &ConfigError{Key: "redis.prefix", Msg: "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -"})
	}
	return errors.Join(faults...)
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

// address is a parsed redis.url.
type address struct {
	embedded bool
	options  *redis.Options // of redis:// and rediss://
}

// supported is what this build opens, for messages.
const supported = `write "embedded", redis://[user:password@]host[:port][/database] or rediss://… (TLS)`

// parseURL never puts the URL into its error: it may hold a password.
func parseURL(raw string) (address, error) {
	if raw == Embedded {
		return address{embedded: true}, nil
	}
	refuse := func(why string) (address, error) {
		return address{}, &ConfigError{Key: "redis.url", Msg: why + "; " + supported}
	}
	scheme, _, found := strings.Cut(raw, "://")
	switch {
	case raw == "managed":
		return refuse(`"managed" is not supported yet`)
	case !found:
		return refuse("has no scheme")
	case strings.HasSuffix(scheme, "+sentinel"), strings.HasSuffix(scheme, "+cluster"):
		return refuse(scheme + ":// is not supported yet")
	case scheme != "redis" && scheme != "rediss":
		return refuse(strconv.Quote(scheme) + " is no scheme of a Redis address")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return refuse("cannot be read as an address")
	}
	if u.Hostname() == "" {
		return refuse("names no host")
	}
	// What go-redis would refuse, and with it a password given as an option,
	// which nothing would redact. Its error quotes the URL.
	options, err := redis.ParseURL(raw)
	if err != nil {
		return refuse("has a database or option that cannot be read")
	}
	return address{options: options}, nil
}

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

func validPrefix(prefix string) bool { return prefixForm.MatchString(prefix) }
