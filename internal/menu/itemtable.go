package menu

import (
	"iter"
	"strings"
	"sync/atomic"
)

// ItemTable contains the dishes or the ingredients of a Content, in the order of the view. They are packed in one
// string. They can be found by the menu's id and by externalId (policy O3). The indexes store no texts; the packed
// texts decide whether a candidate matches. The table is immutable, except that it creates Items on demand.
type ItemTable struct {
	packed           string
	starts           []uint32           // start in packed, and one more
	ids, externalIDs hashIndex          // by id; by externalId: its first owner
	owners           []Index            // the numbers 0, 1, …, for slices of one owner
	shared           map[string][]Index // by externalId with several owners

	made atomic.Pointer[[]atomic.Pointer[Item]]
}

// fill adds the sources with an id, without later duplicates, to the empty table. kept contains the
// index of the source of each item.
func (t *ItemTable) fill(count int, source func(i Index) entrySource) (kept []Index) {
	t.starts = make([]uint32, 1, count+1)
	t.ids, t.externalIDs = newIndex(count), newIndex(count)
	t.owners = make([]Index, 0, count)
	kept = make([]Index, 0, count)
	packed := make([]byte, 0, min(packedAbout*count, maxPackedAbout))
	for i := range Index(count) {
		one := source(i)
		if one.id == "" {
			continue
		}
		at := Index(len(kept))
		if _, again := t.ids.add(one.id, at, func(at Index) string { return source(kept[at]).id }); again {
			continue
		}
		if one.externalID != "" {
			t.addOwner(one.externalID, at, func(at Index) string { return source(kept[at]).externalID })
		}
		kept = append(kept, i)
		t.owners = append(t.owners, at)
		packed = one.appendTo(packed)
		t.starts = append(t.starts, uint32(len(packed)))
	}
	t.packed = string(packed) // drops spare capacity
	return kept
}

const (
	// packedAbout is the approximate size of a packed entry.
	packedAbout = 192
	// maxPackedAbout limits the space for entries that may be much smaller.
	maxPackedAbout = 4 << 20
)

// addOwner adds the item at to the owners of its externalId, before the item is added.
func (t *ItemTable) addOwner(external string, at Index, textOf func(Index) string) {
	first, shared := t.externalIDs.add(external, at, textOf)
	if !shared {
		return
	}
	if t.shared == nil {
		t.shared = make(map[string][]Index)
	}
	owners := t.shared[external]
	if owners == nil {
		owners = []Index{first}
	}
	t.shared[strings.Clone(external)] = append(owners, at) // clone: the map must not keep a larger text in memory
}

// Len returns the number of items.
func (t *ItemTable) Len() int { return len(t.starts) - 1 }

// At returns item i.
func (t *ItemTable) At(i Index) Entry { return Entry{t.packed[t.starts[i]:t.starts[i+1]]} }

// All iterates over the items.
func (t *ItemTable) All() iter.Seq2[Index, Entry] {
	return func(yield func(Index, Entry) bool) {
		for i := range t.Len() {
			if at := Index(i); !yield(at, t.At(at)) {
				return
			}
		}
	}
}

// ByID returns the item with the menu's id.
func (t *ItemTable) ByID(id string) (Index, bool) {
	return t.ids.find(id, func(at Index) bool { return t.At(at).ID() == id })
}

// ByExternalID returns all items with the externalId (policy O3). The caller must not modify the slice.
func (t *ItemTable) ByExternalID(id string) []Index {
	at, ok := t.externalIDs.find(id, func(at Index) bool { return t.At(at).ExternalID() == id })
	if !ok {
		return nil
	}
	if owners := t.shared[id]; owners != nil {
		return owners
	}
	return t.owners[at : at+1 : at+1]
}

// SharingExternalID returns all items with the externalId of item i, including i; none if it has no
// externalId. The caller must not modify the slice.
func (t *ItemTable) SharingExternalID(i Index) []Index {
	e := t.At(i)
	if !e.hasExternalID() {
		return nil
	}
	if owners := t.shared[e.ExternalID()]; owners != nil {
		return owners
	}
	return t.owners[i : i+1 : i+1]
}

// unknownToPOS reports whether no id of the item at i identifies it at the POS: it has no externalId and that
// is refused (policy O2), or its id is the externalId of another item, which the POS would prepare instead.
func (t *ItemTable) unknownToPOS(i Index, s Settings) bool {
	e := t.At(i)
	return !e.hasExternalID() && (s.RefuseMissingExternalID || len(t.ByExternalID(e.ID())) > 0)
}
