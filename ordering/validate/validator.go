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

// Validator checks orders against catalogues, prices them, and maps them to
// what the ordering service takes. It is safe for concurrent use.
type Validator struct {
	cfg         Config
	clock       func() time.Time
	general     *rules
	restaurants atomic.Pointer[map[menu.RestaurantID]*rules]
	checks      sync.Pool // of *validation: the room that checking takes
}

// New returns a Validator. Config.Validate accepts cfg. clock is asked once for
// each order.
func New(cfg Config, clock func() time.Time) *Validator {
	v := &Validator{cfg: cfg, clock: clock, general: newRules(cfg, nil)}
	v.checks.New = func() any { return new(validation) }
	return v
}

// SetRestaurants sets the restaurants' own time zones and rules, in place of
// those that were set before. It may be called at any time; an order that
// is being validated keeps the rules it began with.
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

// Check checks one order and returns it priced and mapped, or every violation
// at once. O(lines × groups) for ordinary menus; the work of assigning
// ingredients that stand in several groups is bounded. The error is a
// *jsontext.SyntaxError, which DecodeOrder returns too.
//
// The result shares nothing with the order, whose body may be used again.
func (v *Validator) Check(o *Order, req Request) (*Result, error) {
	c, _ := v.checks.Get().(*validation)
	req.Input = o.Input
	c.start(v, req)
	c.order, c.violations = &o.fields, o.violations.Clone()
	var err error
	// DecodeOrder knows no catalogue, and reads as many levels as are usual.
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

// AppendResult is DecodeOrder and Check for the validate route: it appends the JSON
// of what was found, with the priced lines, to dst. dst must not be part of req.Body.
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

// Request is one order to be validated.
type Request struct {
	// Restaurant is whose menu the Catalogue is; on the v1 API the
	// route's, and what is sent as restaurantID.
	Restaurant menu.RestaurantID
	// Version is the catalogue's.
	Version int64
	// Catalogue is what the order is checked against.
	Catalogue *menu.Catalogue
	// Input is the order; Check takes that of its Order.
	Input
}

// Restaurant is what is particular to one restaurant.
type Restaurant struct {
	ID menu.RestaurantID
	// Location is its time zone; nil is UTC. It shows in the offset of an
	// expectedAt that larder fills in (policy O4).
	Location *time.Location
	// Override is its own `ordering:` section.
	Override Override
}

// rules are what applies to one restaurant.
type rules struct {
	Config

	location *time.Location

	// What policy O1 asks of an order, by its type; of one whose type is not
	// known, what every type needs.
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
		Config: cfg, location: location,
		delivery: requiredFieldsOf(cfg.Required.Delivery), pickup: requiredFieldsOf(cfg.Required.Pickup), either: requiredFieldsOf(both),
	}
}

// requiredField is one mandatory field, beside those of the dishes.
type requiredField struct {
	name  string // the interface's, from the order on: guest.phone
	outer string // guest or address; "" for the order itself
	inner string // within it: phone
	field int    // of its fields; wholeObject for guest or address itself
}

// wholeObject is the field of a requiredField that wants a guest or an address,
// whatever is in it.
const wholeObject = -1

// requiredFields are the mandatory fields of one type of order.
type requiredFields struct {
	all         []requiredField
	plain       [orderFieldCount]bool // the order's plain fields among them
	fullAddress bool                  // composed where it is missing
}

// requiredFieldsOf lays out a list of Required. What is checked elsewhere is
// left out: the dishes, and restaurantID, which the v1 route fills and the compatible API
// can do without (policy O1a). expeditionType is always needed.
func requiredFieldsOf(names []string) requiredFields {
	var n requiredFields
	if !slices.Contains(names, "expeditionType") {
		names = append([]string{"expeditionType"}, names...)
	}
	for _, name := range names {
		outer, inner, nested := strings.Cut(name, ".")
		wanted := requiredField{name: name, outer: outer, inner: inner, field: wholeObject}
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

// required returns what the order must have (policy O1).
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
