package cache

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"larder.local/internal/setting"
)

// Config is the `cache:` section of the configuration.
type Config struct {
	// Memory limits the encoded response bodies of one process.
	Memory ByteSize `yaml:"memory"`
	// Poll is how often versions are compared with Redis, in case a notice was lost.
	Poll time.Duration `yaml:"poll"`
}

const (
	// DefaultMemory is the default of Config.Memory.
	DefaultMemory ByteSize = 512 << 20
	// DefaultPoll is the default of Config.Poll.
	DefaultPoll = 5 * time.Second

	leastMemory ByteSize = 1 << 20
	leastPoll            = 100 * time.Millisecond
)

// SetDefaults sets every zero field to its default.
func (c *Config) SetDefaults() {
	c.Memory = cmp.Or(c.Memory, DefaultMemory)
	c.Poll = cmp.Or(c.Poll, DefaultPoll)
}

// Validate checks the section after SetDefaults. The error joins one *setting.Error for each invalid value.
func (c Config) Validate() error {
	var faults setting.Faults
	faults.If(c.Memory < leastMemory, "cache.memory", "must be at least 1MiB")
	faults.If(c.Poll < leastPoll, "cache.poll", "must be at least %v", leastPoll)
	return errors.Join(faults...)
}

// ByteSize is a number of bytes, written as 1048576, 512KiB, 512MiB or 2GiB.
type ByteSize int64

// UnmarshalText reads an integer with an optional unit (B, KiB, MiB, GiB).
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
		return fmt.Errorf("%q is not a valid size; write 1048576, 512KiB, 512MiB or 2GiB", text)
	}
	*b = ByteSize(n << shift)
	return nil
}

// MarshalText returns the size as String does, for YAML and JSON.
func (b ByteSize) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String returns the size with the largest unit that divides it.
func (b ByteSize) String() string {
	units := [...]string{"", "KiB", "MiB", "GiB"}
	n, unit := int64(b), 0
	for n != 0 && n%1024 == 0 && unit < len(units)-1 {
		n, unit = n>>10, unit+1
	}
	return strconv.FormatInt(n, 10) + units[unit]
}
