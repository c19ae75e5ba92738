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

var textSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read only

func (x index) put(text string, at Index) {
	hash := maphash.String(textSeed, text)
	slot := x.slot(hash)
	for x.slots[slot] != 0 {
		slot = x.slot(uint64(slot) + 1) //nolint:gosec // not negative
	}
	x.slots[slot] = x.mark(hash) | uint32(at+1) //nolint:gosec // a place
}

func (x index) slot(hash uint64) int { return int(hash & uint64(len(x.slots)-1)) } //nolint:gosec // below len

// mark is what stands beside the places that the hash may mean.
func (x index) mark(hash uint64) uint32 { return uint32(hash>>32) &^ x.low }

// find returns the place of a text: the first of those that may have it for which
// is reports so.
func (x index) find(text string, is func(Index) bool) (Index, bool) {
	hash := maphash.String(textSeed, text)
	mark := x.mark(hash)
	for slot := x.slot(hash); x.slots[slot] != 0; slot = x.slot(uint64(slot) + 1) { //nolint:gosec // not negative
		if x.slots[slot]&^x.low != mark {
			continue
		}
		if at := Index(x.slots[slot]&x.low) - 1; is(at) { //nolint:gosec // a place
			return at, true
		}
	}
	return None, false
}
