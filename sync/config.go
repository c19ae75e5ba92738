package sync

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"larder/cache"
	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/setting"
	"larder/internal/upstream"
)

// The documented defaults of the `sync:` section that others need; SetDefaults has
// all of them.
const (
	DefaultSchedule = "@every 2m"
	DefaultHistory  = 20
)

// minLease leaves the three renewals of a lease some time each.
const minLease = 100 * time.Millisecond

// minMemory is enough for menu views of 1 MiB, one at a time.
const minMemory cache.ByteSize = 8 << 20

// Config is the `sync:` section of the configuration. A zero field means its
// default.
type Config struct {
	// Schedule is the schedule of restaurants that name none, of default
	// menus and of rejection reasons: `@every 2m`, five cron fields, or a
	// descriptor such as `@hourly` (policy S1).
	Schedule string `yaml:"schedule"`
	// ShrinkLimit is the share of its products that a menu may lose at once,
	// above 0 and at most 1; more is quarantined (policy S4).
	ShrinkLimit float64 `yaml:"shrink_limit"`
	// History is how many contents are kept a restaurant (policy S7).
	History int `yaml:"history"`
	// StaleAfter is after how many missed schedules a menu counts as stale
	// (policy S5).
	StaleAfter int `yaml:"stale_after"`
	// Deadline bounds one run with all its retries.
	Deadline time.Duration `yaml:"deadline"`
	// Runs is how many run records are kept a restaurant (policy S7).
	Runs int `yaml:"runs"`
	// RunIndex is how many of the latest runs the list over all restaurants
	// remembers.
	RunIndex int `yaml:"run_index"`
	// Concurrency is how many restaurants one larder syncs at the same time;
	// with several connections half of them of one, and always one of each.
	Concurrency int `yaml:"concurrency"`
	// Memory bounds what the runs of one larder take at the same time for menu
	// views and what is made of them. One view may have an eighth of it.
	Memory cache.ByteSize `yaml:"memory"`
	// Lease is how long a run's claim outlives a holder that has vanished; it
	// is renewed three times as often.
	Lease time.Duration `yaml:"lease"`
}

// SetDefaults fills in the documented default of every zero field.
func (c *Config) SetDefaults() {
	c.Schedule = cmp.Or(c.Schedule, DefaultSchedule)
	c.ShrinkLimit = cmp.Or(c.ShrinkLimit, 0.5)
	c.History = cmp.Or(c.History, DefaultHistory)
	c.StaleAfter = cmp.Or(c.StaleAfter, 3)
	c.Runs = cmp.Or(c.Runs, 1000)
	c.RunIndex = cmp.Or(c.RunIndex, 50_000)
	c.Concurrency = cmp.Or(c.Concurrency, 16)
	c.Memory = cmp.Or(c.Memory, bytesPerBodyByte*upstream.MaxMenuBytes) // enough for the largest view that is read at all
	c.Deadline = cmp.Or(c.Deadline, time.Minute)
	c.Lease = cmp.Or(c.Lease, 15*time.Second)
}

// Validate checks every value of a Config after SetDefaults. The error joins one
// *setting.Error for each that cannot be meant.
func (c *Config) Validate() error {
	var errs []error
	bad := func(key, msg string) { errs = append(errs, setting.Errorf("sync."+key, "%s", msg)) }
	if _, err := ParseSchedule(c.Schedule, "", ""); err != nil {
		bad("schedule", err.Error())
	}
	if !(c.ShrinkLimit > 0 && c.ShrinkLimit <= 1) {
		bad("shrink_limit", "must be above 0 and at most 1")
	}
	for _, count := range []struct {
		key   string
		value int
	}{
		{"history", c.History},
		{"stale_after", c.StaleAfter},
		{"runs", c.Runs},
		{"run_index", c.RunIndex},
		{"concurrency", c.Concurrency},
	} {
		if count.value < 1 {
			bad(count.key, "must be at least 1")
		}
	}
	if c.Deadline < time.Second {
		bad("deadline", "must be at least 1s")
	}
	if c.Memory < minMemory {
		bad("memory", fmt.Sprintf("must be at least %s", minMemory))
	}
	if c.Lease < minLease {
		bad("lease", fmt.Sprintf("must be at least %v", minLease))
	}
	return errors.Join(errs...)
}

// Restaurant is one restaurant whose menu is kept.
type Restaurant struct {
	directory.Restaurant
	Schedule string // empty: Config.Schedule
	TimeZone string // IANA name that five-field schedules are read in; empty: UTC
	Settings menu.Settings
}

// Connection is one connection to an ordering service, as far as syncs need
// it.
type Connection struct {
	Name   string
	Source Source
	// DefaultMenu also keeps the connection's own menu view, the one that the
	// service answers without restaurantId, as cache.DefaultMenu(Name).
	DefaultMenu bool
	Settings    menu.Settings // of the default menu
}
