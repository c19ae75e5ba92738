package validate

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/ordering/violation"
)

// validation is the check of one order. Its room is used for one order after the
// other, and its texts are the body's: a Result has no part of either.
type validation struct {
	Request
	*rules

	violations violation.List
	now        time.Time
	order      *order // own, or that of an Order
	own        order  // where AppendResult decodes
	items      []item // beside order.lines, where checked
	itemsReady bool
	// unchecked is the first dish that was left unchecked, or none.
	unchecked int32
	groups    groupTable // of the list of ingredients being checked
	work      int        // steps left for assignments

	// What the order comes to.
	lines      []priced // the dishes
	total      amount   // of all of them
	expectedAt time.Time

	full string // the address in one text

	body   []byte // for the ordering service
	mapped mapping
}

// start makes a check of the order ready.
func (c *validation) start(v *Validator, req Request) {
	c.Request, c.rules, c.now, c.work = req, v.rules(req.Restaurant), v.clock(), assignmentWork
	c.violations.Language, c.itemsReady, c.unchecked = req.Language, false, none
	c.lines, c.total, c.expectedAt = c.lines[:0], amount{}, time.Time{}
}

// The largest room that is kept for the next order; an ordinary order needs a
// tenth of it.
const (
	keptLines = 200
	keptBytes = 32 << 10
)

// finish forgets the order, so that its texts and its menu do not live on. It
// reports whether the room is worth keeping.
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

// decode decodes the body for the catalogue.
func (c *validation) decode() error {
	c.order = &c.own
	err := c.own.decode(c.Input, c.levels(), &c.violations)
	c.violations.Limit = 0
	return err
}

// levels is how many levels of ingredients a dish may have: as many as the
// catalogue was compiled for (policy W15).
func (c *validation) levels() int {
	if depth := c.Catalogue.Settings().MaxDepth; depth > 0 {
		return min(depth, maxConfiguredDepth)
	}
	return menu.DefaultMaxDepth
}

// checkOrder checks what was read and reports whether the order may be placed.
func (c *validation) checkOrder() bool {
	if c.order.state == readable {
		c.checkDishes()
		c.price()
		fieldCheck{c}.checkFields()
	}
	return c.violations.Len() == 0
}

// result checks the order and returns what was found.
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

// Result is what a Validator found.
type Result struct {
	// Valid: the order may be placed as Order has it.
	Valid bool
	// Version is the catalogue's version the order was checked against (policy O6).
	Version int64
	// Total is the sum of the lines; Valid also for an invalid order where
	// every line could be priced.
	Total decimal.NullDecimal
	// Violations are all that is wrong, in the order of the body: the first 200
	// (policy H7).
	Violations []violation.Violation
	// More: there are more violations than those 200. Checking ended there.
	More bool
	// Order is the exact body for the ordering service; nil when not valid.
	Order json.RawMessage
	// ExpectedAt is when the order is expected; zero where the body has no
	// such time or it could not be read.
	ExpectedAt time.Time
}

// resultWriter writes the JSON of the validate route.
type resultWriter struct{ jsontext.Writer }

// writeResult checks the order and appends the JSON of what was found: money as exact
// decimals, null for what is not known.
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
