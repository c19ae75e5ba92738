package validate

import (
	"errors"
	"slices"
	"strings"
	"time"

	"larder/internal/menu"
	"larder/internal/setting"
)

// MaxZero says what maxCount 0 means (policy M2).
type MaxZero string

// The two readings of maxCount 0.
const (
	MaxZeroUnlimited MaxZero = "unlimited" // no upper limit
	MaxZeroNone      MaxZero = "none"      // none allowed
)

// MissingExternalID says what becomes of a dish or ingredient without
// externalId (policy O2).
type MissingExternalID string

// The two ways with a missing externalId.
const (
	MissingFallback MissingExternalID = "fallback" // it is sent by its id
	MissingRefuse   MissingExternalID = "refuse"   // it cannot be ordered
)

// Config are the settings that orders are checked by: the switches of
// the policies M and P, and of those of the policies O that concern a body. It is
// a part of the `ordering:` section. The fields of Override may be given for one
// restaurant alone (restaurants[].ordering).
type Config struct {
	// MaxZero reads maxCount 0: unlimited or none. Policy M2.
	MaxZero MaxZero `yaml:"max_zero"`
	// MaxDepth is how many levels of modifiers a dish may have. Policy W15.
	MaxDepth int `yaml:"max_depth"`
	// FractionalUnits are the measure units whose dishes are sold in fractional quantities. Policy M8.
	FractionalUnits []string `yaml:"fractional_units"`
	// MaxQuantity is how many of a dish one line of an order may have. Policy H10.
	MaxQuantity int `yaml:"max_quantity"`
	// PriceDigits is to how many digits each line is rounded, half-up. Policy P1.
	PriceDigits int `yaml:"price_digits"`
	// Required lists the mandatory fields of each expedition type. Policy O1.
	Required Required `yaml:"required"`
	// MissingExternalID is what happens to dishes and ingredients without one: fallback or refuse. Policy O2.
	MissingExternalID MissingExternalID `yaml:"missing_external_id"`
	// PastTolerance is how far in the past expectedAt may lie. Policy O4.
	PastTolerance time.Duration `yaml:"past_tolerance"`
	// MaxLead is how far in the future expectedAt may lie. Policy O4.
	MaxLead time.Duration `yaml:"max_lead"`
	// LeadTime is what `soonest` adds to now on the v1 API. Policy O4.
	LeadTime time.Duration `yaml:"lead_time"`
}

// Required lists mandatory fields by their names in the ordering service's
// interface, such as guest.phone. dishList, its ID and quantity, and
// expeditionType are mandatory whether listed or not: without them there is no
// order.
type Required struct {
	Delivery []string `yaml:"delivery"`
	Pickup   []string `yaml:"pickup"`
}

// Override is one restaurant's own `ordering:` section: what is given takes
// the place of the general value.
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

// RequiredOverride is Required for one restaurant alone.
type RequiredOverride struct {
	Delivery *[]string `yaml:"delivery"`
	Pickup   *[]string `yaml:"pickup"`
}

// DefaultConfig returns the documented defaults of the policies.
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

// With returns the configuration with one restaurant's own values laid over it.
func (c Config) With(o Override) Config {
	overlay(&c.MaxZero, o.MaxZero)
	overlay(&c.MaxDepth, o.MaxDepth)
	overlay(&c.FractionalUnits, o.FractionalUnits)
	overlay(&c.MaxQuantity, o.MaxQuantity)
	overlay(&c.PriceDigits, o.PriceDigits)
	overlay(&c.Required.Delivery, o.Required.Delivery)
	overlay(&c.Required.Pickup, o.Required.Pickup)
	overlay(&c.MissingExternalID, o.MissingExternalID)
	overlay(&c.PastTolerance, o.PastTolerance)
	overlay(&c.MaxLead, o.MaxLead)
	overlay(&c.LeadTime, o.LeadTime)
	return c
}

func overlay[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// MenuSettings returns the switches that a restaurant's menu is compiled with;
// stopListAny comes from its connection (policy W7).
func (c Config) MenuSettings(stopListAnyValue bool) menu.Settings {
	return menu.Settings{
		MaxZeroNone:             c.MaxZero == MaxZeroNone,
		StopListAnyValue:        stopListAnyValue,
		RefuseMissingExternalID: c.MissingExternalID == MissingRefuse,
		MaxDepth:                c.MaxDepth,
	}
}

// Validate checks the settings. Every fault comes back, each a *setting.Error,
// joined.
func (c Config) Validate() error {
	var errs []error
	fault := func(bad bool, key, msg string, args ...any) {
		if bad {
			errs = append(errs, setting.Errorf(key, msg, args...))
		}
	}
	fault(c.MaxZero != MaxZeroUnlimited && c.MaxZero != MaxZeroNone,
		"max_zero", "%q is none of unlimited, none", string(c.MaxZero))
	fault(c.MissingExternalID != MissingFallback && c.MissingExternalID != MissingRefuse,
		"missing_external_id", "%q is none of fallback, refuse", string(c.MissingExternalID))
	fault(c.MaxDepth < 1 || c.MaxDepth > maxConfiguredDepth,
		"max_depth", "%d is not between 1 and %d", c.MaxDepth, maxConfiguredDepth)
	fault(c.MaxQuantity < 1 || c.MaxQuantity > maxUnits, "max_quantity", "%d is not between 1 and %d", c.MaxQuantity, maxUnits)
	fault(c.PriceDigits < 0 || c.PriceDigits > 6, "price_digits", "%d is not between 0 and 6", c.PriceDigits)
	fault(c.PastTolerance < 0, "past_tolerance", "must not be negative")
	fault(c.MaxLead <= 0, "max_lead", "must be more than 0")
	fault(c.LeadTime < 0 || c.LeadTime > c.MaxLead, "lead_time", "must be between 0 and max_lead")
	for _, list := range []struct {
		key   string
		names []string
	}{{"required.delivery", c.Required.Delivery}, {"required.pickup", c.Required.Pickup}} {
		for _, name := range list.names {
			fault(!slices.Contains(fieldNames(), name), list.key,
				"%q is no field of an order; known are %s", name, strings.Join(fieldNames(), ", "))
		}
	}
	return errors.Join(errs...)
}

// maxConfiguredDepth keeps a body's modifiers within MaxBodyDepth brackets.
const maxConfiguredDepth = 12

// fieldNames are the names that Required may list.
func fieldNames() []string {
	names := []string{"dishList[].ID", "dishList[].quantity"}
	for _, f := range orderFields.known[:orderSoonest] { // which is larder's own
		names = append(names, f.name)
	}
	for _, f := range guestFields.known {
		names = append(names, "guest."+f.name)
	}
	for _, f := range addressFields.known {
		names = append(names, "address."+f.name)
	}
	return names
}
