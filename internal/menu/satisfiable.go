package menu

import (
	"slices"

	"larder.local/internal/jsontext"
)

// unsatisfiable returns the schemes with groups that no choice can satisfy (policy M9), and these
// groups: the minimum is positive and no member can be chosen, or the maximum is below the minimum.
// The excluded ingredients cannot be chosen. A member with its own scheme counts if that scheme can
// be satisfied; beyond the depth limit, and therefore in a cycle, it always counts.
func (c *Content) unsatisfiable(excluded flags) map[Index][]Index {
	failing := map[Index][]Index{} // of the level below, which has no more schemes than the next one
	for range c.settings.MaxDepth {
		next := map[Index][]Index{}
		for s := range Index(len(c.schemes)) {
			for _, limit := range c.Limits(s) {
				if !c.satisfiable(limit, excluded, func(inner Index) bool { return len(failing[inner]) == 0 }) {
					next[s] = append(next[s], limit.Group)
				}
			}
		}
		if len(next) == len(failing) {
			return next
		}
		failing = next
	}
	return failing
}

// schemesTooDeep returns the schemes that a dish cannot have, because their required groups need more levels of modifiers
// than the depth limit (policy M12). A scheme that can only be completed by containing itself is not one of them: an
// order ends there (policy M5).
func (c *Content) schemesTooDeep(excluded flags) map[Index]bool {
	if !slices.ContainsFunc(c.ingredientScheme, func(s Index) bool { return s != None }) {
		return nil
	}
	deep, fits := map[Index]bool{}, make([]bool, len(c.schemes)) // fits: within the level
	const maxPasses = 100                                        // limits the work
	for level, changed := 0, true; changed && level <= maxPasses; level++ {
		below := fits // beyond the depth limit, one pass in each direction may find many levels
		if level <= c.settings.MaxDepth {
			below = slices.Clone(fits)
		}
		within := func(inner Index) bool { return below[inner] }
		changed = level == 0
		for s := range fits {
			if level%2 == 1 {
				s = len(fits) - 1 - s
			}
			if fits[s] || slices.ContainsFunc(c.Limits(Index(s)), func(limit Limit) bool {
				return limit.Min > 0 && (level == 0 || !c.satisfiable(limit, excluded, within))
			}) {
				continue
			}
			if fits[s], changed = true, true; level > c.settings.MaxDepth {
				deep[Index(s)] = true
			}
		}
	}
	return deep
}

// satisfiable reports whether the options of a group can satisfy its limits; satisfied is about the schemes of the options.
func (c *Content) satisfiable(limit Limit, excluded flags, satisfied func(scheme Index) bool) bool {
	inverted := limit.Max != Unlimited && limit.Max < limit.Min
	return limit.Min == 0 || !inverted && slices.ContainsFunc(c.Members(limit.Group), func(option Index) bool {
		s := c.ingredientScheme[option]
		return !excluded.has(option) && (s == None || satisfied(s))
	})
}

// LeastPrice returns a function for the lowest price of a dish: its own and that of the cheapest options that must be
// chosen. ok is false if the price of the dish is invalid, or if no choice can satisfy one of its groups.
func (c *Catalogue) LeastPrice() func(dish Index) (price jsontext.Number, ok bool) {
	extra := c.LeastExtra()
	return func(dish Index) (jsontext.Number, bool) {
		own, s := c.products.At(dish), c.productScheme[dish]
		return own.values().price.Add(extra(s)), !own.PriceInvalid() && len(c.unsatisfied[s]) == 0
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
					prices = append(prices, c.ingredients.At(option).values().price.Add(extra(c.ingredientScheme[option], level+1)))
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
