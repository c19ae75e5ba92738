package ordering_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
	"larder.local/internal/setting"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	cfg := ordering.DefaultConfig()
	if err := cfg.Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	var set ordering.Config
	set.SetDefaults()
	if diff := cmp.Diff(cfg, set); diff != "" {
		t.Errorf("SetDefaults sets other values (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(menu.Settings{StopListAnyValue: true, MaxDepth: 6}, cfg.MenuSettings(true)); diff != "" {
		t.Errorf("MenuSettings (-want +got):\n%s", diff)
	}
}

func TestConfigErrorsNameTheirKeys(t *testing.T) {
	t.Parallel()
	cfg := ordering.Config{
		Config: validate.Config{
			MaxZero:           "some",
			MissingExternalID: "x",
			MaxDepth:          13,
			PriceDigits:       -1,
			PastTolerance:     -1,
			LeadTime:          time.Hour,
			Required:          validate.Required{Delivery: []string{"guest.fax"}, Pickup: []string{"comment"}},
		},
		WaitReplicas: new(-1), RecordTTL: -1,
	}
	err := cfg.Validate()
	for _, key := range []string{
		"max_zero", "missing_external_id", "max_depth", "max_quantity", "price_digits", "past_tolerance", "max_lead", "lead_time", "place_timeout",
		"key_ttl", "record_ttl", "customer_data_ttl", "in_flight_grace", "sweep_every", "wait_timeout", "wait_replicas", "required.delivery",
	} {
		if err == nil || !strings.Contains("\n"+err.Error(), "\n"+key+": ") {
			t.Errorf("%s is missing in %v", key, err)
		}
	}
	var one *setting.Error
	if !errors.As(err, &one) || strings.Contains(err.Error(), "required.pickup") {
		t.Errorf("error %v", err)
	}
}

// TestConfigBounds tests the last valid and the first invalid value of each setting.
func TestConfigBounds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		key    string
		change func(c *ordering.Config, wrong bool)
	}{
		{"place_timeout", func(c *ordering.Config, wrong bool) { c.PlaceTimeout = menutest.Pick(wrong, time.Duration(0), 1) }},
		{"place_timeout", func(c *ordering.Config, wrong bool) {
			c.PlaceTimeout = menutest.Pick(wrong, 101*time.Second, 100*time.Second)
		}},
		{"sweep_every", func(c *ordering.Config, wrong bool) { c.SweepEvery = menutest.Pick(wrong, time.Duration(0), 1) }},
		{"key_ttl", func(c *ordering.Config, wrong bool) {
			c.KeyTTL = 12*time.Hour - menutest.Pick(wrong, time.Duration(1), 0)
		}},
		{"customer_data_ttl", func(c *ordering.Config, wrong bool) {
			c.CustomerDataTTL = c.KeyTTL - menutest.Pick(wrong, time.Duration(1), 0)
		}},
		{"record_ttl", func(c *ordering.Config, wrong bool) {
			c.RecordTTL = c.CustomerDataTTL - menutest.Pick(wrong, time.Duration(1), 0)
		}},
		{"wait_replicas", func(c *ordering.Config, wrong bool) { c.WaitReplicas = new(menutest.Pick(wrong, -1, 0)) }},
	} {
		for _, wrong := range []bool{false, true} {
			cfg := ordering.DefaultConfig()
			tc.change(&cfg, wrong)
			var fault *setting.Error
			err := cfg.Validate()
			if found := errors.As(err, &fault) && fault.Key == tc.key; found != wrong || (err != nil) != wrong {
				t.Errorf("%s, wrong %t: %v", tc.key, wrong, err)
			}
		}
	}
}

// The settings of durability, and the message of each invalid combination (policy O14b).
func TestDurabilitySettings_O14b(t *testing.T) {
	t.Parallel()
	const (
		needs    = "durability: replicas needs ordering.wait_replicas of at least 1"
		negative = "wait_replicas: must not be negative"
		unknown  = `durability: unknown value "%s" (valid: disk, replicas)`
	)
	for _, test := range []struct {
		durability ordering.Durability
		wait       *int
		want       string
	}{
		{ordering.DurableOnDisk, nil, ""},
		{ordering.DurableOnDisk, new(0), ""},
		{ordering.DurableOnDisk, new(1), ""},
		{ordering.DurableOnDisk, new(-1), negative},
		{ordering.DurableByReplicas, nil, needs},
		{ordering.DurableByReplicas, new(0), needs},
		{ordering.DurableByReplicas, new(-1), negative + "\n" + needs},
		{ordering.DurableByReplicas, new(1), ""},
		{ordering.DurableByReplicas, new(2), ""},
		{"", new(1), fmt.Sprintf(unknown, "")},
		{"both", new(1), fmt.Sprintf(unknown, "both")},
		{"both", new(-1), negative + "\n" + fmt.Sprintf(unknown, "both")},
		{"replica", nil, `durability: unknown value "replica"; did you mean "replicas"? (valid: disk, replicas)`},
	} {
		for _, nonDurable := range []bool{false, true} { // changes nothing here
			cfg := ordering.DefaultConfig()
			cfg.Durability, cfg.WaitReplicas, cfg.AllowNonDurable = test.durability, test.wait, nonDurable
			got := ""
			if err := cfg.Validate(); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("%+v: got %q", test, got)
			}
		}
	}
	if kind := ordering.DefaultConfig().Durability; kind != ordering.DurableOnDisk {
		t.Errorf("the default is %q, want disk", kind)
	}
}
