package ordering

import (
	"errors"
	"time"

	"larder.local/internal/setting"
	"larder.local/ordering/validate"
)

// Config is the `ordering:` section of the configuration: the settings of policies M, P and O.
type Config struct {
	// Config contains the settings of order validation.
	validate.Config `yaml:",inline"`

	// PlaceTimeout limits one call that places, pays, completes or rejects an order, even if the
	// client disconnects; at most 100s, because a response takes at most two minutes. Policy O8.
	PlaceTimeout time.Duration `yaml:"place_timeout"`
	// AllowMissingKey allows orders without Idempotency-Key on the v1 API. A retry of such an order
	// is not recognised. Policy O7.
	AllowMissingKey bool `yaml:"allow_missing_key"`
	// KeyTTL is how long a key is remembered after its order was placed or refused. Policy O7.
	KeyTTL time.Duration `yaml:"key_ttl"`
	// RecordTTL is how long a record is kept after the later of its creation and expectedAt. Policy O13.
	RecordTTL time.Duration `yaml:"record_ttl"`
	// CustomerDataTTL is how long guest data and the service's raw answers are kept; it must be at
	// least key_ttl. Policy O13.
	CustomerDataTTL time.Duration `yaml:"customer_data_ttl"`
	// InFlightGrace is how long after place_timeout a call without a result counts as unknown. Policy O12.
	InFlightGrace time.Duration `yaml:"in_flight_grace"`
	// SweepEvery is the interval between searches for calls without a result. Policy O12.
	SweepEvery time.Duration `yaml:"sweep_every"`
	// AllowUnderpayment allows payments on the v1 API to be less than the order's total. Policy O10.
	AllowUnderpayment bool `yaml:"allow_underpayment"`
	// AllowEviction allows orders while Redis may evict keys. Policy O14.
	AllowEviction bool `yaml:"allow_eviction"`
	// WaitReplicas is the number of Redis replicas that must acknowledge each change of a record.
	// The default is 1 if a replica has ever acknowledged a write, otherwise 0. Policy O14.
	WaitReplicas *int `yaml:"wait_replicas"`
	// WaitTimeout limits the wait for these replicas. Policy O14.
	WaitTimeout time.Duration `yaml:"wait_timeout"`
	// AcceptRestore continues with orders and their changes after Redis was restored or lost its data,
	// without an operator. The default is true with the embedded Redis. Policy O14a.
	AcceptRestore *bool `yaml:"accept_restore"`
	// StateDir is the directory in which an instance stores the last commit that Redis had; if it
	// is empty, only memory is used. Policy O14a.
	StateDir string `yaml:"state_dir"`
	// Durability is what must have an order before it is sent: the disk of Redis or its replicas. Policy O14b.
	Durability Durability `yaml:"durability"`
	// AllowNonDurable allows orders while Redis keeps nothing on disk. Policy O14.
	AllowNonDurable bool `yaml:"allow_non_durable"`
}

// Durability is what must have an order before it is sent (policy O14b).
type Durability string

// The kinds of durability.
const (
	DurableOnDisk     Durability = "disk"     // the append-only file of Redis
	DurableByReplicas Durability = "replicas" // the memory of wait_replicas replicas is enough
)

// DefaultConfig returns the defaults that policies.md documents.
func DefaultConfig() Config {
	return Config{
		Config:          validate.DefaultConfig(),
		PlaceTimeout:    20 * time.Second,
		KeyTTL:          24 * time.Hour,
		RecordTTL:       45 * 24 * time.Hour,
		CustomerDataTTL: 7 * 24 * time.Hour,
		InFlightGrace:   30 * time.Second,
		SweepEvery:      5 * time.Second,
		WaitTimeout:     time.Second,
		Durability:      DurableOnDisk,
	}
}

// minKeyTTL is how long the order form repeats an order (forKeeping in httpapi/web/src/larder/place.ts).
const minKeyTTL = 12 * time.Hour

// SetDefaults sets every field to its default. It runs before the file is decoded, so that a zero
// in the file overrides a default.
func (c *Config) SetDefaults() { *c = DefaultConfig() }

// Validate checks the section after SetDefaults. It returns every fault as a *setting.Error, joined.
func (c Config) Validate() error {
	var faults setting.Faults
	const positive = "must be more than 0"
	faults.If(c.PlaceTimeout <= 0, "place_timeout", positive)
	faults.If(c.PlaceTimeout > 100*time.Second, "place_timeout", "must be at most 100s: a response takes at most two minutes")
	faults.If(c.KeyTTL < minKeyTTL, "key_ttl", "must be at least 12h: the order form repeats an order with its key for so long")
	faults.If(c.RecordTTL <= 0, "record_ttl", positive)
	faults.If(c.CustomerDataTTL <= 0, "customer_data_ttl", positive)
	faults.If(c.InFlightGrace <= 0, "in_flight_grace", positive)
	faults.If(c.SweepEvery <= 0, "sweep_every", positive)
	faults.If(c.WaitTimeout <= 0, "wait_timeout", positive)
	faults.If(c.CustomerDataTTL < c.KeyTTL, "customer_data_ttl", "must be at least key_ttl: a replay needs the stored answer")
	faults.If(c.RecordTTL < c.CustomerDataTTL, "record_ttl", "must be at least customer_data_ttl")
	faults.If(c.WaitReplicas != nil && *c.WaitReplicas < 0, "wait_replicas", "must not be negative")
	faults.If(c.Durability == DurableByReplicas && (c.WaitReplicas == nil || *c.WaitReplicas < 1), "durability",
		"replicas needs ordering.wait_replicas of at least 1")
	return errors.Join(c.Config.Validate(), errors.Join(faults...),
		setting.OneOf("durability", "value", c.Durability, DurableOnDisk, DurableByReplicas))
}
