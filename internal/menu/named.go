package menu

import (
	"hash/maphash"
	"math/bits"
)

// named is what dishes and ingredients have in common.
type named interface {
	names() (id, externalID string)
}

func (p *Product) names() (id, externalID string)    { return p.ID, p.ExternalID }
func (i *Ingredient) names() (id, externalID string) { return i.ID, i.ExternalID }

// register finds dishes, or ingredients, by what an order may call them: by the
// menu's id first, then by externalId (policy O3). It keeps no texts: those of
// the table tell whether what it found is meant. The table must not change.
type register[T any, P interface {
	*T
	named
}] struct {
	table       []T
	seed        maphash.Seed
	ids, others index              // by id; by externalId, of each the first owner
	owners      []Index            // each Index once: the owners of an externalId that one has
	shared      map[string][]Index // the owners of those that several have
}

// newRegister registers what has an id and is the first with it; the table is a
// copy of those.
func newRegister[T any, P interface {
	*T
	named
}](all []T) register[T, P] {
	r := register[T, P]{
		table: make([]T, 0, len(all)), seed: maphash.MakeSeed(), ids: newIndex(len(all)), others: newIndex(len(all)), owners: make([]Index, len(all)),
	}
	for i := range all {
		id, external := P(&all[i]).names()
		if id == "" {
			continue
		}
		hash := r.hash(id)
		if _, again := r.withID(hash, id); again {
			continue
		}
		at := Index(len(r.table)) //nolint:gosec // a body of 64 MiB holds fewer than 2^31 elements
		r.ids.put(hash, at)
		r.owners[at] = at
		if external != "" {
			r.own(external, at)
		}
		r.table = append(r.table, all[i])
	}
	return r
}

// own notes whose externalId it is, before at stands in the table.
func (r *register[T, P]) own(external string, at Index) {
	hash := r.hash(external)
	first, again := r.firstOwner(hash, external)
	if !again {
		r.others.put(hash, at)
		return
	}
	if r.shared == nil {
		r.shared = make(map[string][]Index)
	}
	if r.shared[external] == nil {
		r.shared[external] = []Index{first}
	}
	r.shared[external] = append(r.shared[external], at)
}

func (r *register[T, P]) hash(text string) uint64 { return maphash.String(r.seed, text) }

// byID finds the one with the id.
func (r *register[T, P]) byID(id string) (Index, bool) { return r.withID(r.hash(id), id) }

func (r *register[T, P]) withID(hash uint64, id string) (Index, bool) {
	for slot, at := r.ids.first(hash); at != None; slot, at = r.ids.next(slot) {
		if own, _ := P(&r.table[at]).names(); own == id {
			return at, true
		}
	}
	return None, false
}

// byExternalID gives all that have the externalId, in the view's order.
func (r *register[T, P]) byExternalID(external string) []Index {
	return r.withExternalID(r.hash(external), external)
}

func (r *register[T, P]) withExternalID(hash uint64, external string) []Index {
	first, ok := r.firstOwner(hash, external)
	if !ok {
		return nil
	}
	if owners := r.shared[external]; owners != nil {
		return owners
	}
	return r.owners[first : first+1 : first+1]
}

func (r *register[T, P]) firstOwner(hash uint64, external string) (Index, bool) {
	for slot, at := r.others.first(hash); at != None; slot, at = r.others.next(slot) {
		if _, own := P(&r.table[at]).names(); own == external {
			return at, true
		}
	}
	return None, false
}

// find gives the one that has the name; None, and those that share the
// externalId, where there is no such one.
func (r *register[T, P]) find(name string) (i Index, sharing []Index) {
	hash := r.hash(name)
	if at, ok := r.withID(hash, name); ok {
		return at, nil
	}
	owners := r.withExternalID(hash, name)
	if len(owners) == 1 {
		return owners[0], nil
	}
	return None, owners
}

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
