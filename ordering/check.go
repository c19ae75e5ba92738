package ordering

import (
	"time"

	"larder/internal/menu"
	"larder/internal/upstream"
)

// check is the judging of one order. Its room is used for one order after the
// other, and its texts are the body's: a Verdict has no part of either.
type check struct {
	Request
	*rules
	findings

	now    time.Time
	order  order
	items  []item // beside order.lines, where judged
	judged bool
	table  table // of the list of ingredients being judged
	work   int   // steps left for assignments

	total menu.Number // where it can be told
	full  string      // the address in one text

	// The body for the ordering service, and what it is made of.
	body           []byte
	out            upstream.Order
	guest          upstream.Guest
	address        upstream.Address
	restaurant     string
	persons, floor int
	dishes         []upstream.Dish
	ingredients    []upstream.OrderIngredient
}

// begin makes a check of the order ready.
func (c *check) begin(v *Validator, req Request) {
	c.Request, c.rules, c.now, c.work = req, v.rules(req.Restaurant), v.clock(), assignmentWork
	c.findings.language, c.judged, c.total = req.Language, false, menu.Number{}
	c.order.prepare(v.forms)
}

// The largest room that is kept for the next order; an ordinary order needs a
// tenth of it.
const (
	keptLines = 200
	keptBytes = 32 << 10
)

// end forgets the order, so that its texts and its menu do not live on; false
// when the room it took is not worth keeping.
func (c *check) end() bool {
	if cap(c.order.lines) > keptLines || cap(c.body) > keptBytes || cap(c.table.may) > keptBytes {
		return false
	}
	c.Request, c.rules, c.findings, c.full = Request{}, nil, findings{}, ""
	c.order.forget()
	clear(c.dishes)
	clear(c.ingredients)
	c.out, c.guest, c.address = upstream.Order{}, upstream.Guest{}, upstream.Address{}
	return true
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
