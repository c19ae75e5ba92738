package menu

import (
	"slices"
	"strings"

	"larder.local/internal/jsontext"
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
	for _, k := range l.items {
		for _, item := range k.table.All() {
			if v := item.values(); v.hasMeasure && strings.TrimSpace(v.unit) == "" {
				l.add(LintUnitMissing, l.dishesOf(k.kind, item.ID()), []string{k.kind, item.ID()},
					"the serving of %s %q (%s) has no unit", k.noun, item.ID(), item.Name())
			}
		}
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
				if _, known := costing[Index(s)]; !known && c.ingredients.At(member).values().price.Sign() != 0 {
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
		v := p.values()
		byWeight := strings.EqualFold(v.unit, "kg") || strings.EqualFold(v.unit, "liter")
		if ok && byWeight && v.measure.Cmp(jsontext.Whole(1)) == 0 { // otherwise it is the size of a portion
			l.add(LintOptionByWeight, l.listed([]Index{i}), []string{"product", p.ID(), "ingredient", option.ID()},
				"dish %q (%s) is sold by the %s: the price of option %q (%s) is multiplied by the quantity, but the service gets the option once",
				v.id, v.name, v.unit, option.ID(), option.Name())
		}
	}
}
