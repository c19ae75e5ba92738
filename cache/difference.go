package cache

import "larder/internal/menu"

// reviseProducts compares what productIndex writes: an entry is all texts and
// numbers of a dish.
func reviseProducts(before, after *menu.Catalogue) revision {
	r := revision{fields: after.ProductCount()}
	var scratch []byte
	kept := 0
	for at, p := range after.Products() {
		old, known := at, false
		if int(at) < before.ProductCount() {
			known = before.Product(at).ID() == p.ID()
		}
		if !known {
			old, known = before.ProductByID(p.ID())
		}
		if known {
			kept++
			if sameProduct(before, after, old, at) {
				continue
			}
		}
		scratch = appendProduct(scratch[:0], after, at, false)
		r.write.add(p.ID(), scratch)
	}
	if kept == before.ProductCount() {
		return r
	}
	for _, p := range before.Products() {
		if _, still := after.ProductByID(p.ID()); !still {
			r.remove = append(r.remove, p.ID())
		}
	}
	return r
}

func sameProduct(before, after *menu.Catalogue, old, at menu.Index) bool {
	return before.Product(old) == after.Product(at) && before.Available(old) == after.Available(at) &&
		schemeID(before, old) == schemeID(after, at) &&
		menu.SameCategories(before, after, old, at)
}

// schemeID is the id of the dish's scheme.
func schemeID(c *menu.Catalogue, at menu.Index) optional {
	if scheme := c.ProductScheme(at); scheme != menu.None {
		return optional{c.Schemes()[scheme].ID, true}
	}
	return optional{}
}

// categoryID is the id of the dish's category.
func categoryID(c *menu.Catalogue, at menu.Index) optional {
	if category := c.ProductCategory(at); category != menu.None {
		return optional{c.Categories()[category].ID, true}
	}
	return optional{}
}

// optional is an id that may not be there; even one that is there may be empty.
type optional struct {
	id    string
	there bool
}

// reviseExternalIDs compares what externalIDIndex writes.
func reviseExternalIDs(before, after *menu.Catalogue) (r revision) {
	var scratch []byte
	for at, p := range after.Products() {
		owners := ownersFirst(after, at)
		if owners == nil {
			continue
		}
		r.fields++
		if !sameIDs(before, after, namesakes(before, at, p), owners) {
			scratch = appendOwners(scratch[:0], after, owners)
			r.write.add(p.ExternalID(), scratch)
		}
	}
	for at, p := range before.Products() {
		if ownersFirst(before, at) != nil && len(namesakes(after, at, p)) == 0 {
			r.remove = append(r.remove, p.ExternalID())
		}
	}
	return r
}

// ownersFirst gives the dishes with the externalId of that at at, where it is the
// first of them; nil for any other, and where it has none.
func ownersFirst(c *menu.Catalogue, at menu.Index) []menu.Index {
	if owners := c.ProductNamesakes(at); len(owners) > 0 && owners[0] == at {
		return owners
	}
	return nil
}

// namesakes gives the dishes of c with the externalId of p, which stands at at in
// another catalogue: mostly there in c too.
func namesakes(c *menu.Catalogue, at menu.Index, p menu.Entry) []menu.Index {
	if int(at) < c.ProductCount() && c.Product(at) == p {
		return c.ProductNamesakes(at)
	}
	return c.ProductsByExternalID(p.ExternalID())
}

func sameIDs(before, after *menu.Catalogue, olds, news []menu.Index) bool {
	if len(olds) != len(news) {
		return false
	}
	for i := range news {
		if before.Product(olds[i]).ID() != after.Product(news[i]).ID() {
			return false
		}
	}
	return true
}

// reviseSchemes compares what schemeIndex writes. Each group is compared once,
// however many schemes have it.
func reviseSchemes(before, after *menu.Catalogue) (r revision) {
	schemes := after.Schemes()
	r.fields = len(schemes)
	groups := groupPairs{before: before, after: after, known: make([]verdict, len(after.Groups()))}
	var scratch []byte
	kept := 0
	for i := range schemes {
		at := menu.Index(i)
		old, known := before.SchemeByID(schemes[i].ID)
		if known {
			kept++
			if groups.sameScheme(old, at) {
				continue
			}
		}
		scratch = appendScheme(scratch[:0], after, at)
		r.write.add(schemes[i].ID, scratch)
	}
	if kept == len(before.Schemes()) {
		return r
	}
	for _, scheme := range before.Schemes() {
		if _, still := after.SchemeByID(scheme.ID); !still {
			r.remove = append(r.remove, scheme.ID)
		}
	}
	return r
}

// groupPairs compares the groups of two catalogues, and remembers by the index
// in after.
type groupPairs struct {
	before, after *menu.Catalogue
	known         []verdict
}

type verdict uint8

const (
	unknown verdict = iota
	same
	other
)

func (g *groupPairs) sameScheme(old, at menu.Index) bool {
	olds, news := g.before.Limits(old), g.after.Limits(at)
	if len(olds) != len(news) {
		return false
	}
	for i := range news {
		if olds[i].Min != news[i].Min || olds[i].Max != news[i].Max || !g.sameGroup(olds[i].Group, news[i].Group) {
			return false
		}
	}
	return true
}

func (g *groupPairs) sameGroup(old, at menu.Index) bool {
	if g.before.Groups()[old].ID != g.after.Groups()[at].ID { // an id stands once in a catalogue
		return false
	}
	if g.known[at] == unknown {
		g.known[at] = other
		if g.before.Groups()[old].Name == g.after.Groups()[at].Name && g.sameMembers(old, at) {
			g.known[at] = same
		}
	}
	return g.known[at] == same
}

func (g *groupPairs) sameMembers(old, at menu.Index) bool {
	olds, news := g.before.Members(old), g.after.Members(at)
	if len(olds) != len(news) {
		return false
	}
	for i := range news {
		if g.before.Ingredient(olds[i]).ID() != g.after.Ingredient(news[i]).ID() {
			return false
		}
	}
	return true
}
