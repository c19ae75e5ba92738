package validate

import (
	"cmp"
	"encoding/json"

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

// price computes every line and the total (policy P1). The total is known if the dishes are complete, and every line has
// a total.
func (c *check) price(dishes []item, complete bool) (lines []priced, total amount) {
	lines = make([]priced, len(dishes))
	total.known = complete
	for i := range dishes {
		lines[i] = c.priceLine(&dishes[i])
		total.Number = total.Add(lines[i].total.Number)
		total.known = total.known && lines[i].total.known
	}
	return lines, total
}

func (c *check) priceLine(it *item) (line priced) {
	line.path = it.path()
	if it.quantity.state == readable {
		line.quantity = amount{it.quantity.number, true}
	}
	if it.index == menu.None {
		line.id = cmp.Or(it.id.text, it.externalID.text)
		return line
	}
	product := it.entry()
	line.id, line.name = product.ID(), product.Name()
	if product.PriceInvalid() {
		return line
	}
	line.price = amount{it.sent().Price, true}
	unit, ok := it.addIngredients(line.price.Number)
	if ok && unit.Sign() < 0 { // policy W9b
		c.refuse(it, it.position, violation.TotalNegative, nil)
	}
	if !ok || !it.clear {
		return line
	}
	digits := int32(c.PriceDigits)
	line.total = amount{unit.Mul(it.quantity.number).Round(digits), true}
	if unit.Sign() > 0 && line.total.Sign() == 0 {
		least := leastQuantity(unit.Decimal(), digits, c.fractional(product.Measure()))
		c.refuse(it, it.quantity.position, violation.QuantityTooSmall, violation.Params{"minimum": json.Number(least.String())})
	}
	return line
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

// addIngredients adds the prices of the ingredients of the line, including nested ones, to the price of one unit of the dish.
func (it *item) addIngredients(unit jsontext.Number) (sum jsontext.Number, ok bool) {
	if it.ingredients.truncated {
		return unit, false
	}
	for i := range it.inner {
		part := &it.inner[i]
		if part.index == menu.None || !part.clear || part.entry().PriceInvalid() {
			return unit, false
		}
		switch price := part.sent().Price; {
		case price.Sign() == 0:
		case part.per == 1:
			unit = unit.Add(price)
		default:
			unit = unit.Add(price.Mul(jsontext.Whole(part.per)))
		}
		if unit, ok = part.addIngredients(unit); !ok {
			return unit, false
		}
	}
	return unit, true
}
