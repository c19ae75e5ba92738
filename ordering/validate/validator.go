package validate

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"larder.local/internal/hours"
	"larder.local/internal/menu"
)

// Validator checks orders against catalogues, computes their prices, and converts them for the
// ordering service. It is safe for concurrent use.
type Validator struct {
	cfg         Config
	clock       func() time.Time
	general     *rules
	restaurants atomic.Pointer[map[menu.RestaurantID]*rules]
	// Availability returns what operators have said about a restaurant, without waiting: nothing, unless it is set before
	// orders are checked.
	Availability func(menu.RestaurantID) hours.Availability
}

// New returns a Validator with a valid cfg. It calls clock once for each order without Request.At.
func New(cfg Config, clock func() time.Time) *Validator {
	nothing := func(menu.RestaurantID) hours.Availability { return nil }
	return &Validator{cfg: cfg, clock: clock, general: newRules(cfg, Restaurant{}), Availability: nothing}
}

// SetRestaurants replaces the time zones and rules of restaurants. It may be called at any time; an
// order that is being validated keeps the earlier rules.
func (v *Validator) SetRestaurants(restaurants []Restaurant) {
	all := make(map[menu.RestaurantID]*rules, len(restaurants))
	equal := map[Restaurant]*rules{} // without ids: most restaurants of a chain have the same
	for _, r := range restaurants {
		same := r
		same.ID = ""
		if equal[same] == nil {
			equal[same] = newRules(v.cfg.With(r.Override), same)
		}
		all[r.ID] = equal[same]
	}
	v.restaurants.Store(&all)
}

// Terms returns what a restaurant asks of its orders for delivery and for pickup at a time.
func (v *Validator) Terms(restaurant menu.RestaurantID, now time.Time) (delivery, pickup Terms) {
	of, said := v.rules(restaurant), v.Availability(restaurant)
	delivery = of.delivery.restricted(said, hours.PauseDelivery, now, of.location)
	pickup = of.pickup.restricted(said, hours.PausePickup, now, of.location)
	return delivery, pickup
}

func (v *Validator) rules(restaurant menu.RestaurantID) *rules {
	if all := v.restaurants.Load(); all != nil {
		if own, ok := (*all)[restaurant]; ok {
			return own
		}
	}
	return v.general
}

// Request is a request to validate one order.
type Request struct {
	// Restaurant is the restaurant of the Catalogue. On the v1 API it is the restaurant of the
	// route and is sent as restaurantID.
	Restaurant menu.RestaurantID
	Version    int64 // version of the Catalogue
	Catalogue  *menu.Catalogue
	// At is the time at which the order is checked; zero means now.
	At time.Time
	// Input is the order. Check ignores it and uses the Input of its Order.
	Input
}

// Restaurant contains the settings of one restaurant.
type Restaurant struct {
	ID menu.RestaurantID
	// Location is its time zone, used when larder sets expectedAt (policy O4); nil means UTC.
	Location *time.Location
	Override Override // its `ordering:` section
	Delivery Terms
	Pickup   Terms
}

// rules are the settings that apply to one restaurant.
type rules struct {
	Config

	location         *time.Location
	delivery, pickup Terms

	// The fields that policy O1 requires, by type of order. An unknown type has only the fields that all types need.
	required map[string][]requiredField
}

func newRules(cfg Config, of Restaurant) *rules {
	both := slices.DeleteFunc(slices.Clone(cfg.Required.Pickup), func(name string) bool {
		return !slices.Contains(cfg.Required.Delivery, name)
	})
	for _, terms := range []*Terms{&of.Delivery, &of.Pickup} {
		terms.LeadTime = cmp.Or(terms.LeadTime, &cfg.LeadTime)
	}
	return &rules{
		Config:   cfg,
		location: cmp.Or(of.Location, time.UTC),
		delivery: of.Delivery,
		pickup:   of.Pickup,
		required: map[string][]requiredField{
			delivery: requiredFieldsOf(cfg.Required.Delivery),
			pickup:   requiredFieldsOf(cfg.Required.Pickup),
			"":       requiredFieldsOf(both),
		},
	}
}

// Check checks one order. It returns the order with prices and converted for the ordering service,
// or all its violations. It is O(lines × groups) for ordinary menus; the work to find items that share
// identifiers, and to assign ingredients that are in several groups, is limited. The error is a
// *jsontext.SyntaxError, as for DecodeOrder.
func (v *Validator) Check(o *Order, req Request) (*Result, error) {
	o, err := o.withLevels(levelsOf(req.Catalogue))
	if err != nil {
		return nil, err
	}
	return v.newCheck(o, req).run().result(), nil
}

// AppendResult decodes and checks an order for the validate route. It appends the JSON of the
// result, with the prices of the lines, to dst.
func (v *Validator) AppendResult(dst []byte, req Request) ([]byte, error) {
	o := &Order{}
	if err := o.decode(newDecoder(req.Input), levelsOf(req.Catalogue), nil); err != nil {
		return dst, err
	}
	return v.newCheck(o, req).run().appendJSON(dst)
}

// Recheck checks an order again that the service has refused. before is the menu of the first check, which accepted the
// order; req has the current menu, and the time of the first check. The result has the violations of the order now. If
// there are none, it has price_changed for each line whose price differs between the menus (policy O18).
func (v *Validator) Recheck(o *Order, req Request, before *menu.Catalogue) (*Result, error) {
	o, err := o.withLevels(levelsOf(req.Catalogue))
	if err != nil {
		return nil, err
	}
	current := req.Catalogue
	req.Catalogue = before
	dishes, _ := v.newCheck(o, req).checkDishes()
	earlier := appendPrices(nil, dishes)
	req.Catalogue = current
	now := v.newCheck(o, req).run()
	result := now.result()
	if result.Valid {
		now.comparePrices(now.dishes, earlier)
		result.Violations, result.More = now.Violations()
	}
	return result, nil
}

// check is the check of one order. Each step adds its violations, and returns its result.
type check struct {
	Request
	*rules
	notes

	now     time.Time
	said    hours.Availability // by operators
	order   *Order
	table   groupTable                         // of the list that is counted
	work    int                                // remaining steps; see workLimit
	offered map[menu.Index]map[menu.Index]bool // the ingredients that a dish with the scheme offers; see offeredOf
}

func (v *Validator) newCheck(o *Order, req Request) *check {
	c := &check{Request: req, rules: v.rules(req.Restaurant), said: v.Availability(req.Restaurant), now: req.At, order: o, work: workLimit}
	if c.now.IsZero() {
		c.now = v.clock()
	}
	c.Input = o.Input
	c.notes = notes{text: o.text, language: o.language, all: slices.Clone(o.all)}
	return c
}

// levelsOf returns the maximum number of ingredient levels, the catalogue's depth limit (policy W15).
func levelsOf(catalogue *menu.Catalogue) int {
	return min(catalogue.Settings().MaxDepth, maxConfiguredDepth)
}

// withLevels returns the order decoded with another depth limit than Decode, which knows no catalogue.
func (o *Order) withLevels(levels int) (*Order, error) {
	if levels == menu.DefaultMaxDepth || o.deepest <= min(levels, menu.DefaultMaxDepth) {
		return o, nil
	}
	again := &Order{}
	return again, again.decode(newDecoder(o.Input), levels, nil)
}
