package validate_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
	"larder.local/internal/setting"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
)

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	cfg := validate.DefaultConfig()
	if err := cfg.Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	if diff := cmp.Diff(menu.Settings{StopListAnyValue: true, MaxDepth: 6}, cfg.MenuSettings(true)); diff != "" {
		t.Errorf("MenuSettings (-want +got):\n%s", diff)
	}
}

func TestConfigErrorsNameTheirKeys(t *testing.T) {
	t.Parallel()
	cfg := validate.Config{
		MaxZero:           "some",
		MissingExternalID: "x",
		MaxDepth:          13,
		PriceDigits:       -1,
		PastTolerance:     -1,
		LeadTime:          time.Hour,
		Required:          validate.Required{Delivery: []string{"guest.fax"}, Pickup: []string{"comment"}},
	}
	err := cfg.Validate()
	for _, key := range []string{
		"max_zero", "missing_external_id", "max_depth", "max_quantity", "price_digits", "past_tolerance", "max_lead", "lead_time", "required.delivery",
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
		change func(c *validate.Config, wrong bool)
	}{
		{"max_depth", func(c *validate.Config, wrong bool) { c.MaxDepth = menutest.Pick(wrong, 0, 1) }},
		{"max_depth", func(c *validate.Config, wrong bool) { c.MaxDepth = menutest.Pick(wrong, 13, 12) }},
		{"max_quantity", func(c *validate.Config, wrong bool) { c.MaxQuantity = menutest.Pick(wrong, 0, 1) }},
		{"max_quantity", func(c *validate.Config, wrong bool) { c.MaxQuantity = menutest.Pick(wrong, 1_000_001, 1_000_000) }},
		{"price_digits", func(c *validate.Config, wrong bool) { c.PriceDigits = menutest.Pick(wrong, -1, 0) }},
		{"price_digits", func(c *validate.Config, wrong bool) { c.PriceDigits = menutest.Pick(wrong, 7, 6) }},
		{"past_tolerance", func(c *validate.Config, wrong bool) { c.PastTolerance = menutest.Pick(wrong, time.Duration(-1), 0) }},
		{"max_lead", func(c *validate.Config, wrong bool) {
			c.MaxLead, c.LeadTime = menutest.Pick(wrong, time.Duration(0), 1), 0
		}},
		{"lead_time", func(c *validate.Config, wrong bool) { c.LeadTime = menutest.Pick(wrong, time.Duration(-1), 0) }},
		{"lead_time", func(c *validate.Config, wrong bool) {
			c.LeadTime = c.MaxLead + menutest.Pick(wrong, time.Duration(1), 0)
		}},
	} {
		for _, wrong := range []bool{false, true} {
			cfg := validate.DefaultConfig()
			tc.change(&cfg, wrong)
			var fault *setting.Error
			err := cfg.Validate()
			if found := errors.As(err, &fault) && fault.Key == tc.key; found != wrong || (err != nil) != wrong {
				t.Errorf("%s, wrong %t: %v", tc.key, wrong, err)
			}
		}
	}
}

func TestOverride(t *testing.T) {
	t.Parallel()
	none, refuse, depth, digits, most := validate.MaxZeroNone, validate.MissingRefuse, 2, 0, 10
	grace, ahead, lead := time.Second, time.Hour, time.Minute
	units, fields := []string{"g"}, []string{"comment"}
	got := validate.DefaultConfig().With(validate.Override{
		MaxZero:           &none,
		MissingExternalID: &refuse,
		MaxDepth:          &depth,
		PriceDigits:       &digits,
		FractionalUnits:   &units,
		MaxQuantity:       &most,
		Required:          validate.RequiredOverride{Delivery: &fields, Pickup: &fields},
		PastTolerance:     &grace,
		MaxLead:           &ahead,
		LeadTime:          &lead,
	})
	want := validate.DefaultConfig()
	want.MaxZero, want.MissingExternalID, want.MaxDepth, want.FractionalUnits, want.PriceDigits = none, refuse, 2, units, 0
	want.MaxQuantity = most
	want.Required = validate.Required{Delivery: fields, Pickup: fields}
	want.PastTolerance, want.MaxLead, want.LeadTime = grace, ahead, lead
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("With (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(menu.Settings{MaxZeroNone: true, RefuseMissingExternalID: true, MaxDepth: 2}, got.MenuSettings(false)); diff != "" {
		t.Errorf("MenuSettings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(validate.DefaultConfig(), validate.DefaultConfig().With(validate.Override{})); diff != "" {
		t.Errorf("an empty override changes something:\n%s", diff)
	}
}

// Each field of Override changes the field of the same name, and no other. A field without a line in With
// would have no effect.
func TestEachOverrideHasItsLineInWith(t *testing.T) {
	t.Parallel()
	for _, path := range fieldsOf(reflect.TypeFor[validate.Override]()) {
		override, want := validate.Override{}, validate.DefaultConfig()
		at, field := reflect.ValueOf(&override).Elem(), reflect.ValueOf(&want).Elem()
		for _, name := range path {
			if at, field = at.FieldByName(name), field.FieldByName(name); !field.IsValid() {
				t.Fatalf("Config has no field %v", path)
			}
		}
		at.Set(reflect.New(at.Type().Elem()))
		value := at.Elem()
		switch value.Kind() {
		case reflect.String:
			value.SetString("other")
		case reflect.Slice:
			value.Set(reflect.ValueOf([]string{"other"}))
		default:
			value.SetInt(4711)
		}
		field.Set(value)
		if diff := cmp.Diff(want, validate.DefaultConfig().With(override)); diff != "" {
			t.Errorf("With of %v alone; is its line missing? (-want +got):\n%s", path, diff)
		}
	}
}

// fieldsOf returns the names of each pointer in a struct, and in the structs that it contains.
func fieldsOf(t reflect.Type) (paths [][]string) {
	for f := range t.Fields() {
		if f.Type.Kind() != reflect.Struct {
			paths = append(paths, []string{f.Name})
			continue
		}
		for _, inner := range fieldsOf(f.Type) {
			paths = append(paths, append([]string{f.Name}, inner...))
		}
	}
	return paths
}
