package menu

import (
	"slices"

	"larder.local/internal/jsontext"
)

// LeastPrice returns a function for the lowest price of a dish: its own and that of the cheapest options that must be
// chosen. ok is false if the price of the dish is invalid, or if no choice can satisfy one of its groups.
func (c *Catalogue) LeastPrice() func(dish Index) (price jsontext.Number, ok bool) {
	extra := c.LeastExtra()
	return func(dish Index) (jsontext.Number, bool) {
		own, s := c.products.At(dish), c.productScheme[dish]
		return own.priceNumber().Add(extra(s)), !own.PriceInvalid() && len(c.unsatisfied[s]) == 0
	}
}

// LeastExtra returns a function for the price of the cheapest options that must be chosen in a scheme, as storefronts show
// it. Options that cannot be chosen do not count, and a scheme within itself adds nothing. The price of each scheme is
// computed once: O(ingredients offered by the schemes).
func (c *Catalogue) LeastExtra() func(scheme Index) jsontext.Number {
	extras := map[Index]jsontext.Number{}
	var extra func(s Index) jsontext.Number
	extra = func(s Index) jsontext.Number {
		sum, known := extras[s]
		if known || s == None {
			return sum
		}
		extras[s] = sum
		for _, limit := range c.Limits(s) {
			var prices []jsontext.Number
			for _, option := range c.Members(limit.Group) {
				if limit.Min > 0 && c.IngredientOrderable(option) {
					prices = append(prices, c.ingredients.At(option).priceNumber().Add(extra(c.ingredientScheme[option])))
				}
			}
			if len(prices) > 0 {
				sum = sum.Add(slices.MinFunc(prices, jsontext.Number.Cmp).Mul(jsontext.Whole(int64(limit.Min))))
			}
		}
		extras[s] = sum
		return sum
	}
	return extra
}
