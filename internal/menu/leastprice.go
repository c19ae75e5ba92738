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
// it. Options that cannot be chosen do not count, a scheme within itself adds nothing, and neither do levels that no order
// may have (policy M12). The price of each scheme is computed once for each level: O(ingredients offered by the schemes).
func (c *Catalogue) LeastExtra() func(scheme Index) jsontext.Number {
	type place struct {
		scheme Index
		level  int
	}
	extras, open := map[place]jsontext.Number{}, map[Index]bool{}
	var extra func(s Index, level int) jsontext.Number
	extra = func(s Index, level int) jsontext.Number {
		sum, known := extras[place{s, level}]
		if known || s == None || open[s] || level > c.settings.MaxDepth {
			return sum
		}
		open[s] = true
		defer delete(open, s)
		for _, limit := range c.Limits(s) {
			var prices []jsontext.Number
			for _, option := range c.Members(limit.Group) {
				if limit.Min > 0 && c.IngredientOrderable(option) {
					prices = append(prices, c.ingredients.At(option).priceNumber().Add(extra(c.ingredientScheme[option], level+1)))
				}
			}
			if len(prices) > 0 {
				sum = sum.Add(slices.MinFunc(prices, jsontext.Number.Cmp).Mul(jsontext.Whole(int64(limit.Min))))
			}
		}
		extras[place{s, level}] = sum
		return sum
	}
	return func(s Index) jsontext.Number { return extra(s, 1) }
}
