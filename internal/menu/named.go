package menu

import (
	"hash/maphash"
	"math/bits"
)

// index finds places of a table by a text of theirs: open addressing with four
// bytes a slot, less than three quarters of them taken. Beside a place stand
// bits of the text's hash, so that the texts of other places are hardly ever
// looked at. A Go map takes ten times as much, which counts where thousands of
// menus are held.
type index struct {
	slots []uint32 // 0 is empty; else, in its low bits, a place and 1
	low   uint32   // these bits
}

// newIndex makes room for so many places.
func newIndex(places int) index {
	return index{slots: make([]uint32, 1<<bits.Len(uint(4*places/3))), low: 1<<bits.Len(uint(places)) - 1}
}

// hashOf is the hash by which an index knows a text.
func hashOf(text string) uint64 { return maphash.String(textSeed, text) }

var textSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read only

func (x index) put(hash uint64, at Index) {
	slot := x.slot(hash)
	for x.slots[slot] != 0 {
		slot = x.slot(uint64(slot) + 1) //nolint:gosec // not negative
	}
	x.slots[slot] = x.mark(hash) | uint32(at+1) //nolint:gosec // a place
}

func (x index) slot(hash uint64) int { return int(hash & uint64(len(x.slots)-1)) } //nolint:gosec // below len

// mark is what stands beside the places that the hash may mean.
func (x index) mark(hash uint64) uint32 { return uint32(hash>>32) &^ x.low }

// first gives the first place that may be meant, and its slot; None where there
// is none.
func (x index) first(hash uint64) (slot int, at Index) { return x.from(x.slot(hash), hash) }

// next gives the place after that of a slot.
func (x index) next(slot int, hash uint64) (int, Index) {
	return x.from(x.slot(uint64(slot)+1), hash) //nolint:gosec // not negative
}

func (x index) from(slot int, hash uint64) (int, Index) {
	mark := x.mark(hash)
	for x.slots[slot] != 0 {
		if x.slots[slot]&^x.low == mark {
			return slot, Index(x.slots[slot]&x.low) - 1 //nolint:gosec // a place
		}
		slot = x.slot(uint64(slot) + 1) //nolint:gosec // not negative
	}
	return slot, None
}

// find gives the place whose text is meant; None where there is none.
func (x index) find(hash uint64, text string, of func(Index) string) Index {
	for slot, at := x.first(hash); at != None; slot, at = x.next(slot, hash) {
		if of(at) == text {
			return at
		}
	}
	return None
}

// identified is what has an id.
type identified interface{ id() string }

func (n Named) id() string    { return n.ID }
func (c Category) id() string { return c.ID }

// byID finds what has an id in a table in which each id stands once.
func byID[T identified](ids index, all []T, id string) (Index, bool) {
	hash := hashOf(id)
	for slot, at := ids.first(hash); at != None; slot, at = ids.next(slot, hash) {
		if all[at].id() == id {
			return at, true
		}
	}
	return None, false
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
