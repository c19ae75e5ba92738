package menu

import (
	"iter"
	"strings"
)

// itemTable is a table of dishes, or of ingredients, packed in one text, and what
// finds them by what an order may call them: by the menu's id first, then by
// externalId (policy O3). The indexes keep no texts: those of the table tell
// whether what they found is meant. It never changes.
type itemTable struct {
	packed           string
	starts           []uint32           // in packed; one more than there are
	ids, externalIDs index              // by id; by externalId, of each the first owner
	owners           []Index            // each Index once: the owners of an externalId that one has
	shared           map[string][]Index // the owners of those that several have
}

// newItemTable registers those of count sources that have an id and are the first
// with it. kept says which source each of them is.
func newItemTable(count int, source func(i Index) entrySource) (r itemTable, kept []Index) {
	r = itemTable{
		starts: make([]uint32, 1, count+1),
		ids:    newIndex(count), externalIDs: newIndex(count), owners: make([]Index, 0, count),
	}
	kept = make([]Index, 0, count)
	packed := make([]byte, 0, packedAbout*count)
	for i := range Index(count) { //nolint:gosec // a body of 64 MiB holds fewer than 2^31 elements
		one := source(i)
		if one.id == "" {
			continue
		}
		if _, again := r.ids.find(one.id, func(at Index) bool { return source(kept[at]).id == one.id }); again {
			continue
		}
		at := Index(len(kept)) //nolint:gosec // at most i
		r.ids.put(one.id, at)
		if one.externalID != "" {
			r.addOwner(one.externalID, at, func(at Index) bool { return source(kept[at]).externalID == one.externalID })
		}
		kept = append(kept, i)
		r.owners = append(r.owners, at)
		packed = one.appendTo(packed)
		r.starts = append(r.starts, uint32(len(packed))) //nolint:gosec // not much longer than the body
	}
	r.packed = string(packed) // without the room to grow
	return r, kept
}

// packedAbout is how many bytes an entry takes, about.
const packedAbout = 192

// addOwner notes whose externalId it is, before at is kept.
func (r *itemTable) addOwner(external string, at Index, has func(Index) bool) {
	first, shared := r.externalIDs.find(external, has)
	if !shared {
		r.externalIDs.put(external, at)
		return
	}
	if r.shared == nil {
		r.shared = make(map[string][]Index)
	}
	owners := r.shared[external]
	if owners == nil {
		owners = []Index{first}
	}
	r.shared[strings.Clone(external)] = append(owners, at) // a map takes the newer text of an equal key, here no part of a larger one
}

func (r *itemTable) len() int { return len(r.starts) - 1 }

// at returns the one at i.
func (r *itemTable) at(i Index) Entry { return Entry{r.packed[r.starts[i]:r.starts[i+1]]} }

// all visits them in the view's order.
func (r *itemTable) all() iter.Seq2[Index, Entry] {
	return func(yield func(Index, Entry) bool) {
		for i := range r.len() {
			if at := Index(i); !yield(at, r.at(at)) {
				return
			}
		}
	}
}

// byID finds the one with the id.
func (r *itemTable) byID(id string) (Index, bool) {
	return r.ids.find(id, func(at Index) bool { return r.at(at).ID() == id })
}

// byExternalID returns all that have the externalId, in the view's order.
func (r *itemTable) byExternalID(external string) []Index {
	at, ok := r.externalIDs.find(external, func(at Index) bool { return r.at(at).external().is(external) })
	if !ok {
		return nil
	}
	if owners := r.shared[external]; owners != nil {
		return owners
	}
	return r.owners[at : at+1 : at+1]
}

// sameExternalID returns all that have the externalId of the one at i, in the view's
// order; none where it has none.
func (r *itemTable) sameExternalID(i Index) []Index {
	e := r.at(i)
	if !e.hasExternalID() {
		return nil
	}
	if len(r.shared) > 0 {
		if owners := r.shared[e.ExternalID()]; owners != nil {
			return owners
		}
	}
	return r.owners[i : i+1 : i+1]
}

// find returns the one that has the name; None, and those that share the
// externalId, where there is no such one.
func (r *itemTable) find(name string) (i Index, sharing []Index) {
	if at, ok := r.byID(name); ok {
		return at, nil
	}
	owners := r.byExternalID(name)
	if len(owners) == 1 {
		return owners[0], nil
	}
	return None, owners
}
