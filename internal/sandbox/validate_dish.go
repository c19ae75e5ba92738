package sandbox

import (
	"fmt"
	"slices"

	"github.com/shopspring/decimal"
)

const (
	maxIngredientQuantity = 10_000 // of one ingredient in one dish
	maxReadings           = 256    // combinations of items with the same external id
)

// line is one ordered ingredient.
type line struct {
	path     string
	named    []*item // the candidates for the id
	quantity int
	price    *decimal.Decimal
}

// checkDish checks one element of dishList and adds its price to the total.
func (s *violations) checkDish(path string, given map[string]any, c *menuModel) {
	quantity, ok := amount(member(given, "quantity"), s.tolerant)
	if !ok {
		s.wrong(path+"/quantity", "required, a number")
	} else if !quantity.IsPositive() {
		s.wrong(path+"/quantity", "%s is not positive", quantity)
	}
	id := s.named(given)
	if id == "" {
		s.wrong(path+"/ID", "required")
		return
	}
	if measure, ok := member(given, "measure").(map[string]any); ok {
		s.numbers(path+"/measure", measure, "value")
	}
	price, lines := s.price(path, given), s.lines(path, given, c, 1)
	named := c.dishes.byExt[id]
	if d := c.dishes.byID[id]; s.tolerant && d != nil {
		named = []*item{d} // policy O3
	}
	if len(named) == 0 {
		s.wrong(path, "dish %s is not in the menu", id)
		return
	}
	// Several dishes may share an externalId: the order is valid if it fits one.
	var closest *violations
	for _, d := range named {
		closest = closest.orFewer(checkLine(path, d, price, quantity, lines, c))
	}
	s.reasons = append(s.reasons, closest.reasons...)
	s.total = s.total.Add(closest.total)
}

// named returns the id of a dish or ingredient. A tolerant service also accepts
// externalId if the id is null (policy W12).
func (s *violations) named(given map[string]any) string {
	id := identifier(member(given, "ID"), s.tolerant)
	if id == "" && s.tolerant {
		id = identifier(member(given, "externalId"), true)
	}
	return id
}

// price reads an optional price; nil if it is missing or invalid.
func (s *violations) price(path string, given map[string]any) *decimal.Decimal {
	v := member(given, "price")
	if v == nil {
		return nil
	}
	d, ok := amount(v, s.tolerant)
	if !ok {
		s.wrong(path+"/price", "must be a number")
		return nil
	}
	return &d
}

// lines reads the ingredients of a dish, or of an ingredient that occurs times
// times. It reports invalid ones and omits them.
func (s *violations) lines(path string, given map[string]any, c *menuModel, times int) []line {
	v := member(given, "ingredients")
	list, ok := v.([]any)
	if v != nil && !ok {
		s.wrong(path+"/ingredients", "must be a list")
	}
	var lines []line
	for i, v := range list {
		at := fmt.Sprintf("%s/ingredients/%d", path, i)
		given, ok := v.(map[string]any)
		if !ok {
			s.wrong(at, "an ingredient is an object")
			continue
		}
		id := s.named(given)
		if id == "" {
			s.wrong(at+"/ID", "required")
			continue
		}
		l := line{
			path:     at,
			named:    c.parts.byExt[id],
			price:    s.price(at, given),
			quantity: s.quantity(at, given) * times,
		}
		if p := c.parts.byID[id]; s.tolerant && p != nil {
			l.named = []*item{p}
		}
		if len(l.named) == 0 {
			s.wrong(at, "ingredient %s is not in the menu", id)
			continue
		}
		lines = append(lines, l)
		within, _ := member(given, "ingredients").([]any)
		switch {
		case len(within) == 0:
		case s.tolerant && l.quantity <= maxIngredientQuantity: // policy M5: quantities are per unit of the parent
			lines = append(lines, s.lines(at, given, c, l.quantity)...)
		default:
			s.wrong(at+"/ingredients", "an ingredient holds no ingredients: the list of the dish is flat")
		}
	}
	return lines
}

// quantity reads the quantity of an ingredient: a positive integer, default 1 (policy M7).
func (s *violations) quantity(path string, given map[string]any) int {
	v := member(given, "quantity")
	if v == nil {
		return 1
	}
	n, ok := amount(v, s.tolerant)
	if !ok || !n.IsInteger() || !n.IsPositive() || n.GreaterThan(decimal.NewFromInt(maxIngredientQuantity)) {
		s.wrong(path+"/quantity", "must be a whole number from 1 to %d", maxIngredientQuantity)
		return 1
	}
	return int(n.IntPart())
}

// checkLine checks a line of an order, with one of the candidates for its dish, and the price and the quantity that were
// sent. If several ingredients share an id, it uses the combination with the fewest violations.
func checkLine(path string, d *item, price *decimal.Decimal, quantity decimal.Decimal, lines []line, c *menuModel) *violations {
	try := &violations{}
	try.checkItem(path, "dish", d, c.out.dishes, price)
	var best *violations
	reading := make([]*item, len(lines))
	tried := 0
	var read func(i int)
	read = func(i int) {
		if (best != nil && len(best.reasons) == 0) || tried >= maxReadings {
			return
		}
		if i == len(lines) {
			tried++
			best = best.orFewer(c.composed(path, d, lines, reading))
			return
		}
		for _, p := range lines[i].named {
			reading[i] = p
			read(i + 1)
		}
	}
	read(0)
	try.reasons = append(try.reasons, best.reasons...)
	unit := d.price.Add(best.total)
	if unit.IsNegative() { // policy W9b
		try.wrong(path, "dish %s (%s) costs less than 0 with its ingredients", d.id, d.name)
	}
	try.total = unit.Mul(quantity).Round(2) // policy P1, half up
	return try
}

// checkItem checks a dish or an ingredient, and the price that was sent for it.
func (s *violations) checkItem(path, kind string, i *item, out map[string]bool, sent *decimal.Decimal) {
	if out[i.id] {
		s.wrong(path, "%s %s (%s) is stopped", kind, i.id, i.name)
	}
	if !i.priced {
		s.wrong(path, "%s %s (%s) has no price", kind, i.id, i.name)
	}
	if sent != nil && i.priced && !sent.Equal(i.price) {
		s.wrong(path+"/price", "%s, in the menu %s", sent, i.price)
	}
}

// composed checks the ingredients of one dish. Its total is Σ ingredient price × quantity for one unit of the dish.
func (c *menuModel) composed(path string, d *item, lines []line, reading []*item) *violations {
	s := &violations{}
	var chosen []selection
	for i, l := range lines {
		p := reading[i]
		s.checkItem(l.path, "ingredient", p, c.out.parts, l.price)
		s.total = s.total.Add(p.price.Mul(decimal.NewFromInt(int64(l.quantity))))
		if k := slices.IndexFunc(chosen, func(q selection) bool { return q.part == p }); k >= 0 {
			chosen[k].quantity += l.quantity
		} else {
			chosen = append(chosen, selection{p, l.quantity})
		}
	}
	slots := c.openGroupSlots(d, chosen)
	allowed := chosen[:0:0]
	for _, p := range chosen {
		if c.takes(slots, p.part) {
			allowed = append(allowed, p)
			continue
		}
		s.wrong(path+"/ingredients", "ingredient %s (%s) is not allowed in %s (%s)", p.part.id, p.part.name, d.id, d.name)
	}
	for _, reason := range c.assignAll(slots, allowed) {
		s.wrong(path+"/ingredients", "%s", reason)
	}
	return s
}
