package sync

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"larder.local/cache"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/setting"
	"larder.local/internal/upstream"
)

// Defaults of the `sync:` section that other packages use. SetDefaults has all of them.
const (
	defaultSchedule = "@every 2m"
	DefaultHistory  = 20
)

// minLease leaves enough time for the three renewals of a lease.
const minLease = 100 * time.Millisecond

// minMemory is enough for one menu view of 1 MiB at a time.
const minMemory cache.ByteSize = 8 << 20

// Config is the `sync:` section of the configuration. A zero field means its default.
type Config struct {
	// Schedule is the default schedule of restaurants, and the schedule of default menus and rejection
	// reasons: `@every 2m`, five cron fields, or a descriptor such as `@hourly` (policy S1).
	Schedule string `yaml:"schedule"`
	// ShrinkLimit is the share of the served dishes, or of their prices, that the guard lets a menu lose in one sync
	// (policy S4). It is above 0 and at most 1.
	ShrinkLimit float64 `yaml:"shrink_limit"`
	Guard       Guard   `yaml:"guard"`
	// History is the number of contents kept for each restaurant (policy S7).
	History int `yaml:"history"`
	// StaleAfter is the number of missed schedules after which a menu is stale (policy S5).
	StaleAfter int `yaml:"stale_after"`
	// Deadline limits one run with all its retries.
	Deadline time.Duration `yaml:"deadline"`
	// Runs is the number of run records kept for each restaurant (policy S7).
	Runs int `yaml:"runs"`
	// RunIndex is the number of latest runs in the list over all restaurants.
	RunIndex int `yaml:"run_index"`
	// Concurrency is the number of restaurants that an instance syncs at the same time. With several
	// connections, one connection gets at most half of it, and each gets at least one.
	Concurrency int `yaml:"concurrency"`
	// Memory limits the memory that all runs of an instance use for menu views and
	// compiled menus. One view may have an eighth of it.
	Memory cache.ByteSize `yaml:"memory"`
	// Lease is how long a lease lasts if its holder vanishes. It is renewed three times in that time.
	Lease time.Duration `yaml:"lease"`
}

// SetDefaults sets every zero field to its documented default.
func (c *Config) SetDefaults() {
	c.Schedule = cmp.Or(c.Schedule, defaultSchedule)
	c.ShrinkLimit = cmp.Or(c.ShrinkLimit, 0.5)
	for _, check := range []**bool{&c.Guard.IDs, &c.Guard.Prices, &c.Guard.Growth} {
		*check = cmp.Or(*check, new(true))
	}
	c.History = cmp.Or(c.History, DefaultHistory)
	c.StaleAfter = cmp.Or(c.StaleAfter, 3)
	c.Runs = cmp.Or(c.Runs, 1000)
	c.RunIndex = cmp.Or(c.RunIndex, 50_000)
	c.Concurrency = cmp.Or(c.Concurrency, 16)
	c.Memory = cmp.Or(c.Memory, bytesPerBodyByte*upstream.MaxMenuBytes) // enough for the largest view that is read at all
	c.Deadline = cmp.Or(c.Deadline, time.Minute)
	c.Lease = cmp.Or(c.Lease, 15*time.Second)
}

// Validate checks every value after SetDefaults. The error joins one *setting.Error for each invalid value.
func (c *Config) Validate() error {
	var faults setting.Faults
	_, err := ParseSchedule(c.Schedule, "", "")
	faults.If(err != nil, "sync.schedule", "%v", err)
	err = CheckShrinkLimit(c.ShrinkLimit)
	faults.If(err != nil, "sync.shrink_limit", "%v", err)
	const positive = "must be at least 1"
	faults.If(c.History < 1, "sync.history", positive)
	faults.If(c.StaleAfter < 1, "sync.stale_after", positive)
	faults.If(c.Runs < 1, "sync.runs", positive)
	faults.If(c.RunIndex < 1, "sync.run_index", positive)
	faults.If(c.Concurrency < 1, "sync.concurrency", positive)
	faults.If(c.Deadline < time.Second, "sync.deadline", "must be at least 1s")
	faults.If(c.Memory < minMemory, "sync.memory", "must be at least %s", minMemory)
	faults.If(c.Lease < minLease, "sync.lease", "must be at least %v", minLease)
	return errors.Join(faults...)
}

// CheckShrinkLimit returns the error of a shrink_limit.
func CheckShrinkLimit(limit float64) error {
	switch {
	case limit > 1 && limit <= 100:
		return fmt.Errorf("must be above 0 and at most 1: write %g for %g %%", limit/100, limit)
	case !(limit > 0 && limit <= 1):
		return errors.New("must be above 0 and at most 1")
	default:
		return nil
	}
}

// Restaurant is one restaurant whose menu is synced.
type Restaurant struct {
	directory.Restaurant
	Schedule string // empty: Config.Schedule
	TimeZone string // IANA name for five-field schedules; empty: UTC
	Settings menu.Settings
	Guard    GuardLimits
}

// Connection is what syncs need of a connection to an ordering service.
type Connection struct {
	Name   string
	Source Source
	// SourceName is the upstream.Source of the connection (policy O16).
	SourceName string
	// DefaultMenu also syncs the connection's default menu, the view that the
	// service returns without restaurantId, as cache.DefaultMenu(Name).
	DefaultMenu bool
	Settings    menu.Settings // of the default menu
	Guard       GuardLimits   // of the same
}
