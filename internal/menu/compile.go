package menu

import (
	"slices"
	"strings"
	"sync"
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
	ingredients, products := c.ingredients.fill(v.Ingredients), c.products.fill(v.Products)
	c.compileGroups(v.Groups)
	c.compileSchemes(v.Schemes)
	c.ingredientScheme, c.productScheme = c.schemesOf(v.Ingredients, ingredients), c.schemesOf(v.Products, products)
	c.ingredientInvalid = newFlags(c.ingredients.Len())
	for i, in := range c.ingredients.All() {
		if in.PriceInvalid() || c.ingredients.unknownToPOS(i, s) {
			c.ingredientInvalid.set(i)
		}
	}
	c.compileProductCategories(v.Products)
	c.searchWords, c.listing = sync.OnceValue(c.newSearchWords), sync.OnceValue(c.newListing)
	return c
}

// byID returns the indices of all definitions of each id, in the order of the first ones, and the position of each id.
func byID[T any](all []T, id func(*T) string) (definitions [][]int, ids map[string]Index) {
	ids = make(map[string]Index, min(len(all), longList))
	for i := range all {
		key := id(&all[i])
		if key == "" {
			continue
		}
		at, again := ids[key]
		if !again {
			at = Index(len(definitions))
			ids[key], definitions = at, append(definitions, nil)
		}
		definitions[at] = append(definitions[at], i)
	}
	return definitions, ids
}

// namedOf is byID for elements of which only id and name are kept.
func namedOf[T any](all []T, names func(*T) Named) (named []Named, ids hashIndex, definitions [][]int) {
	definitions, _ = byID(all, func(one *T) string { return names(one).ID })
	named, ids = make([]Named, len(definitions)), newIndex(len(definitions))
	for i, places := range definitions {
		n := names(&all[places[0]])
		named[i] = Named{ID: strings.Clone(n.ID), Name: strings.Clone(n.Name)}
		ids.put(n.ID, Index(i))
	}
	return named, ids, definitions
}

// schemesOf returns the schemes of the kept items. An unknown scheme becomes None (policy W10).
func (c *Content) schemesOf(all []Product, kept []Index) []Index {
	schemes := make([]Index, len(kept))
	for i, at := range kept {
		schemes[i], _ = c.schemeByID(all[at].SchemeID)
	}
	return schemes
}

// compileProductCategories merges the categories of all definitions of a dish (policy W9).
func (c *Content) compileProductCategories(all []Product) {
	categories := make([][]Index, c.products.Len())
	for i := range all {
		p, ok := c.products.ByID(all[i].ID)
		category, known := c.categoryByID(all[i].CategoryID)
		if ok && known && !slices.Contains(categories[p], category) {
			categories[p] = append(categories[p], category)
		}
	}
	c.productCategories = tableOf(categories)
}

// compileGroups merges the members of all definitions of a group, and builds the tables of
// memberships in both directions.
func (c *Content) compileGroups(all []Group) {
	var definitions [][]int
	c.groups, c.groupIDs, definitions = namedOf(all, func(g *Group) Named { return Named{ID: g.ID, Name: g.Name} })
	members := make([][]Index, len(c.groups))
	memberships := make([][]Index, c.ingredients.Len())
	seen := make([]Index, c.ingredients.Len()) // by ingredient: the last group with it, from 1
	for g, places := range definitions {
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
	var definitions [][]int
	c.schemes, c.schemeIDs, definitions = namedOf(all, func(s *Scheme) Named { return Named{ID: s.ID} })
	limits := make([][]Limit, len(c.schemes))
	seen := make([]Index, len(c.groups)) // by group: the last scheme with it, from 1
	for s, places := range definitions {
		for _, i := range places {
			for _, limit := range all[i].Groups {
				g, known := c.GroupByID(limit.GroupID)
				if !known || seen[g] == Index(s)+1 {
					continue
				}
				seen[g] = Index(s) + 1
				upper := limit.Max // as policy M2 reads it
				if upper < 0 || (upper == 0 && !c.settings.MaxZeroNone) {
					upper = Unlimited
				}
				limits[s] = append(limits[s], Limit{Group: g, Min: max(limit.Min, 0), Max: upper})
			}
		}
	}
	c.limits = tableOf(limits)
}

// compileCategories keeps the first definition of each category, makes those with an unknown parent
// roots, cuts each cycle at its first member in the order of the view (policy W10), and puts
// parents before children: roots in the order of the view, each followed by its descendants.
func (c *Content) compileCategories(all []Category) {
	kept, _, parents := parentsOf(all)
	cutCycles(parents)

	children := make([][]int, len(kept)+1) // the last element has the roots
	for i, parent := range parents {
		if parent == None {
			parent = Index(len(kept))
		}
		children[parent] = append(children[parent], i)
	}
	places := make([]Index, len(kept))
	c.categories = make([]Category, 0, len(kept))
	c.categoryIDs = newIndex(len(kept))
	for stack := []int{len(kept)}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, child := range slices.Backward(children[i]) {
			stack = append(stack, child)
		}
		if i == len(kept) {
			continue
		}
		places[i] = Index(len(c.categories))
		category := Category{ID: strings.Clone(kept[i].ID), Name: strings.Clone(kept[i].Name)}
		if parents[i] != None { // it comes before its children
			category.ParentID = c.categories[places[parents[i]]].ID
		}
		c.categoryIDs.put(category.ID, places[i])
		c.categories = append(c.categories, category)
	}
}

// parentsOf returns the categories without later duplicates, the index of each id, and the parents by index.
func parentsOf(all []Category) (kept []Category, ids map[string]Index, parents []Index) {
	definitions, ids := byID(all, func(c *Category) string { return c.ID })
	for _, places := range definitions {
		first := all[places[0]]
		parent, ok := ids[first.ParentID]
		if !ok {
			parent = None
		}
		kept, parents = append(kept, first), append(parents, parent)
	}
	return kept, ids, parents
}

// The states of a category in the search for cycles.
const (
	unseen = iota
	open
	done
)

// cutCycles makes the first member of each cycle a root and returns these members.
func cutCycles(parents []Index) []Index {
	var cut []Index
	state := make([]uint8, len(parents))
	for start := range parents {
		var path []Index
		i := Index(start)
		for i != None && state[i] == unseen {
			state[i] = open
			path = append(path, i)
			i = parents[i]
		}
		if i != None && state[i] == open {
			first := i
			for k := parents[i]; k != i; k = parents[k] {
				first = min(first, k)
			}
			parents[first] = None
			cut = append(cut, first)
		}
		for _, k := range path {
			state[k] = done
		}
	}
	return cut
}
