package validate

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/setting"
)

// MaxZero is the meaning of maxCount 0 (policy M2).
type MaxZero string

// The meanings of maxCount 0.
const (
	MaxZeroUnlimited MaxZero = "unlimited" // no maximum
	MaxZeroNone      MaxZero = "none"      // none allowed
)

// MissingExternalID is the handling of a dish or ingredient without externalId (policy O2).
type MissingExternalID string

// The ways to handle a missing externalId.
const (
	MissingFallback MissingExternalID = "fallback" // its id is sent instead
	MissingRefuse   MissingExternalID = "refuse"   // it cannot be ordered
)

// Config contains the settings of order validation: the settings of policies M and P, and those of
// policies O about bodies. It is a part of the `ordering:` section. The fields of Override can be
// set per restaurant (restaurants[].ordering).
type Config struct {
	// MaxZero is the meaning of maxCount 0: unlimited or none. Policy M2.
	MaxZero MaxZero `yaml:"max_zero"`
	// MaxDepth is the maximum number of modifier levels of a dish. Policy W15.
	MaxDepth int `yaml:"max_depth"`
	// FractionalUnits are the measure units of dishes that are sold in fractional quantities. Policy M8.
	FractionalUnits []string `yaml:"fractional_units"`
	// MaxQuantity is the maximum quantity of one line. Policy H10.
	MaxQuantity int `yaml:"max_quantity"`
	// PriceDigits is the number of digits to which each line is rounded, half-up. Policy P1.
	PriceDigits int `yaml:"price_digits"`
	// Required lists the mandatory fields of each expedition type. Policy O1.
	Required Required `yaml:"required"`
	// MissingExternalID is the handling of dishes and ingredients without an externalId: fallback or refuse. Policy O2.
	MissingExternalID MissingExternalID `yaml:"missing_external_id"`
	// PastTolerance is how far expectedAt may be in the past. Policy O4.
	PastTolerance time.Duration `yaml:"past_tolerance"`
	// MaxLead is how far expectedAt may be in the future. Policy O4.
	MaxLead time.Duration `yaml:"max_lead"`
	// LeadTime is added to the current time for `soonest` on the v1 API. Policy O4.
	LeadTime time.Duration `yaml:"lead_time"`
}

// Required lists mandatory fields by their names in the ordering service's interface, for example
// guest.phone. dishList, ID and quantity of a dish, and expeditionType are always mandatory.
type Required struct {
	Delivery []string `yaml:"delivery"`
	Pickup   []string `yaml:"pickup"`
}

// Override is the `ordering:` section of one restaurant. Its values override the general ones.
type Override struct {
	MaxZero           *MaxZero           `yaml:"max_zero"`
	MaxDepth          *int               `yaml:"max_depth"`
	FractionalUnits   *[]string          `yaml:"fractional_units"`
	MaxQuantity       *int               `yaml:"max_quantity"`
	PriceDigits       *int               `yaml:"price_digits"`
	Required          RequiredOverride   `yaml:"required"`
	MissingExternalID *MissingExternalID `yaml:"missing_external_id"`
	PastTolerance     *time.Duration     `yaml:"past_tolerance"`
	MaxLead           *time.Duration     `yaml:"max_lead"`
	LeadTime          *time.Duration     `yaml:"lead_time"`
}

// RequiredOverride is Required for one restaurant.
type RequiredOverride struct {
	Delivery *[]string `yaml:"delivery"`
	Pickup   *[]string `yaml:"pickup"`
}

// DefaultConfig returns the defaults that policies.md documents.
func DefaultConfig() Config {
	return Config{
		MaxZero:           MaxZeroUnlimited,
		MaxDepth:          menu.DefaultMaxDepth,
		FractionalUnits:   []string{"kg", "liter"},
		MaxQuantity:       999,
		PriceDigits:       2,
		MissingExternalID: MissingFallback,
		PastTolerance:     time.Minute,
		MaxLead:           30 * 24 * time.Hour,
		LeadTime:          time.Hour,
		Required: Required{
			Delivery: []string{
				"restaurantID", "expeditionType", "expectedAt", "paymentTypeID", "dishList", "dishList[].ID", "dishList[].quantity",
				"guest", "guest.phone", "address.street", "address.cityName", "address.houseNumber", "address.fullAddress",
			},
			Pickup: []string{
				"restaurantID", "expeditionType", "expectedAt", "paymentTypeID", "dishList", "dishList[].ID", "dishList[].quantity",
			},
		},
	}
}

// With returns the configuration with the overrides of one restaurant.
func (c Config) With(o Override) Config {
	c.MaxZero = *cmp.Or(o.MaxZero, &c.MaxZero)
	c.MaxDepth = *cmp.Or(o.MaxDepth, &c.MaxDepth)
	c.FractionalUnits = *cmp.Or(o.FractionalUnits, &c.FractionalUnits)
	c.MaxQuantity = *cmp.Or(o.MaxQuantity, &c.MaxQuantity)
	c.PriceDigits = *cmp.Or(o.PriceDigits, &c.PriceDigits)
	c.Required.Delivery = *cmp.Or(o.Required.Delivery, &c.Required.Delivery)
	c.Required.Pickup = *cmp.Or(o.Required.Pickup, &c.Required.Pickup)
	c.MissingExternalID = *cmp.Or(o.MissingExternalID, &c.MissingExternalID)
	c.PastTolerance = *cmp.Or(o.PastTolerance, &c.PastTolerance)
	c.MaxLead = *cmp.Or(o.MaxLead, &c.MaxLead)
	c.LeadTime = *cmp.Or(o.LeadTime, &c.LeadTime)
	return c
}

// MenuSettings returns the settings for compiling a restaurant's menu. stopListAnyValue is a
// setting of its connection (policy W7).
func (c Config) MenuSettings(stopListAnyValue bool) menu.Settings {
	return menu.Settings{
		MaxZeroNone:             c.MaxZero == MaxZeroNone,
		StopListAnyValue:        stopListAnyValue,
		RefuseMissingExternalID: c.MissingExternalID == MissingRefuse,
		MaxDepth:                c.MaxDepth,
	}
}

// Validate checks the settings. It returns every fault as a *setting.Error, joined.
func (c Config) Validate() error {
	faults := setting.Faults{
		setting.OneOf("max_zero", "value", c.MaxZero, MaxZeroUnlimited, MaxZeroNone),
		setting.OneOf("missing_external_id", "value", c.MissingExternalID, MissingFallback, MissingRefuse),
	}
	between := func(key string, value, low, high int) {
		faults.If(value < low || value > high, key, "must be between %d and %d, not %d", low, high, value)
	}
	between("max_depth", c.MaxDepth, 1, maxConfiguredDepth)
	between("max_quantity", c.MaxQuantity, 1, maxUnits)
	between("price_digits", c.PriceDigits, 0, 6)
	faults.If(c.PastTolerance < 0, "past_tolerance", "must not be negative")
	faults.If(c.MaxLead <= 0, "max_lead", "must be more than 0")
	faults.If(c.LeadTime < 0 || c.LeadTime > c.MaxLead, "lead_time", "must be between 0 and max_lead")
	for _, list := range []struct {
		key   string
		names []string
	}{{"required.delivery", c.Required.Delivery}, {"required.pickup", c.Required.Pickup}} {
		for _, name := range list.names {
			faults.If(!slices.Contains(fieldNames(), name), list.key,
				"%q is not a field of an order (valid: %s)", name, strings.Join(fieldNames(), ", "))
		}
	}
	return errors.Join(faults...)
}

// maxConfiguredDepth keeps the brackets of a body within maxBodyDepth.
const maxConfiguredDepth = 12

// fieldNames returns the names that Required may list.
func fieldNames() []string {
	names := []string{"dishList[].ID", "dishList[].quantity"}
	for _, name := range orderFields.usual {
		if name != "soonest" { // not a field of the interface
			names = append(names, name)
		}
	}
	for _, name := range guestFields.usual {
		names = append(names, "guest."+name)
	}
	for _, name := range addressFields.usual {
		names = append(names, "address."+name)
	}
	return names
}
