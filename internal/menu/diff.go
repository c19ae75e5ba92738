package menu

import (
	"hash/maphash"
	"slices"
	"strconv"
)

// Changes is what differs between two catalogues, dishes by id.
type Changes struct {
	Added        []string       `json:"added"`
	Removed      []string       `json:"removed"`
	Changed      []Change       `json:"changed"`
	Availability []Availability `json:"availability"`
}

// Change is one dish that stands in both, and the fields that differ by their
// names in the storefront's JSON; "groups" is anything of its resolved form.
type Change struct {
	ID     string   `json:"id"`
	Fields []string `json:"fields"`
}

// Availability is a dish that was stopped or released.
type Availability struct {
	ID        string `json:"id"`
	Available bool   `json:"available"`
}

// Empty tells whether nothing differs.
func (c Changes) Empty() bool {
	return len(c.Added)+len(c.Removed)+len(c.Changed)+len(c.Availability) == 0
}

// Diff compares two catalogues, in the order of to, then (for what was
// removed) of from. O(size of both).
func Diff(from, to *Catalogue) Changes {
	changes := Changes{Added: []string{}, Removed: []string{}, Changed: []Change{}, Availability: []Availability{}}
	before, after := from.forms(), to.forms()
	for i := range to.products {
		p := Index(i)
		id := to.products[i].ID
		old, ok := from.ProductByID(id)
		if !ok {
			changes.Added = append(changes.Added, id)
			continue
		}
		fields := differing(&from.products[old], &to.products[i])
		if before.of(from.productScheme[old]) != after.of(to.productScheme[p]) {
			fields = append(fields, "groups")
		}
		if len(fields) > 0 {
			changes.Changed = append(changes.Changed, Change{ID: id, Fields: fields})
		}
		if now := to.Available(p); now != from.Available(old) {
			changes.Availability = append(changes.Availability, Availability{ID: id, Available: now})
		}
	}
	for i := range from.products {
		if _, kept := to.ProductByID(from.products[i].ID); !kept {
			changes.Removed = append(changes.Removed, from.products[i].ID)
		}
	}
	return changes
}

func differing(a, b *Product) []string {
	var fields []string
	note := func(field string, same bool) {
		if !same {
			fields = append(fields, field)
		}
	}
	note("externalId", a.ExternalID == b.ExternalID)
	note("categoryId", a.CategoryID == b.CategoryID)
	note("name", a.Name == b.Name)
	note("description", a.Description == b.Description)
	note("price", a.PriceBad == b.PriceBad && a.Price.Equal(b.Price))
	note("measure", string(appendMeasure(nil, a.Measure)) == string(appendMeasure(nil, b.Measure)))
	note("imageUrls", slices.Equal(a.ImageURLs, b.ImageURLs))
	note("nutrition", string(appendNutrition(nil, a.Nutrition)) == string(appendNutrition(nil, b.Nutrition)))
	note("schemeId", a.SchemeID == b.SchemeID)
	return fields
}

// diffSeed makes the sums of all catalogues of one process comparable.
var diffSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read only

// forms are the sums of the resolved forms of every scheme of a catalogue.
type forms []uint64

func (f forms) of(s Index) uint64 {
	if s == None {
		return 0
	}
	return f[s]
}

// forms sums up, level by level, what a form would draw for each scheme:
// O(depth × ingredients offered by the schemes).
func (c *Catalogue) forms() forms {
	own := make([]uint64, len(c.ingredients))
	var text []byte
	for i := range c.ingredients {
		text = c.appendIngredient(text[:0], Index(i))
		own[i] = maphash.Bytes(diffSeed, text)
	}
	below := make(forms, len(c.schemes))
	for range c.settings.MaxDepth {
		sums := make(forms, len(c.schemes))
		for s := range c.schemes {
			text = text[:0]
			for _, limit := range c.Limits(Index(s)) {
				text = c.appendGroup(text, limit)
				for _, member := range c.Members(limit.Group) {
					text = strconv.AppendUint(append(text, ' '), own[member], 36)
					text = strconv.AppendUint(append(text, '/'), below.of(c.ingredientScheme[member]), 36)
				}
			}
			sums[s] = maphash.Bytes(diffSeed, text)
		}
		if slices.Equal(sums, below) {
			break
		}
		below = sums
	}
	return below
}
