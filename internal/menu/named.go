package menu

import "math/bits"

// index finds places of a table by a text of theirs: open addressing with four
// bytes a slot, at most half of them taken. A Go map takes ten times as much,
// which counts where thousands of menus are held.
type index []Index // a place and 1; 0 is empty

func newIndex(places int) index {
	return make(index, 1<<bits.Len(uint(2*places)))
}

func (x index) put(hash uint64, at Index) {
	slot := x.slot(hash)
	for x[slot] != 0 {
		slot = x.slot(uint64(slot) + 1) //nolint:gosec // not negative
	}
	x[slot] = at + 1
}

func (x index) slot(hash uint64) int { return int(hash & uint64(len(x)-1)) } //nolint:gosec // below len

// first gives the first place that may be meant, and its slot; None where there
// is none.
func (x index) first(hash uint64) (slot int, at Index) {
	slot = x.slot(hash)
	return slot, x[slot] - 1
}

// next gives the place after that of a slot.
func (x index) next(slot int) (int, Index) {
	return x.first(uint64(slot) + 1) //nolint:gosec // not negative
}

// find gives the place whose text is meant; None where there is none.
func (x index) find(hash uint64, text string, of func(Index) string) Index {
	for slot, at := x.first(hash); at != None; slot, at = x.next(slot) {
		if of(at) == text {
			return at
		}
	}
	return None
}

// ProductNamed finds a dish by the menu's id or, where no dish has that id, by
// externalId (policy O3). An externalId that several share gives None and all
// of them, in the view's order.
func (c *Content) ProductNamed(name string) (i Index, sharing []Index) {
	return c.products.find(name)
}

// IngredientNamed is ProductNamed for an ingredient.
func (c *Content) IngredientNamed(name string) (i Index, sharing []Index) {
	return c.ingredients.find(name)
}
