package menu

import (
	"slices"
)

// Stops are the stopped ids of one restaurant, sorted. They are the difference between restaurants
// that share a Content.
type Stops struct {
	Products    []string `json:"products"`
	Ingredients []string `json:"ingredients"`
}

// Equal reports whether both stop the same dishes and ingredients.
func (s Stops) Equal(other Stops) bool {
	return slices.Equal(s.Products, other.Products) && slices.Equal(s.Ingredients, other.Ingredients)
}

// ChangedIDs returns the dishes and ingredients that are stopped in only one of the two, with their
// availability in after, sorted by id.
func (s Stops) ChangedIDs(after Stops) (products, ingredients []Availability) {
	return changedIDs(s.Products, after.Products), changedIDs(s.Ingredients, after.Ingredients)
}

// changedIDs compares two sorted lists of stopped ids.
func changedIDs(before, after []string) []Availability {
	all := []Availability{}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, after)))) {
		_, was := slices.BinarySearch(before, id)
		if _, is := slices.BinarySearch(after, id); is != was {
			all = append(all, Availability{ID: id, Available: was})
		}
	}
	return all
}

// Stops returns the stop lists of the view for one restaurant (policy W7). If an id has several
// definitions, the first one counts, as in Compile.
func (v *View) Stops(restaurant RestaurantID, s Settings) Stops {
	return Stops{
		Products:    stopped(v.Products, restaurant, s, func(p *Product) (string, StopList) { return p.ID, p.Stop }),
		Ingredients: stopped(v.Ingredients, restaurant, s, func(in *Ingredient) (string, StopList) { return in.ID, in.Stop }),
	}
}

// stopped returns the sorted ids whose first definition is stopped.
func stopped[T any](all []T, restaurant RestaurantID, s Settings, read func(*T) (id string, stop StopList)) (ids []string) {
	seen := newIndex(len(all))
	for i := range all {
		id, stop := read(&all[i])
		_, again := seen.add(id, Index(i), func(at Index) string { other, _ := read(&all[at]); return other })
		if id != "" && !again && stop.stoppedFor(restaurant, s.StopListAnyValue) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Catalogue returns the catalogue of one restaurant: the content with the restaurant's stop lists. Ids that the content
// does not have are ignored. O(products + depth × ingredients offered by the schemes). The catalogue takes a few
// hundred bytes in addition to the content and the stops, whose strings are parts of the content.
func (c *Content) Catalogue(stops Stops) *Catalogue {
	cat := &Catalogue{
		Content:           c,
		stopped:           newFlags(c.products.Len()),
		ingredientStopped: newFlags(c.ingredients.Len()),
		orderable:         newFlags(c.products.Len()),
	}
	cat.stops.Products = stopItems(&c.products, stops.Products, cat.stopped)
	cat.stops.Ingredients = stopItems(&c.ingredients, stops.Ingredients, cat.ingredientStopped)
	excluded := cat.ingredientStopped.with(c.ingredientInvalid)
	cat.unsatisfied, cat.tooDeep = c.unsatisfiable(excluded), c.schemesTooDeep(excluded)
	cat.counts = Counts{Categories: len(c.categories), Products: c.products.Len()}
	for i, p := range c.products.All() {
		if cat.stopped.has(i) {
			continue
		}
		cat.counts.Available++
		s := c.productScheme[i]
		if p.PriceInvalid() || c.products.unknownToPOS(i, c.settings) || len(cat.unsatisfied[s]) > 0 || cat.tooDeep[s] {
			continue
		}
		cat.orderable.set(i)
		cat.counts.Orderable++
	}
	return cat
}

// stopItems sets the flags of the items with these ids. It returns the ids as strings of the table.
func stopItems(items *ItemTable, ids []string, stopped flags) []string {
	texts := slices.Clone(ids)
	for i, id := range texts {
		if at, ok := items.ByID(id); ok {
			stopped.set(at)
			texts[i] = items.At(at).ID()
		}
	}
	return texts
}

// unsatisfiable returns the schemes with groups that no choice can satisfy (policy M9), and these
// groups: the minimum is positive and no member can be chosen, or the maximum is below the minimum.
// The excluded ingredients cannot be chosen. A member with its own scheme counts if that scheme can
// be satisfied; beyond the depth limit, and therefore in a cycle, it always counts.
func (c *Content) unsatisfiable(excluded flags) map[Index][]Index {
	var failing map[Index][]Index
	satisfied := make([]bool, len(c.schemes)) // of the level below
	for s := range satisfied {
		satisfied[s] = true
	}
	next := make([]bool, len(c.schemes))
	for range c.settings.MaxDepth {
		changed := false
		failing = map[Index][]Index{}
		for s := range c.schemes {
			var groups []Index
			for _, limit := range c.Limits(Index(s)) {
				if !c.satisfiable(limit, excluded, satisfied) {
					groups = append(groups, limit.Group)
				}
			}
			if len(groups) > 0 {
				failing[Index(s)] = groups
			}
			next[s] = len(groups) == 0
			changed = changed || next[s] != satisfied[s]
		}
		if !changed {
			break
		}
		satisfied, next = next, satisfied
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
		changed = level == 0
		for s := range fits {
			if level%2 == 1 {
				s = len(fits) - 1 - s
			}
			if fits[s] || slices.ContainsFunc(c.Limits(Index(s)), func(limit Limit) bool {
				return limit.Min > 0 && (level == 0 || !c.satisfiable(limit, excluded, below))
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

func (c *Content) satisfiable(limit Limit, excluded flags, satisfied []bool) bool {
	if limit.Min == 0 {
		return true
	}
	if limit.Max != Unlimited && limit.Max < limit.Min {
		return false
	}
	for _, member := range c.Members(limit.Group) {
		if excluded.has(member) {
			continue
		}
		if s := c.ingredientScheme[member]; s == None || satisfied[s] {
			return true
		}
	}
	return false
}

// flags is a bit set with a bit for each index of a table.
type flags []uint64

func newFlags(places int) flags { return make(flags, (places+63)/64) }

func (f flags) set(i Index) { f[i/64] |= 1 << (i % 64) }

func (f flags) has(i Index) bool { return f[i/64]>>(i%64)&1 != 0 }

// with returns the union of both.
func (f flags) with(other flags) flags {
	both := slices.Clone(f)
	for i := range other {
		both[i] |= other[i]
	}
	return both
}
