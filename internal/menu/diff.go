package menu

import (
	"hash/maphash"
	"slices"
	"strconv"
)

// Changes are the differences between two catalogues; dishes are listed by id.
type Changes struct {
	Added        []string       `json:"added"`
	Removed      []string       `json:"removed"`
	Changed      []Change       `json:"changed"`
	Availability []Availability `json:"availability"`
}

// Change is a dish that is in both catalogues, with the names of the fields that differ in the
// storefront's JSON. "groups" means any part of its resolved form.
type Change struct {
	ID     string   `json:"id"`
	Fields []string `json:"fields"`
}

// Availability is a dish that was stopped or is available again.
type Availability struct {
	ID        string `json:"id"`
	Available bool   `json:"available"`
}

// Empty reports whether there are no differences.
func (c Changes) Empty() bool {
	return len(c.Added)+len(c.Removed)+len(c.Changed)+len(c.Availability) == 0
}

// Merge adds changed dishes and availability that the changes do not have. An added dish is read as a whole.
func (c *Changes) Merge(others Changes) {
	added := func(id string) bool { return slices.Contains(c.Added, id) }
	for _, one := range others.Changed {
		if !added(one.ID) && !slices.ContainsFunc(c.Changed, func(known Change) bool { return known.ID == one.ID }) {
			c.Changed = append(c.Changed, one)
		}
	}
	for _, one := range others.Availability {
		if !added(one.ID) && !slices.Contains(c.Availability, one) {
			c.Availability = append(c.Availability, one)
		}
	}
}

// Diff compares two catalogues. The order is that of to and, for removed dishes, that of from. O(size of both).
func Diff(from, to *Catalogue) Changes {
	changes := Changes{
		Added: []string{}, Removed: []string{},
		Changed: []Change{}, Availability: []Availability{},
	}
	before, after := sumsOf(from), sumsOf(to)
	for p, now := range to.products.All() {
		id := now.ID()
		old, ok := from.products.ByID(id)
		if !ok {
			changes.Added = append(changes.Added, id)
			continue
		}
		fields := differing(from, to, old, p)
		if before[from.productScheme[old]+1] != after[to.productScheme[p]+1] {
			fields = append(fields, "groups")
		}
		if len(fields) > 0 {
			changes.Changed = append(changes.Changed, Change{ID: id, Fields: fields})
		}
		if available := to.Available(p); available != from.Available(old) {
			changes.Availability = append(changes.Availability, Availability{ID: id, Available: available})
		}
	}
	for _, was := range from.products.All() {
		if _, kept := to.products.ByID(was.ID()); !kept {
			changes.Removed = append(changes.Removed, was.ID())
		}
	}
	return changes
}

// differing returns the fields in which dish p of to differs from dish old of from.
func differing(from, to *Catalogue, old, p Index) []string {
	was, is := from.products.At(old), to.products.At(p)
	categories := sameCategories(from, to, old, p)
	scheme := from.SchemeID(from.productScheme[old]) == to.SchemeID(to.productScheme[p])
	if was == is && categories && scheme {
		return nil
	}
	a, b := was.values(), is.values()
	var fields []string
	note := func(field string, same bool) {
		if !same {
			fields = append(fields, field)
		}
	}
	note("externalId", a.externalID == b.externalID)
	note("categoryId", categories || from.CategoryID(old) == to.CategoryID(p))
	note("categoryIds", categories)
	note("name", a.name == b.name)
	note("description", a.description == b.description)
	note("price", was.PriceInvalid() == is.PriceInvalid() && a.price.Cmp(b.price) == 0)
	note("measure", string(a.appendMeasure(nil)) == string(b.appendMeasure(nil)))
	note("imageUrls", string(a.appendImages(nil)) == string(b.appendImages(nil)))
	note("nutrition", string(a.appendNutrition(nil)) == string(b.appendNutrition(nil)))
	note("schemeId", scheme)
	return fields
}

// sameCategories reports whether dish old of from and dish p of to are in the same categories in the same order.
func sameCategories(from, to *Catalogue, old, p Index) bool {
	return slices.EqualFunc(from.CategoriesOf(old), to.CategoriesOf(p), func(a, b Index) bool {
		return from.categories[a].ID == to.categories[b].ID
	})
}

// diffSeed makes the sums of all catalogues of a process comparable.
var diffSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read only

// sumsOf computes, level by level, a hash of the resolved form of each scheme: O(depth × ingredients offered by the
// schemes). That of scheme s is at s+1; the first one is for None.
func sumsOf(c *Catalogue) []uint64 {
	own := make([]uint64, c.ingredients.Len())
	var text []byte
	for i := range own {
		text = c.appendIngredient(text[:0], Index(i))
		own[i] = maphash.Bytes(diffSeed, text)
	}
	below := make([]uint64, len(c.schemes)+1)
	for range c.settings.MaxDepth {
		sums := make([]uint64, len(c.schemes)+1)
		for s := range c.schemes {
			text = text[:0]
			for _, limit := range c.Limits(Index(s)) {
				text = c.appendGroup(text, limit)
				for _, member := range c.Members(limit.Group) {
					text = strconv.AppendUint(append(text, ' '), own[member], 36)
					text = strconv.AppendUint(append(text, '/'), below[c.ingredientScheme[member]+1], 36)
				}
			}
			sums[s+1] = maphash.Bytes(diffSeed, text)
		}
		if slices.Equal(sums, below) {
			break
		}
		below = sums
	}
	return below
}
