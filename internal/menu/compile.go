package menu

import (
	"slices"
	"strings"
)

// Compile compiles a view for one restaurant. The first definition of an id wins, memberships are merged
// (policy W9), dangling references are dropped (policy W10). It never fails and is deterministic.
func Compile(v *View, restaurant RestaurantID, s Settings) *Catalogue {
	return CompileContent(v, s).WithStops(v.Stops(restaurant, s))
}

// CompileContent is Compile without the stop lists: O(size of the view). The result shares no memory with the view.
func CompileContent(v *View, s Settings) *Content {
	s.MaxDepth = s.depth()
	c := &Content{settings: s}
	c.name = strings.Clone(v.Name)
	c.compileCategories(v.Categories)
	ingredients := c.compileIngredients(v.Ingredients)
	c.compileGroups(v.Groups)
	c.compileSchemes(v.Schemes)
	c.compileProducts(v.Products)
	for i, at := range ingredients {
		c.ingredientScheme[i] = indexOf(c.schemeByID, v.Ingredients[at].SchemeID)
	}
	return c
}

// unique returns the elements with an id, without later duplicates, and the index of each id.
func unique[T any](all []T, id func(*T) string) ([]T, map[string]Index) {
	kept := make([]T, 0, min(len(all), longList))
	ids := make(map[string]Index, min(len(all), longList))
	for i := range all {
		key := id(&all[i])
		if _, again := ids[key]; again || key == "" {
			continue
		}
		ids[key] = Index(len(kept))
		kept = append(kept, all[i])
	}
	return kept, ids
}

// namedOf is unique for elements of which only id and name are kept.
func namedOf[T any](all []T, names func(*T) Named) ([]Named, hashIndex) {
	kept, _ := unique(all, func(one *T) string { return names(one).ID })
	named, ids := make([]Named, len(kept)), newIndex(len(kept))
	for i := range kept {
		n := names(&kept[i])
		named[i] = Named{ID: strings.Clone(n.ID), Name: strings.Clone(n.Name)}
		ids.put(n.ID, Index(i))
	}
	return named, ids
}

// compileIngredients returns the indices in all of the ingredients that it keeps.
func (c *Content) compileIngredients(all []Ingredient) (kept []Index) {
	kept = c.ingredients.fill(len(all), func(i Index) entrySource { return all[i].source() })
	c.ingredientScheme = make([]Index, c.ingredients.Len())
	c.ingredientInvalid = newFlags(c.ingredients.Len())
	for i, in := range c.ingredients.All() {
		if in.PriceInvalid() || c.ingredients.unknownToPOS(i, c.settings) {
			c.ingredientInvalid.set(i)
		}
	}
	return kept
}

// compileProducts drops dangling references: a dish with an unknown scheme has no scheme (policy W10).
func (c *Content) compileProducts(all []Product) {
	kept := c.products.fill(len(all), func(i Index) entrySource { return all[i].source() })
	c.productScheme = make([]Index, len(kept))
	for i, at := range kept {
		c.productScheme[i] = indexOf(c.schemeByID, all[at].SchemeID)
	}
	c.compileProductCategories(all)
}

// compileProductCategories merges the categories of all definitions of a dish (policy W9).
func (c *Content) compileProductCategories(all []Product) {
	categories := make([][]Index, c.products.Len())
	for i := range all {
		p, ok := c.products.ByID(all[i].ID)
		category := indexOf(c.categoryByID, all[i].CategoryID)
		if ok && category != None && !slices.Contains(categories[p], category) {
			categories[p] = append(categories[p], category)
		}
	}
	c.productCategories = tableOf(categories)
}

func indexOf(find func(string) (Index, bool), id string) Index {
	if id == "" {
		return None
	}
	i, _ := find(id)
	return i
}

// compileGroups merges the members of all definitions of a group, and builds the tables of
// memberships in both directions.
func (c *Content) compileGroups(all []Group) {
	c.groups, c.groupIDs = namedOf(all, func(g *Group) Named { return Named{ID: g.ID, Name: g.Name} })
	members := make([][]Index, len(c.groups))
	memberships := make([][]Index, c.ingredients.Len())
	seen := make([]Index, c.ingredients.Len()) // by ingredient: the last group with it, from 1
	for g, places := range definitions(c.GroupByID, len(c.groups), all, func(g *Group) string { return g.ID }) {
		for _, i := range places {
			for _, id := range all[i].Ingredients {
				member, known := c.ingredients.ByID(id)
				if !known || seen[member] == Index(g)+1 {
					continue
				}
				seen[member] = Index(g) + 1
				members[g] = append(members[g], member)
				memberships[member] = append(memberships[member], Index(g))
			}
		}
	}
	c.members, c.memberships = tableOf(members), tableOf(memberships)
}

// compileSchemes merges the groups of all definitions of a scheme; the first limits of a (scheme, group) pair win.
func (c *Content) compileSchemes(all []Scheme) {
	c.schemes, c.schemeIDs = namedOf(all, func(s *Scheme) Named { return Named{ID: s.ID} })
	limits := make([][]Limit, len(c.schemes))
	seen := make([]Index, len(c.groups)) // by group: the last scheme with it, from 1
	for s, places := range definitions(c.schemeByID, len(c.schemes), all, func(s *Scheme) string { return s.ID }) {
		for _, i := range places {
			for _, limit := range all[i].Groups {
				g, known := c.GroupByID(limit.GroupID)
				if !known || seen[g] == Index(s)+1 {
					continue
				}
				seen[g] = Index(s) + 1
				lower, upper := c.settings.limits(limit)
				limits[s] = append(limits[s], Limit{Group: g, Min: lower, Max: upper})
			}
		}
	}
	c.limits = tableOf(limits)
}

// definitions returns, by index in the table, the indices of all definitions, in the order of all.
func definitions[T any](find func(string) (Index, bool), places int, all []T, id func(*T) string) [][]int {
	found := make([][]int, places)
	for i := range all {
		if at, ok := find(id(&all[i])); ok {
			found[at] = append(found[at], i)
		}
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
