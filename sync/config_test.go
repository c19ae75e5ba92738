package sync_test

import (
	"errors"
	"testing"
	"time"

	"larder.local/internal/setting"
	menusync "larder.local/sync"
)

func TestConfigDefaultsAreValid(t *testing.T) {
	t.Parallel()
	var cfg menusync.Config
	cfg.SetDefaults()
	if err := cfg.Validate(); err != nil {
		t.Fatalf("the defaults are invalid: %v", err)
	}
	if cfg.Schedule != "@every 2m" || cfg.ShrinkLimit != 0.5 || cfg.History != 20 || cfg.StaleAfter != 3 ||
		cfg.Deadline != time.Minute || cfg.Runs != 1000 {
		t.Errorf("the defaults %+v differ from the documentation", cfg)
	}
}

func TestInvalidConfigs(t *testing.T) {
	t.Parallel()
	for key, spoil := range map[string]func(*menusync.Config){
		"sync.schedule":     func(c *menusync.Config) { c.Schedule = "often" },
		"sync.shrink_limit": func(c *menusync.Config) { c.ShrinkLimit = 1.5 },
		"sync.history":      func(c *menusync.Config) { c.History = -1 },
		"sync.stale_after":  func(c *menusync.Config) { c.StaleAfter = -1 },
		"sync.runs":         func(c *menusync.Config) { c.Runs = -1 },
		"sync.run_index":    func(c *menusync.Config) { c.RunIndex = -1 },
		"sync.concurrency":  func(c *menusync.Config) { c.Concurrency = -1 },
		"sync.deadline":     func(c *menusync.Config) { c.Deadline = time.Millisecond },
		"sync.lease":        func(c *menusync.Config) { c.Lease = time.Millisecond },
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			var cfg menusync.Config
			cfg.SetDefaults()
			spoil(&cfg)
			var refused *setting.Error
			if err := cfg.Validate(); !errors.As(err, &refused) || refused.Key != key || refused.Error() == "" {
				t.Errorf("Validate() = %v, want an error of %s", err, key)
			}
		})
	}
}

func TestConfigReportsEveryError(t *testing.T) {
	t.Parallel()
	var cfg menusync.Config
	cfg.SetDefaults()
	cfg.Schedule, cfg.Runs, cfg.Lease = "often", -1, time.Millisecond
	many, ok := cfg.Validate().(interface{ Unwrap() []error })
	if !ok || len(many.Unwrap()) != 3 {
		t.Errorf("Validate() = %v, want three errors", cfg.Validate())
	}
}
