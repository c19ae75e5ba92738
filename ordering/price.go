package ordering

import (
	"github.com/shopspring/decimal"

	"larder/internal/menu"
)

// price reckons every line and the total (policy P1). The total is there when
// every line could be reckoned.
func (c *check) price() ([]Line, decimal.NullDecimal) {
	lines := make([]Line, 0, c.order.dishCount)
	total, whole := decimal.Zero, !c.order.broken && c.items != nil
	for n := c.order.first; n != none && c.items != nil; n = c.order.lines[n].next {
		l := c.priceLine(n)
		switch whole = whole && l.Total.Valid; {
		case !whole:
		case len(lines) == 0:
			total = l.Total.Decimal
		default:
			total = total.Add(l.Total.Decimal)
		}
		lines = append(lines, l)
	}
	return lines, decimal.NullDecimal{Decimal: total, Valid: whole}
}

func (c *check) priceLine(n int32) Line {
	l, it := &c.order.lines[n], &c.items[n]
	out := Line{Path: c.path(n), ID: l.id.text}
	if out.ID == "" {
		out.ID = l.externalID.text
	}
	if l.quantity.state == readable {
		out.Quantity = some(l.quantity.number)
	}
	if it.index == menu.None {
		return out
	}
	product := c.Catalogue.Product(it.index)
	out.ID, out.Name = product.ID, product.Name
	if product.PriceBad {
		return out
	}
	out.Price = some(product.Price)
	unit, ok := c.addIngredients(product.Price, n)
	if ok && it.clear {
		out.Total = some(round(unit.Mul(l.quantity.number), c.PriceDigits))
	}
	return out
}

// addIngredients adds the prices of the line n's ingredients, nested ones
// included, for one unit of the dish.
func (c *check) addIngredients(unit decimal.Decimal, n int32) (sum decimal.Decimal, ok bool) {
	o := c.order
	if o.lines[n].cut {
		return unit, false
	}
	for child := o.lines[n].first; child != none; child = o.lines[child].next {
		it := &c.items[child]
		if it.index == menu.None || !it.clear {
			return unit, false
		}
		ingredient := c.Catalogue.Ingredient(it.index)
		if ingredient.PriceBad {
			return unit, false
		}
		switch price := ingredient.Price; {
		case price.IsZero():
		case it.per == 1:
			unit = unit.Add(price)
		default:
			unit = unit.Add(price.Mul(decimal.NewFromInt(it.per)))
		}
		if o.lines[child].first == none && !o.lines[child].cut {
			continue
		}
		if unit, ok = c.addIngredients(unit, child); !ok {
			return unit, false
		}
	}
	return unit, true
}

// round rounds half-up to so many digits behind the full stop; the menu has no
// price below zero.
func round(d decimal.Decimal, digits int) decimal.Decimal {
	places := int32(digits) //nolint:gosec // Config.Validate keeps it small
	if -d.Exponent() <= places {
		return d
	}
	return d.Round(places)
}
