package menu

import (
	"slices"

	"larder/internal/jsontext"
)

// LeastPrice returns a function for the lowest price of a dish: its own and that of the cheapest options that must be
// chosen, down to the depth limit, as storefronts show it. Options that cannot be chosen do not count. ok is false if the
// price of the dish is invalid, or if no choice can satisfy one of its groups. O(depth × ingredients of groups).
func (c *Catalogue) LeastPrice() func(dish Index) (price jsontext.Number, ok bool) {
	extras := make([]jsontext.Number, len(c.schemes)) // by scheme: the price of its required options
	for range c.settings.MaxDepth {
		next := c.extrasAbove(extras)
		if slices.EqualFunc(next, extras, func(a, b jsontext.Number) bool { return a.Cmp(b) == 0 }) {
			break
		}
		extras = next
	}
	return func(dish Index) (jsontext.Number, bool) {
		own, s := c.products.At(dish), c.productScheme[dish]
		price := own.priceNumber()
		if s != None {
			price = price.Add(extras[s])
		}
		return price, !own.PriceInvalid() && len(c.unsatisfied[s]) == 0
	}
}

// extrasAbove returns the price of the required options of each scheme, given that of the schemes one level below.
func (c *Catalogue) extrasAbove(below []jsontext.Number) []jsontext.Number {
	prices, cheapest := make([]jsontext.Number, c.ingredients.Len()), make([]jsontext.Number, len(c.groups))
	for i, option := range c.ingredients.All() {
		prices[i] = option.priceNumber()
		if s := c.ingredientScheme[i]; s != None {
			prices[i] = prices[i].Add(below[s])
		}
	}
	for g := range cheapest {
		found := false
		for _, option := range c.Members(Index(g)) {
			if c.IngredientOrderable(option) && (!found || prices[option].Cmp(cheapest[g]) < 0) {
				cheapest[g], found = prices[option], true
			}
		}
	}
	extras := make([]jsontext.Number, len(below))
	for s := range extras {
		for _, limit := range c.Limits(Index(s)) {
			extras[s] = extras[s].Add(cheapest[limit.Group].Mul(jsontext.Whole(int64(limit.Min))))
		}
	}
	return extras
}
