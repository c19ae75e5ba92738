package validate

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/ordering/violation"
)

// amount is an exact number; it may be unknown.
type amount struct {
	jsontext.Number

	known bool
}

// priced is one dish of an order with its price.
type priced struct {
	// path is the dish's JSON Pointer in the client's body.
	path string
	// id is the menu's id. For an unknown dish it is the id that the client sent, and name is empty.
	id, name string
	// quantity is the quantity as the client sent it: portions, kilograms or litres.
	quantity amount
	// price is the price of one unit of the dish without its ingredients.
	price amount
	// total is the price of the whole line with its ingredients, rounded (policy P1).
	total amount
}

// price computes every line and the total (policy P1). The total is known if every line is.
func (c *validation) price() {
	whole := !c.order.broken && c.itemsReady && c.unchecked == none
	for n := c.order.first; n != none && n != c.unchecked && c.itemsReady; n = c.order.lines[n].next {
		c.lines = append(c.lines, priced{})
		l := &c.lines[len(c.lines)-1]
		c.priceLine(n, l)
		switch whole = whole && l.total.known; {
		case !whole:
		case len(c.lines) == 1:
			c.total = l.total
		default:
			c.total.Number = c.total.Add(l.total.Number)
		}
	}
	c.total.known = whole
}

func (c *validation) priceLine(n int32, out *priced) {
	l, it := &c.order.lines[n], &c.items[n]
	out.path = c.order.linePath(n)
	if l.quantity.state == readable {
		out.quantity = amount{l.quantity.number, true}
	}
	if it.index == menu.None {
		out.id = strings.Clone(cmp.Or(l.id.text, l.externalID.text))
		return
	}
	product := c.Catalogue.Products().At(it.index)
	out.id, out.name = product.ID(), product.Name()
	if product.PriceInvalid() {
		return
	}
	known := c.Catalogue.Products().Item(it.index)
	out.price = amount{known.Price, true}
	unit, ok := c.addIngredients(known.Price, n)
	if ok && unit.Sign() < 0 { // policy W9b
		c.refuseLine(n, violation.TotalNegative, nil, out.name)
	}
	if !ok || !it.clear {
		return
	}
	digits := int32(c.PriceDigits)
	out.total = amount{unit.Mul(l.quantity.number).Round(digits), true}
	if unit.Sign() > 0 && out.total.Sign() == 0 {
		least := leastQuantity(unit.Decimal(), digits, c.fractional(product.Measure()))
		c.refuse(n, l.quantity.position, violation.QuantityTooSmall, violation.Params{"minimum": json.Number(least.String())})
	}
}

// leastQuantity returns a quantity for which a line costs at least the smallest unit of price_digits (policy P4). It is the
// smallest whole number, or the smallest with about two significant digits.
func leastQuantity(unit decimal.Decimal, priceDigits int32, fractional bool) decimal.Decimal {
	places := int32(0)
	if fractional {
		places = priceDigits + int32(unit.Truncate(0).NumDigits()) + 1
	}
	least, rest := decimal.New(5, -priceDigits-1).QuoRem(unit, places)
	if rest.Sign() > 0 {
		least = least.Add(decimal.New(1, -places))
	}
	return least
}

// addIngredients returns the sum of the prices of the ingredients of line n, including nested ones,
// for one unit of the dish.
func (c *validation) addIngredients(unit jsontext.Number, n int32) (sum jsontext.Number, ok bool) {
	o := c.order.lines
	if o[n].truncated {
		return unit, false
	}
	for child := o[n].first; child != none; child = o[child].next {
		it := &c.items[child]
		if it.index == menu.None || !it.clear || c.Catalogue.Ingredients().At(it.index).PriceInvalid() {
			return unit, false
		}
		switch price := c.Catalogue.Ingredients().Item(it.index).Price; {
		case price.Sign() == 0:
		case it.per == 1:
			unit = unit.Add(price)
		default:
			unit = unit.Add(price.Mul(jsontext.Whole(it.per)))
		}
		if o[child].first == none && !o[child].truncated {
			continue
		}
		if unit, ok = c.addIngredients(unit, child); !ok {
			return unit, false
		}
	}
	return unit, true
}
