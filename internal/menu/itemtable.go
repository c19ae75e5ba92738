package menu

import (
	"iter"
	"strings"
	"sync/atomic"
)

// ItemTable is the dishes, or the ingredients, of a Content, in the view's order.
// They are packed in one text and found by the names that an order may use: by
// the menu's id first, then by externalId (policy O3). The indexes keep no texts:
// those of the table decide whether a hit is meant. It never changes, except that
// it makes Items on demand.
type ItemTable struct {
	packed           string
	starts           []uint32           // in packed; one more than there are
	ids, externalIDs index              // by id; by externalId, of each the first owner
	owners           []Index            // each Index once: the owners of an externalId that one has
	shared           map[string][]Index // the owners of those that several have

	made atomic.Pointer[[]atomic.Pointer[Item]]
}

// fill puts those of count sources into the empty table that have an id and are
// the first with it. kept is the index of the source of each of them.
func (t *ItemTable) fill(count int, source func(i Index) entrySource) (kept []Index) {
	t.starts = make([]uint32, 1, count+1)
	t.ids, t.externalIDs = newIndex(count), newIndex(count)
	t.owners = make([]Index, 0, count)
	kept = make([]Index, 0, count)
	packed := make([]byte, 0, packedAbout*count)
	for i := range Index(count) { //nolint:gosec // a body of 64 MiB holds fewer than 2^31 elements
		one := source(i)
		if one.id == "" {
			continue
		}
		if _, again := t.ids.find(one.id, func(at Index) bool { return source(kept[at]).id == one.id }); again {
			continue
		}
		at := Index(len(kept)) //nolint:gosec // at most i
		t.ids.put(one.id, at)
		if one.externalID != "" {
			t.addOwner(one.externalID, at, func(at Index) bool { return source(kept[at]).externalID == one.externalID })
		}
		kept = append(kept, i)
		t.owners = append(t.owners, at)
		packed = one.appendTo(packed)
		t.starts = append(t.starts, uint32(len(packed))) //nolint:gosec // not much longer than the body
	}
	t.packed = string(packed) // without the room to grow
	return kept
}

// packedAbout is how many bytes an entry takes, about.
const packedAbout = 192

// addOwner notes whose externalId it is, before at is kept.
func (t *ItemTable) addOwner(external string, at Index, has func(Index) bool) {
	first, shared := t.externalIDs.find(external, has)
	if !shared {
		t.externalIDs.put(external, at)
		return
	}
	if t.shared == nil {
		t.shared = make(map[string][]Index)
	}
	owners := t.shared[external]
	if owners == nil {
		owners = []Index{first}
	}
	t.shared[strings.Clone(external)] = append(owners, at) // a map takes the newer text of an equal key, here no part of a larger one
}

// Len returns the number of items.
func (t *ItemTable) Len() int { return len(t.starts) - 1 }

// At returns the item at i.
func (t *ItemTable) At(i Index) Entry { return Entry{t.packed[t.starts[i]:t.starts[i+1]]} }

// All visits the items.
func (t *ItemTable) All() iter.Seq2[Index, Entry] {
	return func(yield func(Index, Entry) bool) {
		for i := range t.Len() {
			if at := Index(i); !yield(at, t.At(at)) {
				return
			}
		}
	}
}

// ByID finds an item by the menu's id.
func (t *ItemTable) ByID(id string) (Index, bool) {
	return t.ids.find(id, func(at Index) bool { return t.At(at).ID() == id })
}

// ByExternalID returns every item with that externalId (policy O3). The caller
// must not change it.
func (t *ItemTable) ByExternalID(id string) []Index {
	at, ok := t.externalIDs.find(id, func(at Index) bool { return t.At(at).external().is(id) })
	if !ok {
		return nil
	}
	if owners := t.shared[id]; owners != nil {
		return owners
	}
	return t.owners[at : at+1 : at+1]
}

// SharingExternalID returns every item with the externalId of the item at i,
// which is one of them; none if that has no externalId. It allocates only if
// several share one. The caller must not change it.
func (t *ItemTable) SharingExternalID(i Index) []Index {
	e := t.At(i)
	if !e.hasExternalID() {
		return nil
	}
	if len(t.shared) > 0 {
		if owners := t.shared[e.ExternalID()]; owners != nil {
			return owners
		}
	}
	return t.owners[i : i+1 : i+1]
}

// Named finds an item by the menu's id or, if no item has that id, by externalId
// (policy O3). For an externalId that several share it returns None and all of
// them.
func (t *ItemTable) Named(name string) (i Index, sharing []Index) {
	if at, ok := t.ByID(name); ok {
		return at, nil
	}
	owners := t.ByExternalID(name)
	if len(owners) == 1 {
		return owners[0], nil
	}
	return None, owners
}

// unknownToPOS reports whether the item at i has no name the POS could know it
// by: none at all where that is refused (policy O2), or an id of its own that is
// another item's externalId, so that the kitchen would make that one.
func (t *ItemTable) unknownToPOS(i Index, s Settings) bool {
	e := t.At(i)
	return !e.hasExternalID() && (s.RefuseMissingExternalID || len(t.ByExternalID(e.ID())) > 0)
}
