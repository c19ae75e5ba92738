package ordering

import (
	"sync/atomic"
	"time"

	"larder/internal/menu"
)

// Validator checks orders against catalogues, prices them, and maps them to
// what the ordering service takes. It is safe for concurrent use.
type Validator struct {
	cfg         Config
	clock       func() time.Time
	forms       *forms
	restaurants atomic.Pointer[map[menu.RestaurantID]rules]
}

// rules are what applies to one restaurant.
type rules struct {
	Config
	location *time.Location
}

// NewValidator makes a Validator. cfg is the section after SetDefaults; the
// zero Config means the defaults. clock is asked once for each order.
func NewValidator(cfg Config, clock func() time.Time) *Validator {
	if cfg.MaxZero == "" && cfg.TimeAhead == 0 && cfg.Required.Delivery == nil {
		cfg.SetDefaults()
	}
	return &Validator{cfg: cfg, clock: clock, forms: newForms()}
}

// SetRestaurants gives the restaurants their own time zones and rules, in
// place of what was given before. It may be called at any time; an order that
// is being validated keeps the rules it began with.
func (v *Validator) SetRestaurants(restaurants []Restaurant) {
	all := make(map[menu.RestaurantID]rules, len(restaurants))
	for _, r := range restaurants {
		all[r.ID] = rules{Config: v.cfg.With(r.Override), location: r.Location}
	}
	v.restaurants.Store(&all)
}

// rules gives what applies to a restaurant.
func (v *Validator) rules(restaurant menu.RestaurantID) rules {
	r := rules{Config: v.cfg}
	if all := v.restaurants.Load(); all != nil {
		if own, ok := (*all)[restaurant]; ok {
			r = own
		}
	}
	if r.location == nil {
		r.location = time.UTC
	}
	return r
}

// Validate judges one order: priced and mapped, or with every violation at
// once. The error is a *menu.SyntaxError, when the body is no JSON or nests
// deeper than 32 brackets. O(body + lines × groups) for ordinary menus; the
// work of assigning ingredients that stand in several groups is bounded.
func (v *Validator) Validate(req Request) (*Verdict, error) {
	c := &check{
		Request:  req,
		rules:    v.rules(req.Restaurant),
		now:      v.clock(),
		findings: findings{language: req.Language},
		forms:    v.forms,
		work:     assignmentWork,
	}
	o, err := decode(req.Body, v.forms, req.Native, c.levels(), &c.findings)
	if err != nil {
		return nil, err
	}
	c.order = o
	return c.verdict(), nil
}

// check is the judging of one order.
type check struct {
	Request
	rules
	findings

	now   time.Time
	forms *forms
	order *order
	items []item // beside order.lines
	table table  // of the list of ingredients being judged
	work  int    // steps left for assignments
}

// levels is how many levels of ingredients a dish may have: as many as the
// catalogue was compiled for (policy W15).
func (c *check) levels() int {
	if depth := c.Catalogue.Settings().MaxDepth; depth > 0 {
		return min(depth, maxConfiguredDepth)
	}
	return menu.DefaultMaxDepth
}

func (c *check) verdict() *Verdict {
	result := &Verdict{Version: c.Version, Lines: []Line{}}
	if c.order.state == readable {
		c.checkDishes()
		result.Lines, result.Total = c.price()
		c.checkFields(result)
	}
	result.Violations = c.sorted()
	result.Valid = len(result.Violations) == 0
	if result.Valid {
		result.Order = c.wire(result)
	}
	return result
}
