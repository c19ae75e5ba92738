package validate

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
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

// New returns a Validator with a valid cfg. It calls clock once for each order without Request.At.
func New(cfg Config, clock func() time.Time) *Validator {
	v := &Validator{cfg: cfg, clock: clock, general: newRules(cfg, nil)}
	v.checks.New = func() any { return new(validation) }
	return v
}

// SetRestaurants replaces the time zones and rules of restaurants. It may be called at any time; an
// order that is being validated keeps the earlier rules.
func (v *Validator) SetRestaurants(restaurants []Restaurant) {
	all := make(map[menu.RestaurantID]*rules, len(restaurants))
	equal := map[Restaurant]*rules{} // by override and location: most restaurants of a chain have the same
	for _, r := range restaurants {
		same := Restaurant{Location: r.Location, Override: r.Override}
		if equal[same] == nil {
			equal[same] = newRules(v.cfg.With(r.Override), r.Location)
		}
		all[r.ID] = equal[same]
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

// validation is the check of one order. Its buffers are reused for the next order, and its strings
// are parts of the body. A Result refers to neither.
type validation struct {
	Request
	*rules

	violations violation.List
	now        time.Time
	order      *decodedOrder // own, or the fields of an Order
	own        decodedOrder  // decoded by AppendResult
	items      []item        // parallel to order.lines, if checked
	itemsReady bool
	// unchecked is the first dish that was not checked, or none.
	unchecked int32
	groups    groupTable // of the current list of ingredients
	work      int        // remaining steps for assignments

	// The prices of the order.
	lines      []priced // the dishes
	total      amount   // of all lines
	expectedAt time.Time

	full string // the address as one text

	body   []byte // for the ordering service
	mapped mapping
}

func (c *validation) start(v *Validator, req Request) {
	c.Request, c.rules, c.now, c.work = req, v.rules(req.Restaurant), req.At, assignmentWork
	if c.now.IsZero() {
		c.now = v.clock()
	}
	c.violations.Language, c.itemsReady, c.unchecked = req.Language, false, none
	c.lines, c.total, c.expectedAt = c.lines[:0], amount{}, time.Time{}
}

// Buffers above these sizes are not kept for the next order; an ordinary order needs a tenth.
const (
	keptLines = 200
	keptBytes = 32 << 10
)

// finish releases the order, so that the pool does not keep its body and its menu in memory. It
// reports whether the buffers are worth keeping.
func (c *validation) finish() bool {
	if max(cap(c.own.lines), cap(c.items)) > keptLines || cap(c.body) > keptBytes || cap(c.groups.eligible) > keptBytes {
		return false
	}
	c.Request, c.rules, c.violations, c.full, c.order = Request{}, nil, violation.List{}, "", nil
	c.own.clear()
	clear(c.lines)
	c.mapped.clear()
	return true
}

func (c *validation) decode() error {
	c.order = &c.own
	err := c.own.decode(c.Input, c.levels(), &c.violations)
	c.violations.Limit = 0
	return err
}

// levels returns the maximum number of ingredient levels, the catalogue's depth limit (policy W15).
func (c *validation) levels() int {
	if depth := c.Catalogue.Settings().MaxDepth; depth > 0 {
		return min(depth, maxConfiguredDepth)
	}
	return menu.DefaultMaxDepth
}

// checkOrder checks the decoded order and reports whether it is valid.
func (c *validation) checkOrder() bool {
	if c.order.state == readable {
		c.checkDishes()
		c.price()
		fieldCheck{c}.checkFields()
	}
	return c.violations.Len() == 0
}

func (c *validation) result() *Result {
	result := &Result{Version: c.Version, Valid: c.checkOrder(), ExpectedAt: c.expectedAt}
	if c.total.known {
		result.Total = decimal.NewNullDecimal(c.total.Decimal())
	}
	result.Violations, result.More = c.violations.Sorted()
	if result.Valid {
		c.body = c.mapped.mapOrder(c).AppendJSON(c.body[:0], c.FieldCase)
		result.Order = slices.Clone(c.body)
	}
	return result
}

// Result is the result of validating an order.
type Result struct {
	Valid   bool  // true if the order may be placed in the form of Order
	Version int64 // version of the catalogue that the order was checked against (policy O6)
	// Total is the sum of the lines. An invalid order has one too, if all its lines have prices.
	Total      decimal.NullDecimal
	Violations []violation.Violation // all violations in the order of the body, up to 200 (policy H7)
	// More is true if there are more violations than those 200. The check stopped there.
	More       bool
	Order      json.RawMessage // exact body for the ordering service; nil for an invalid order
	ExpectedAt time.Time       // expected time; zero if it is missing or invalid
}

// resultWriter writes the JSON response of the validate route.
type resultWriter struct{ jsontext.Writer }

// writeResult checks the order and appends the JSON of the result. Amounts are exact decimals; unknown values are null.
func (c *validation) writeResult(dst []byte) ([]byte, error) {
	w := resultWriter{jsontext.Writer{Buf: dst}}
	valid := c.checkOrder()
	w.Open('{')
	w.Name("valid")
	w.Bool(valid)
	w.Name("version")
	w.Int(c.Version)
	w.amount("total", c.total)
	w.Name("lines")
	w.Open('[')
	for i := range c.lines {
		w.line(&c.lines[i])
	}
	w.Close(']')
	w.Name("violations")
	if violations, more := c.violations.Sorted(); len(violations) == 0 {
		w.Raw("[]")
	} else {
		text, err := json.Marshal(violations)
		if err != nil {
			return dst, err
		}
		w.Buf = append(w.Buf, text...)
		if more {
			w.Name("more")
			w.Bool(true)
		}
	}
	w.Name("order")
	if valid {
		w.Buf = c.mapped.mapOrder(c).AppendJSON(w.Buf, c.FieldCase)
	} else {
		w.Raw("null")
	}
	w.Close('}')
	return w.Buf, nil
}

func (w *resultWriter) line(l *priced) {
	w.Next()
	w.Open('{')
	w.Name("path")
	w.Text(l.path)
	w.Name("id")
	w.Text(l.id)
	w.Name("name")
	w.Text(l.name)
	w.amount("quantity", l.quantity)
	w.amount("price", l.price)
	w.amount("total", l.total)
	w.Close('}')
}

func (w *resultWriter) amount(name string, a amount) {
	w.Name(name)
	if a.known {
		w.Number(a.Number)
	} else {
		w.Raw("null")
	}
}
