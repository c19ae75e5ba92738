package menu

import (
	"hash/maphash"
	"math/bits"
)

// hashIndex is a hash table from texts to table positions: open addressing with four bytes per slot, at
// most three quarters full. A slot is 0 if it is empty, otherwise a position + 1. A Go map takes ten
// times as much memory, which matters for thousands of menus.
type hashIndex []Index

// newIndex returns a hashIndex with a capacity for places positions.
func newIndex(places int) hashIndex { return make(hashIndex, 1<<bits.Len(uint(4*places/3))) }

var textSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read only

// start returns the first slot that can contain a text.
func (x hashIndex) start(text string) int {
	return int(maphash.String(textSeed, text) % uint64(len(x)))
}

func (x hashIndex) put(text string, at Index) {
	slot := x.start(text)
	for x[slot] != 0 {
		slot = (slot + 1) % len(x)
	}
	x[slot] = at + 1
}

// add puts a text whose position is not known. Otherwise it returns its first position.
func (x hashIndex) add(text string, at Index, textOf func(Index) string) (first Index, known bool) {
	if first, known = x.find(text, func(at Index) bool { return textOf(at) == text }); !known {
		x.put(text, at)
	}
	return first, known
}

// find returns the first candidate position of a text for which is returns true.
func (x hashIndex) find(text string, is func(Index) bool) (Index, bool) {
	for slot := x.start(text); x[slot] != 0; slot = (slot + 1) % len(x) {
		if at := x[slot] - 1; is(at) {
			return at, true
		}
	}
	return None, false
}
