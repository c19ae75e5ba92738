package menu

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// dishesWithoutCategory reports dishes whose definitions contain no category. An unknown category
// is LintCategoryUnknown.
func (l *linter) dishesWithoutCategory() {
	c := l.cat
	named := newFlags(c.products.Len())
	for i := range l.view.Products {
		p := &l.view.Products[i]
		if at, ok := c.products.ByID(p.ID); ok && p.CategoryID != "" {
			named.set(at)
		}
	}
	for i, p := range c.products.All() {
		if !named.has(i) {
			l.add(LintCategoryMissing, l.listed([]Index{i}), []string{"product", p.ID()},
				"dish %q (%s) has no category and is listed outside all categories", p.ID(), p.Name())
		}
	}
}

func (l *linter) categoriesWithoutDishes() {
	c := l.cat
	filled := newFlags(len(c.categories))
	for _, in := range c.productCategories.cells {
		filled.set(in)
	}
	for i := range slices.Backward(c.categories) { // children come after their parents
		if parent, ok := c.categoryByID(c.categories[i].ParentID); ok && filled.has(Index(i)) {
			filled.set(parent)
		}
	}
	for i := range c.categories {
		if category := &c.categories[i]; !filled.has(Index(i)) {
			l.add(LintCategoryEmpty, nil, []string{"category", category.ID},
				"category %q (%s) and its subcategories have no dishes", category.ID, category.Name)
		}
	}
}

func (l *linter) servingsWithoutUnit() {
	report := func(kind, what string, e Entry) {
		if e.hasMeasure() && strings.TrimSpace(e.values().unit) == "" {
			l.add(LintUnitMissing, l.dishesOf(kind, e.ID()), []string{kind, e.ID()},
				"the serving of %s %q (%s) has no unit", what, e.ID(), e.Name())
		}
	}
	for _, p := range l.cat.products.All() {
		report("product", "dish", p)
	}
	for _, in := range l.cat.ingredients.All() {
		report("ingredient", "ingredient", in)
	}
}

func (l *linter) groupsWithoutChoice() {
	c := l.cat
	for i := range c.groups {
		members := c.Members(Index(i))
		if len(members) > 0 && !slices.ContainsFunc(members, c.IngredientOrderable) { // an empty group is a different finding
			l.add(LintGroupUnavailable, l.touched(l.schemesWith(Index(i))...), []string{"group", c.groups[i].ID},
				"no option of group %q (%s) can be chosen now", c.groups[i].ID, c.groups[i].Name)
		}
	}
}

// optionsByWeight reports dishes sold by weight or volume with options that cost something: their price is multiplied by
// the weight, and the ordering service gets the option once (policy P1).
func (l *linter) optionsByWeight() {
	c := l.cat
	costing := make(map[Index]Entry) // by scheme: an option that costs something, also a nested one
	var queue []Index
	for s := range c.schemes {
		for _, limit := range c.Limits(Index(s)) {
			for _, member := range c.Members(limit.Group) {
				if _, known := costing[Index(s)]; !known && c.ingredients.At(member).priceNumber().Sign() != 0 {
					costing[Index(s)] = c.ingredients.At(member)
					queue = append(queue, Index(s))
				}
			}
		}
	}
	for head := 0; head < len(queue); head++ {
		for _, above := range l.above[queue[head]] {
			if _, known := costing[above]; !known {
				costing[above] = costing[queue[head]]
				queue = append(queue, above)
			}
		}
	}
	for i, p := range c.products.All() {
		option, ok := costing[c.productScheme[i]]
		if unit := p.values().unit; !ok || !p.hasMeasure() || !strings.EqualFold(unit, "kg") && !strings.EqualFold(unit, "liter") {
			continue
		}
		if m := p.Measure(); m.Value.Equal(decimal.NewFromInt(1)) { // otherwise it is the size of a portion
			l.add(LintOptionByWeight, l.listed([]Index{i}), []string{"product", p.ID(), "ingredient", option.ID()},
				"dish %q (%s) is sold by the %s: the price of option %q (%s) is multiplied by the quantity, but the service gets the option once",
				p.ID(), p.Name(), m.Unit, option.ID(), option.Name())
		}
	}
}
