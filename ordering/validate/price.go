package validate

import (
	"encoding/json"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

// amount is an exact number; it may be unknown.
type amount struct {
	jsontext.Number

	known bool
}

// current returns the menu's price of one unit of the line, without its ingredients.
func (it *Line) current() amount {
	if it.index == menu.None || it.entry().PriceInvalid() {
		return amount{}
	}
	return amount{it.sent().Price, true}
}

// price returns the total of each dish with its ingredients, rounded, and of the order (policy P1). The latter is known if
// the dishes are complete, and every dish has a total.
func (c *check) price(dishes []Line, complete bool) (totals []amount, total amount) {
	totals = make([]amount, len(dishes))
	total.known = complete
	for i := range dishes {
		totals[i] = c.priceDish(&dishes[i])
		total = amount{total.Add(totals[i].Number), total.known && totals[i].known}
	}
	return totals, total
}

func (c *check) priceDish(it *Line) (total amount) {
	price := it.current()
	if !price.known {
		return total
	}
	unit, ok := it.addIngredients(price.Number)
	if ok && unit.Sign() < 0 { // policy W9b
		c.refuse(it, it.pos, violation.TotalNegative, nil)
	}
	if !ok || !it.clear {
		return total
	}
	digits := int32(c.PriceDigits)
	total = amount{unit.Mul(it.quantity.number).Round(digits), true}
	if unit.Sign() > 0 && total.Sign() == 0 {
		least := leastQuantity(unit.Decimal(), digits, c.fractional(it.entry().Measure()))
		c.refuse(it, it.quantity.pos, violation.QuantityTooSmall, violation.Params{"minimum": json.Number(least.String())})
	}
	return total
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
func (it *Line) addIngredients(unit jsontext.Number) (sum jsontext.Number, ok bool) {
	if it.ingredients.truncated {
		return unit, false
	}
	for i := range it.ingredients.all {
		part := &it.ingredients.all[i]
		price := part.current()
		if !price.known || !part.clear {
			return unit, false
		}
		unit = unit.Add(price.Mul(jsontext.Whole(part.per)))
		if unit, ok = part.addIngredients(unit); !ok {
			return unit, false
		}
	}
	return unit, true
}
