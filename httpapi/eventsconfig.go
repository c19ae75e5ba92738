package httpapi

import (
	"time"

	"larder/internal/setting"
)

// EventsConfig is `http.events`: the streams of GET /v1/events. Policy H1.
type EventsConfig struct {
	// PerAddress is how many streams one address may have open; 0 lifts the limit.
	PerAddress int `yaml:"per_address"`
	// Total is how many streams all addresses may have open together.
	Total int `yaml:"total"`
	// Heartbeat is how often a comment is sent, so that nobody on the way
	// takes a quiet stream for a dead one.
	Heartbeat time.Duration `yaml:"heartbeat"`
	// WriteTimeout is how long a reader may take no byte before it is dropped.
	WriteTimeout time.Duration `yaml:"write_timeout"`
}

// leastPause is the shortest heartbeat and write timeout.
const leastPause = 100 * time.Millisecond

// SetDefaults fills what is not set.
func (c *EventsConfig) SetDefaults() {
	if c.PerAddress == 0 {
		c.PerAddress = 10
	}
	if c.Total == 0 {
		c.Total = 20_000
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = 15 * time.Second
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 10 * time.Second
	}
}

// check gives every fault of the section, each a *setting.Error.
func (c EventsConfig) check() []error {
	var errs []error
	if c.PerAddress < 0 {
		errs = append(errs, setting.Errorf("http.events.per_address", "must not be negative; 0 is no limit"))
	}
	if c.Total < 1 {
		errs = append(errs, setting.Errorf("http.events.total", "must be at least 1"))
	}
	for _, pause := range []struct {
		key   string
		value time.Duration
	}{{"http.events.heartbeat", c.Heartbeat}, {"http.events.write_timeout", c.WriteTimeout}} {
		if pause.value < leastPause {
			errs = append(errs, setting.Errorf(pause.key, "must be at least %v", leastPause))
		}
	}
	return errs
}
