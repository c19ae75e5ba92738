package menu

import (
	"slices"
	"strings"
)

// Compile compiles a view for one restaurant. The first definition of an id wins, memberships are merged
// (policy W9), dangling references are dropped (policy W10). It never fails and is deterministic.
func Compile(v *View, restaurant RestaurantID, s Settings) *Catalogue {
	return CompileContent(v, s).Catalogue(v.Stops(restaurant, s))
}

// CompileContent is Compile without the stop lists: O(size of the view). The result shares no
// memory with the view.
func CompileContent(v *View, s Settings) *Content {
	s.MaxDepth = s.depth()
	c := &Content{settings: s}
	var own textArena
	c.name = own.copy(v.Name)
	c.compileCategories(v.Categories, &own)
	ingredients := c.compileIngredients(v.Ingredients)
	c.compileGroups(v.Groups, &own)
	c.compileSchemes(v.Schemes, &own)
	c.compileProducts(v.Products)
	for i, at := range ingredients {
		c.ingredientScheme[i] = indexOf(c.schemeByID, v.Ingredients[at].SchemeID)
	}
	return c
}

// unique returns the elements with an id, without later duplicates, and the index of each id.
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
		ids[key] = Index(len(kept))
		kept = append(kept, all[i])
	}
	return kept, ids
}

// namedOf is unique for elements of which only id and name are kept.
func namedOf[T any](all []T, own *textArena, names func(*T) Named) ([]Named, hashIndex) {
	kept := make([]Named, 0, len(all))
	ids := newIndex(len(all))
	for i := range all {
		n := names(&all[i])
		if n.ID == "" {
			continue
		}
		if _, again := ids.find(n.ID, func(at Index) bool { return kept[at].ID == n.ID }); again {
			continue
		}
		n = Named{ID: own.copy(n.ID), Name: own.copy(n.Name)}
		ids.put(n.ID, Index(len(kept)))
		kept = append(kept, n)
	}
	return kept, ids
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
	c.productCategories = make([]Index, 0, c.products.Len())
	c.categoryStarts = make([]Index, 1, c.products.Len()+1)
	for _, places := range definitions(c.products.ByID, c.products.Len(), all, func(p *Product) string { return p.ID }) {
		start := len(c.productCategories)
		for _, i := range places {
			category := indexOf(c.categoryByID, all[i].CategoryID)
			if category != None && !slices.Contains(c.productCategories[start:], category) {
				c.productCategories = append(c.productCategories, category)
			}
		}
		c.categoryStarts = append(c.categoryStarts, Index(len(c.productCategories)))
	}
	c.productCategories = slices.Clone(c.productCategories) // drops spare capacity
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
func (c *Content) compileGroups(all []Group, own *textArena) {
	c.groups, c.groupIDs = namedOf(all, own, func(g *Group) Named { return Named{ID: g.ID, Name: g.Name} })
	members := make([][]Index, len(c.groups))
	seen := make([]Index, c.ingredients.Len()) // by ingredient: the last group with it, from 1
	owned := make([]int, c.ingredients.Len())
	total := 0
	for g, places := range definitions(c.GroupByID, len(c.groups), all, func(g *Group) string { return g.ID }) {
		if len(places) == 1 {
			members[g] = make([]Index, 0, len(all[places[0]].Ingredients))
		}
		for _, i := range places {
			for _, id := range all[i].Ingredients {
				member, known := c.ingredients.ByID(id)
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
	c.ingredientGroups = make([]Index, 1, c.ingredients.Len()+1)
	for i, n := range owned {
		c.ingredientGroups = append(c.ingredientGroups, c.ingredientGroups[i]+Index(n))
	}
	c.memberships = make([]Index, total)
	next := slices.Clone(c.ingredientGroups)
	for g := range members {
		c.members = append(c.members, members[g]...)
		c.groupMembers = append(c.groupMembers, Index(len(c.members)))
		for _, member := range members[g] {
			c.memberships[next[member]] = Index(g)
			next[member]++
		}
	}
}

// compileSchemes merges the groups of all definitions of a scheme; the first limits of a (scheme,
// group) pair win.
func (c *Content) compileSchemes(all []Scheme, own *textArena) {
	c.schemes, c.schemeIDs = namedOf(all, own, func(s *Scheme) Named { return Named{ID: s.ID} })
	seen := make([]Index, len(c.groups)) // by group: the last scheme with it, from 1
	c.schemeLimits = make([]Index, 1, len(c.schemes)+1)
	for s, places := range definitions(c.schemeByID, len(c.schemes), all, func(s *Scheme) string { return s.ID }) {
		for _, i := range places {
			for _, limit := range all[i].Groups {
				g, known := c.GroupByID(limit.GroupID)
				if !known || seen[g] == Index(s)+1 {
					continue
				}
				seen[g] = Index(s) + 1
				lower, upper := c.settings.limits(limit)
				c.limits = append(c.limits, Limit{Group: g, Min: lower, Max: upper})
			}
		}
		c.schemeLimits = append(c.schemeLimits, Index(len(c.limits)))
	}
	c.limits = slices.Clone(c.limits) // drops spare capacity
}

// definitions returns, by index in the table, the indices of all definitions, in the order of all.
func definitions[T any](find func(string) (Index, bool), places int, all []T, id func(*T) string) [][]int {
	found := make([][]int, places)
	first := make([]int, len(all)) // backing memory for the first definitions
	for i := range all {
		at, ok := find(id(&all[i]))
		if !ok {
			continue
		}
		if found[at] == nil {
			found[at] = first[i : i : i+1]
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

// textBlock is the size of the blocks of a textArena.
const textBlock = 4 << 10

// textArena copies small texts into few blocks of memory, so that they do not keep the whole view in memory.
type textArena struct{ block strings.Builder }

func (t *textArena) copy(text string) string {
	if text == "" {
		return ""
	}
	if t.block.Len()+len(text) > t.block.Cap() {
		t.block = strings.Builder{}
		t.block.Grow(max(textBlock, len(text)))
	}
	start := t.block.Len()
	t.block.WriteString(text) // capacity is sufficient: earlier texts do not move
	return t.block.String()[start:]
}
