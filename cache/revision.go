package cache

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
)

// wholeEvery is how often a version's documented hashes are written whole
// although those of the version before could be copied: what somebody else has
// damaged in them is not handed on for longer.
const wholeEvery = 16

// errNothingToCopy says that Redis lacks a hash of the version before, or the
// command that copies it.
var errNothingToCopy = errors.New("no hash of the version before could be copied")

// hashes are the documented hashes of one version, by what they hold.
type hashes struct{ products, externalIDs, schemes revision }

// copied tells whether one of them is made of the version before.
func (h hashes) copied() bool {
	return h.products.of != "" || h.externalIDs.of != "" || h.schemes.of != ""
}

// revision is how one documented hash comes to be: of nothing, or of the same
// hash of the version before.
type revision struct {
	of     string   // the key of the version before; empty where all is written
	write  pairs    // fields that are new or other
	remove []string // fields that are gone
	fields int      // how many it has in the end
}

// wholeHashes are those of a catalogue with everything in them.
func wholeHashes(c *menu.Catalogue) hashes {
	whole := func(fields pairs) revision { return revision{write: fields, fields: len(fields) / 2} } //nolint:mnd // field and value
	return hashes{whole(productIndex(c, false)), whole(externalIDIndex(c)), whole(schemeIndex(c))}
}

// heirs are the hashes of after as copies of those of before, which stand under
// the names that begin with of; each that differs in more than half is whole.
func (s *Store) heirs(of string, before, after *menu.Catalogue) hashes {
	all := hashes{reviseProducts(before, after), reviseExternalIDs(before, after), reviseSchemes(before, after)}
	for _, one := range []struct {
		*revision
		key   string
		whole func() pairs
	}{
		{&all.products, s.keys.Products(of), func() pairs { return productIndex(after, false) }},
		{&all.externalIDs, s.keys.ExternalIDs(of), func() pairs { return externalIDIndex(after) }},
		{&all.schemes, s.keys.Schemes(of), func() pairs { return schemeIndex(after) }},
	} {
		if len(one.write)/2+len(one.remove) > one.fields/2 {
			*one.revision = revision{write: one.whole(), fields: one.fields}
		} else {
			one.of = one.key
		}
	}
	return all
}

// hashesOf gives the documented hashes of a version that has its own. They are
// copies where the publisher knows the version before, and that has its own too.
func (s *Store) hashesOf(p Publication, before standing, version int64) hashes {
	of := s.keys.Version(p.Restaurant, before.version)
	if p.Before == nil || before.form != catalogueForm || before.index != of || version%wholeEvery == 0 {
		return wholeHashes(p.Catalogue)
	}
	return s.heirs(of, p.Before, p.Catalogue)
}

// revise writes a hash under a staged name. Of a copy it gives the command whose
// answer tells whether there was something to copy; nil of a whole one.
func (b *batch) revise(ctx context.Context, staged string, r revision, life time.Duration) (*redis.Cmd, error) {
	if r.fields == 0 {
		return nil, nil
	}
	var copied *redis.Cmd
	if r.of != "" {
		// Not Copy of the client: that names a database, which need not be this one.
		copied = b.pipe.Do(ctx, "COPY", r.of, staged)
		b.expire(ctx, staged, life)
		if len(r.remove) > 0 {
			b.pipe.HDel(ctx, staged, r.remove...)
		}
	}
	return copied, b.hash(ctx, staged, r.write, life)
}

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
		schemeID(before, old) == schemeID(after, at) && categoryID(before, old) == categoryID(after, at)
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
		external := p.ExternalID()
		owners := ownersFirst(after, external, at)
		if owners == nil {
			continue
		}
		r.fields++
		if !sameIDs(before, after, before.ProductsByExternalID(external), owners) {
			scratch = appendOwners(scratch[:0], after, owners)
			r.write.add(external, scratch)
		}
	}
	for at, p := range before.Products() {
		external := p.ExternalID()
		if ownersFirst(before, external, at) != nil && len(after.ProductsByExternalID(external)) == 0 {
			r.remove = append(r.remove, external)
		}
	}
	return r
}

// ownersFirst gives the dishes with that externalId where at is the first of
// them; nil for any other, and for none.
func ownersFirst(c *menu.Catalogue, external string, at menu.Index) []menu.Index {
	if external == "" {
		return nil
	}
	if owners := c.ProductsByExternalID(external); len(owners) > 0 && owners[0] == at {
		return owners
	}
	return nil
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
