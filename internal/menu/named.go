package menu

import "maps"

// names finds dishes, or ingredients, by what an order may call them: by the
// menu's id first, then by externalId (policy O3). One look is enough.
type names struct {
	// of gives the Index of each name, or of an externalId that several have
	// and that is no id, the place of the list of them in shared: -2, -3, ….
	of     map[string]Index
	shared [][]Index
}

// newNames adds to the ids the externalIds that are none.
func newNames(ids map[string]Index, external map[string][]Index) names {
	n := names{of: make(map[string]Index, len(ids)+len(external))}
	maps.Copy(n.of, ids)
	for id, owners := range external {
		switch _, taken := ids[id]; {
		case taken:
		case len(owners) == 1:
			n.of[id] = owners[0]
		default:
			n.shared = append(n.shared, owners)
			n.of[id] = None - Index(len(n.shared)) //nolint:gosec // counts of a bounded body
		}
	}
	return n
}

// find gives the one that has the name; None, and those that share the
// externalId, where there is no such one.
func (n *names) find(name string) (i Index, sharing []Index) {
	i, ok := n.of[name]
	switch {
	case !ok:
		return None, nil
	case i < 0:
		return None, n.shared[None-i-1]
	default:
		return i, nil
	}
}

// ProductNamed finds a dish by the menu's id or, where no dish has that id, by
// externalId (policy O3). An externalId that several share gives None and all
// of them, in the view's order.
func (c *Content) ProductNamed(name string) (i Index, sharing []Index) {
	return c.productNames.find(name)
}

// IngredientNamed is ProductNamed for an ingredient.
func (c *Content) IngredientNamed(name string) (i Index, sharing []Index) {
	return c.ingredientNames.find(name)
}
