package menu

import "slices"

// Compile makes the catalogue of one restaurant out of a view: the first
// definition of an id wins, memberships are united (policy W9), dangling
// references are dropped (policy W10). It never fails, and the same view
// always gives the same catalogue.
func Compile(v *View, restaurant RestaurantID, s Settings) *Catalogue {
	return CompileContent(v, s).Catalogue(v.Stops(restaurant, s))
}

// CompileContent is Compile without the stop lists: O(size of the view). What
// it gives has few texts of the view's and keeps none of its stop lists.
func CompileContent(v *View, s Settings) *Content {
	c := compileContent(v, s)
	c.condense()
	return c
}

// compileContent makes a content that still shares the view's texts.
func compileContent(v *View, s Settings) *Content {
	s.MaxDepth = s.depth()
	c := &Content{name: v.Name, settings: s}
	c.compileCategories(v.Categories)
	c.compileIngredients(v.Ingredients)
	c.compileGroups(v.Groups)
	c.compileSchemes(v.Schemes)
	c.compileProducts(v.Products)
	for i := range c.ingredients {
		c.ingredientScheme[i] = c.schemeOf(&c.ingredients[i].SchemeID)
	}
	c.productItems, c.ingredientItems = make(items, len(c.products)), make(items, len(c.ingredients))
	return c
}

// unique copies what has an id and is the first with it, and maps the ids.
func unique[T any](all []T, id func(*T) string) ([]T, map[string]Index) {
	kept := make([]T, 0, len(all))
	ids := make(map[string]Index, len(all))
	for i := range all {
		key := id(&all[i])
		if key == "" {
			continue
		}
		if _, again := ids[key]; again {
			continue
		}
		ids[key] = Index(len(kept)) //nolint:gosec // a body of 64 MiB holds fewer than 2^31 elements
		kept = append(kept, all[i])
	}
	return kept, ids
}

func (c *Content) compileIngredients(all []Ingredient) {
	c.ingredientNames = newRegister(all)
	c.ingredients = c.ingredientNames.table
	c.ingredientScheme = make([]Index, len(c.ingredients))
}

func (c *Content) compileProducts(all []Product) {
	c.productNames = newRegister(all)
	c.products = c.productNames.table
	c.productScheme = make([]Index, len(c.products))
	for i := range c.products {
		p := &c.products[i]
		if _, known := c.categoryIDs[p.CategoryID]; !known {
			p.CategoryID = ""
		}
		c.productScheme[i] = c.schemeOf(&p.SchemeID)
	}
}

// schemeOf resolves a reference to a scheme and empties one that dangles: a
// dish whose scheme is missing is a dish without scheme (policy W10).
func (c *Content) schemeOf(id *string) Index {
	s, ok := find(c.schemeIDs, *id)
	if !ok {
		*id = ""
	}
	return s
}

// compileGroups unites the members of a group's definitions and lays out the
// membership in both directions.
func (c *Content) compileGroups(all []Group) {
	c.groups, c.groupIDs = unique(all, func(g *Group) string { return g.ID })
	members := make([][]Index, len(c.groups))
	seen := make([]Index, len(c.ingredients)) // the last group that took it, from 1
	owned := make([]int, len(c.ingredients))
	total := 0
	for g, places := range definitions(c.groupIDs, len(c.groups), all, func(g *Group) string { return g.ID }) {
		if len(places) == 1 {
			members[g] = make([]Index, 0, len(all[places[0]].Ingredients))
		}
		for _, i := range places {
			for _, id := range all[i].Ingredients {
				member, known := c.ingredientNames.byID(id)
				if !known || seen[member] == Index(g)+1 {
					continue
				}
				seen[member] = Index(g) + 1
				members[g] = append(members[g], member)
				owned[member]++
				total++
			}
		}
	}
	c.members = make([]Index, 0, total)
	c.groupMembers = make([]Index, 1, len(c.groups)+1)
	c.ingredientGroups = make([]Index, 1, len(c.ingredients)+1)
	for i, n := range owned {
		c.ingredientGroups = append(c.ingredientGroups, c.ingredientGroups[i]+Index(n)) //nolint:gosec // counts of a bounded body
	}
	c.memberships = make([]Index, total)
	next := slices.Clone(c.ingredientGroups)
	for g := range members {
		c.members = append(c.members, members[g]...)
		c.groupMembers = append(c.groupMembers, Index(len(c.members))) //nolint:gosec // counts of a bounded body
		ids := make([]string, len(members[g]))
		for i, member := range members[g] {
			ids[i] = c.ingredients[member].ID
			c.memberships[next[member]] = Index(g)
			next[member]++
		}
		c.groups[g].Ingredients = ids
	}
}

// compileSchemes unites the groups of a scheme's definitions; the first limits
// of a (scheme, group) pair win.
func (c *Content) compileSchemes(all []Scheme) {
	c.schemes, c.schemeIDs = unique(all, func(s *Scheme) string { return s.ID })
	seen := make([]Index, len(c.groups)) // the last scheme that took it, from 1
	c.schemeLimits = make([]Index, 1, len(c.schemes)+1)
	for s, places := range definitions(c.schemeIDs, len(c.schemes), all, func(s *Scheme) string { return s.ID }) {
		var kept []GroupLimit
		for _, i := range places {
			for _, limit := range all[i].Groups {
				g, known := c.groupIDs[limit.GroupID]
				if !known || seen[g] == Index(s)+1 {
					continue
				}
				seen[g] = Index(s) + 1
				lower, upper := c.settings.limits(limit)
				c.limits = append(c.limits, Limit{Group: g, Min: lower, Max: upper})
				kept = append(kept, limit)
			}
		}
		c.schemeLimits = append(c.schemeLimits, Index(len(c.limits))) //nolint:gosec // counts of a bounded body
		c.schemes[s].Groups = kept
	}
	c.limits = slices.Clip(c.limits)
}

// definitions gives, by place in the table, where in all each is defined, in the
// order of all.
func definitions[T any](ids map[string]Index, places int, all []T, id func(*T) string) [][]int {
	found := make([][]int, places)
	room := make([]int, len(all)) // for the first definition of each
	for i := range all {
		at, ok := ids[id(&all[i])]
		if !ok {
			continue
		}
		if found[at] == nil {
			found[at] = room[i : i : i+1]
		}
		found[at] = append(found[at], i)
	}
	return found
}

// limits applies policy M2 to published limits.
func (s Settings) limits(published GroupLimit) (lower, upper int) {
	lower, upper = max(published.Min, 0), published.Max
	if upper < 0 || (upper == 0 && !s.MaxZeroNone) {
		upper = Unlimited
	}
	return lower, upper
}
