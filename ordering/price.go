package ordering

import (
	"cmp"
	"strings"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
)

// price reckons every line and the total (policy P1). The total is there when
// every line could be reckoned.
func (c *check) price() ([]Line, decimal.NullDecimal) {
	lines := make([]Line, 0, min(c.order.dishCount, maxDishes))
	whole := !c.order.broken && c.judged
	for n := c.order.first; n != none && c.judged; n = c.order.lines[n].next {
		l, total := c.priceLine(n)
		switch whole = whole && l.Total.Valid; {
		case !whole:
		case len(lines) == 0:
			c.total = total
		default:
			c.total = c.total.Add(total)
		}
		lines = append(lines, l)
	}
	switch {
	case !whole:
		return lines, decimal.NullDecimal{}
	case len(lines) == 1:
		return lines, lines[0].Total
	default:
		return lines, some(c.total.Decimal())
	}
}

// priceLine reckons one dish; total is meant where Line.Total is Valid.
func (c *check) priceLine(n int32) (out Line, total menu.Number) {
	l, it := &c.order.lines[n], &c.items[n]
	out = Line{Path: c.path(n)}
	if l.quantity.state == readable {
		out.Quantity = some(c.order.forms.decimal(l.quantity.number))
	}
	if it.index == menu.None {
		out.ID = strings.Clone(cmp.Or(l.id.text, l.externalID.text))
		return out, total
	}
	product := c.Catalogue.Product(it.index)
	out.ID, out.Name = product.ID(), product.Name()
	if product.PriceBad() {
		return out, total
	}
	known := c.Catalogue.ProductItem(it.index)
	out.Price = some(known.Exact)
	price := known.Price
	unit, ok := c.addIngredients(price, n)
	if !ok || !it.clear {
		return out, total
	}
	total = unit.Mul(l.quantity.number).Round(int32(c.PriceDigits)) //nolint:gosec // Config.Validate keeps it small
	if total == price {
		out.Total = out.Price
	} else {
		out.Total = some(total.Decimal())
	}
	return out, total
}

// addIngredients adds the prices of the line n's ingredients, nested ones
// included, for one unit of the dish.
func (c *check) addIngredients(unit menu.Number, n int32) (sum menu.Number, ok bool) {
	o := c.order.lines
	if o[n].cut {
		return unit, false
	}
	for child := o[n].first; child != none; child = o[child].next {
		it := &c.items[child]
		if it.index == menu.None || !it.clear || c.Catalogue.Ingredient(it.index).PriceBad() {
			return unit, false
		}
		switch price := c.Catalogue.IngredientItem(it.index).Price; {
		case price.Sign() == 0:
		case it.per == 1:
			unit = unit.Add(price)
		default:
			unit = unit.Add(price.Mul(menu.Whole(it.per)))
		}
		if o[child].first == none && !o[child].cut {
			continue
		}
		if unit, ok = c.addIngredients(unit, child); !ok {
			return unit, false
		}
	}
	return unit, true
}
