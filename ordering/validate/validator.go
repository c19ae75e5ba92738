package validate

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"larder/internal/menu"
	"larder/ordering/violation"
)

// Validator checks orders against catalogues, computes their prices, and converts them for the
// ordering service. It is safe for concurrent use.
type Validator struct {
	cfg         Config
	clock       func() time.Time
	general     *rules
	restaurants atomic.Pointer[map[menu.RestaurantID]*rules]
	checks      sync.Pool // of *validation, for their buffers
}

// New returns a Validator with a valid cfg. It calls clock once for each order.
func New(cfg Config, clock func() time.Time) *Validator {
	v := &Validator{cfg: cfg, clock: clock, general: newRules(cfg, nil)}
	v.checks.New = func() any { return new(validation) }
	return v
}

// SetRestaurants replaces the time zones and rules of restaurants. It may be called at any time; an
// order that is being validated keeps the earlier rules.
func (v *Validator) SetRestaurants(restaurants []Restaurant) {
	all := make(map[menu.RestaurantID]*rules, len(restaurants))
	for _, r := range restaurants {
		all[r.ID] = newRules(v.cfg.With(r.Override), r.Location)
	}
	v.restaurants.Store(&all)
}

func (v *Validator) rules(restaurant menu.RestaurantID) *rules {
	if all := v.restaurants.Load(); all != nil {
		if own, ok := (*all)[restaurant]; ok {
			return own
		}
	}
	return v.general
}

// Check checks one order. It returns the order with prices and converted for the ordering service,
// or all its violations. It is O(lines × groups) for ordinary menus; the work to assign ingredients
// that are in several groups is limited. The error is a *jsontext.SyntaxError, as for DecodeOrder.
//
// The result shares no memory with the order, whose body may be reused.
func (v *Validator) Check(o *Order, req Request) (*Result, error) {
	c, _ := v.checks.Get().(*validation)
	req.Input = o.Input
	c.start(v, req)
	c.order, c.violations = &o.fields, o.violations.Clone()
	var err error
	// DecodeOrder knows no catalogue and decodes only the usual number of levels.
	if levels := c.levels(); levels != menu.DefaultMaxDepth && o.fields.deepest > min(levels, menu.DefaultMaxDepth) {
		c.violations = violation.List{Language: req.Language}
		err = c.decode()
	}
	var result *Result
	if err == nil {
		c.violations.Limit = 0
		result = c.result()
	}
	v.done(c)
	return result, err
}

// AppendResult decodes and checks an order for the validate route. It appends the JSON of the
// result, with the prices of the lines, to dst. dst must not overlap req.Body.
func (v *Validator) AppendResult(dst []byte, req Request) ([]byte, error) {
	c, _ := v.checks.Get().(*validation)
	c.start(v, req)
	err := c.decode()
	if err == nil {
		dst, err = c.writeResult(dst)
	}
	v.done(c)
	return dst, err
}

func (v *Validator) done(c *validation) {
	if c.finish() {
		v.checks.Put(c)
	}
}

// Request is a request to validate one order.
type Request struct {
	// Restaurant is the restaurant of the Catalogue. On the v1 API it is the restaurant of the
	// route and is sent as restaurantID.
	Restaurant menu.RestaurantID
	Version    int64 // version of the Catalogue
	Catalogue  *menu.Catalogue
	// Input is the order. Check ignores it and uses the Input of its Order.
	Input
}

// Restaurant contains the settings of one restaurant.
type Restaurant struct {
	ID menu.RestaurantID
	// Location is its time zone, used when larder sets expectedAt (policy O4); nil means UTC.
	Location *time.Location
	Override Override // its `ordering:` section
}

// rules are the settings that apply to one restaurant.
type rules struct {
	Config

	location *time.Location

	// The fields that policy O1 requires by type of order; either is for an unknown type and has
	// only the fields that all types need.
	delivery, pickup, either requiredFields
}

func newRules(cfg Config, location *time.Location) *rules {
	if location == nil {
		location = time.UTC
	}
	both := slices.DeleteFunc(slices.Clone(cfg.Required.Pickup), func(name string) bool {
		return !slices.Contains(cfg.Required.Delivery, name)
	})
	return &rules{
		Config:   cfg,
		location: location,
		delivery: requiredFieldsOf(cfg.Required.Delivery),
		pickup:   requiredFieldsOf(cfg.Required.Pickup),
		either:   requiredFieldsOf(both),
	}
}

// requiredField is a mandatory field, other than those of dishes.
type requiredField struct {
	name  string // full name in the interface: guest.phone
	outer string // guest or address; "" for the order itself
	inner string // within it: phone
	field int    // index of its table; wholeObject for guest or address itself
}

// wholeObject is the field of a requiredField that requires a guest or an address with any content.
const wholeObject = -1

// requiredFields are the mandatory fields of one type of order.
type requiredFields struct {
	all         []requiredField
	plain       [orderFieldCount]bool // mandatory plain fields of the order
	fullAddress bool                  // composed if it is missing
}

// requiredFieldsOf converts a list of Required. It omits fields that are checked elsewhere: the
// dishes, and restaurantID, which the v1 route sets and the compatible API does not need (policy
// O1a). It always adds expeditionType.
func requiredFieldsOf(names []string) requiredFields {
	var n requiredFields
	if !slices.Contains(names, "expeditionType") {
		names = append([]string{"expeditionType"}, names...)
	}
	for _, name := range names {
		outer, inner, nested := strings.Cut(name, ".")
		wanted := requiredField{
			name:  name,
			outer: outer,
			inner: inner,
			field: wholeObject,
		}
		fields := orderFields
		switch outer {
		case "guest":
			fields = guestFields
		case "address":
			fields = addressFields
		default:
			wanted.outer, wanted.inner, nested = "", name, true
		}
		if nested {
			wanted.field = slices.IndexFunc(fields.known, func(f knownField) bool { return f.name == wanted.inner })
			if wanted.field < 0 || wanted.outer == "" && wanted.field >= orderFieldCount {
				continue
			}
		}
		n.fullAddress = n.fullAddress || name == "address.fullAddress"
		if wanted.outer == "" {
			n.plain[wanted.field] = true
			if wanted.field == orderRestaurant {
				continue
			}
		}
		n.all = append(n.all, wanted)
	}
	return n
}

// required returns the mandatory fields of the order (policy O1).
func (c *validation) required() *requiredFields {
	switch c.order.values[orderExpedition].text {
	case delivery:
		return &c.delivery
	case pickup:
		return &c.pickup
	default:
		return &c.either
	}
}
