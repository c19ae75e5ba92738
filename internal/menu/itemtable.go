package menu

import (
	"cmp"
	"hash/maphash"
	"iter"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"larder.local/internal/jsontext"
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

	once sync.Once
	made []atomic.Pointer[Item] // by item; see Item
}

// fill adds the items with an id, without later duplicates, to the empty table. kept contains the index in all of each
// item of the table.
func (t *ItemTable) fill(all []Product) (kept []Index) {
	t.starts = make([]uint32, 1, len(all)+1)
	t.ids, t.externalIDs = newIndex(len(all)), newIndex(len(all))
	t.owners = make([]Index, 0, len(all))
	kept = make([]Index, 0, len(all))
	packed := make([]byte, 0, 192*min(len(all), longList)) // an entry often has 192 bytes
	for i := range all {
		one, at := &all[i], Index(len(kept))
		if one.ID == "" {
			continue
		}
		if _, again := t.ids.add(one.ID, at, func(at Index) string { return all[kept[at]].ID }); again {
			continue
		}
		if one.ExternalID != "" {
			t.addOwner(one.ExternalID, at, func(at Index) string { return all[kept[at]].ExternalID })
		}
		kept = append(kept, Index(i))
		t.owners = append(t.owners, at)
		packed = one.appendPacked(packed)
		t.starts = append(t.starts, uint32(len(packed)))
	}
	t.packed = string(packed) // drops spare capacity
	return kept
}

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
func (t *ItemTable) SharingExternalID(i Index) []Index { return t.ByExternalID(t.At(i).ExternalID()) }

// unknownToPOS reports whether no id of the item at i identifies it at the POS: it has no externalId and that
// is refused (policy O2), or its id is the externalId of another item, which the POS would prepare instead.
func (t *ItemTable) unknownToPOS(i Index, s Settings) bool {
	e := t.At(i)
	return e.ExternalID() == "" && (s.RefuseMissingExternalID || len(t.ByExternalID(e.ID())) > 0)
}

// Item contains what every order of one dish or ingredient repeats (policies O2, P3). It is created for the first order
// and kept with the content, so that names, prices and measures are encoded only once. It is immutable.
type Item struct {
	Price jsontext.Number // exact price in the restaurant's currency; 0 if it is not known
	// JSON is the part of an order after the name ID: its value, then the members name, price and,
	// if there is one, measure.
	JSON string
}

// Item returns the item at i for an order: with its externalId, or its id if it has none (policy O2). The
// Item and its table are created by the first call, because most menus get no orders in this process.
func (t *ItemTable) Item(i Index) *Item {
	t.once.Do(func() { t.made = make([]atomic.Pointer[Item], t.Len()) })
	if item := t.made[i].Load(); item != nil {
		return item
	}
	v := t.At(i).values()
	text := jsontext.AppendString(make([]byte, 0, 128), cmp.Or(v.externalID, v.id))
	text = jsontext.AppendString(append(text, `,"name":`...), v.name)
	text = v.price.Append(append(text, `,"price":`...))
	if v.hasMeasure {
		text = v.measure.Append(append(text, `,"measure":{"value":`...))
		text = append(jsontext.AppendString(append(text, `,"unit":`...), v.unit), '}')
	}
	item := &Item{Price: v.price, JSON: string(text)}
	t.made[i].Store(item)
	return item
}

// hashIndex is a hash table from texts to table positions: open addressing with four bytes per slot, at
// most three quarters full. A slot is 0 if it is empty, otherwise a position + 1. A Go map takes ten
// times as much memory, which matters for thousands of menus.
type hashIndex []Index

// newIndex returns a hashIndex with a capacity for places positions.
func newIndex(places int) hashIndex { return make(hashIndex, 1<<bits.Len(uint(4*places/3))) }

var textSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read only

// start returns the first slot that can contain a text.
func (x hashIndex) start(text string) int {
	return int(maphash.String(textSeed, text)) & (len(x) - 1) // a power of 2
}

func (x hashIndex) put(text string, at Index) {
	slot := x.start(text)
	for x[slot] != 0 {
		slot = (slot + 1) & (len(x) - 1)
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
	for slot := x.start(text); x[slot] != 0; slot = (slot + 1) & (len(x) - 1) {
		if at := x[slot] - 1; is(at) {
			return at, true
		}
	}
	return None, false
}
