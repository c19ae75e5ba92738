package menu

import (
	"hash/maphash"
	"math/bits"
)

// hashIndex is a hash table from texts to table positions: open addressing with four bytes per slot, at
// most three quarters full. A slot contains a position and bits of the text's hash, so that texts
// of other positions are rarely compared. A Go map takes ten times as much memory, which matters
// for thousands of menus.
type hashIndex struct {
	slots []uint32 // 0 is empty; otherwise the low bits are a position + 1
	low   uint32   // mask of these bits
}

// newIndex returns a hashIndex with a capacity for places positions.
func newIndex(places int) hashIndex {
	return hashIndex{slots: make([]uint32, 1<<bits.Len(uint(4*places/3))), low: 1<<bits.Len(uint(places)) - 1}
}

var textSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read only

func (x hashIndex) put(text string, at Index) {
	hash := maphash.String(textSeed, text)
	slot := x.slot(hash)
	for x.slots[slot] != 0 {
		slot = x.slot(uint64(slot) + 1)
	}
	x.slots[slot] = x.mark(hash) | uint32(at+1)
}

func (x hashIndex) slot(hash uint64) int { return int(hash & uint64(len(x.slots)-1)) }

// mark returns the hash bits that are stored with a position.
func (x hashIndex) mark(hash uint64) uint32 { return uint32(hash>>32) &^ x.low }

// find returns the first candidate position of a text for which is returns true.
func (x hashIndex) find(text string, is func(Index) bool) (Index, bool) {
	hash := maphash.String(textSeed, text)
	mark := x.mark(hash)
	for slot := x.slot(hash); x.slots[slot] != 0; slot = x.slot(uint64(slot) + 1) {
		if x.slots[slot]&^x.low != mark {
			continue
		}
		if at := Index(x.slots[slot]&x.low) - 1; is(at) {
			return at, true
		}
	}
	return None, false
}
