package menu

import (
	"strings"
	"sync"
)

// Listing is the order in which a page shows the dishes: each under all its categories, and those without
// a category last. It must not be changed.
type Listing struct {
	// Entries has the dishes, category by category. Ends has the end of each category in Entries, and at last
	// that of the dishes without a category.
	Entries []Index
	Ends    []int
	// Cents reports whether a price of the menu is not a whole number.
	Cents bool
}

// onceListing computes the listing of a content at the first call.
type onceListing struct {
	once sync.Once
	made Listing
}

// Listing returns the order of the dishes on a page. It is computed once for each content (policy H7).
func (c *Content) Listing() *Listing {
	c.listing.once.Do(func() {
		byCategory := make([][]Index, len(c.categories)+1)
		for p := range Index(c.products.Len()) {
			within := c.CategoriesOf(p)
			for _, at := range within {
				byCategory[at] = append(byCategory[at], p)
			}
			if len(within) == 0 {
				byCategory[len(c.categories)] = append(byCategory[len(c.categories)], p)
			}
		}
		made := &c.listing.made
		for _, dishes := range byCategory {
			made.Entries = append(made.Entries, dishes...)
			made.Ends = append(made.Ends, len(made.Entries))
		}
		made.Cents = c.products.hasCents() || c.ingredients.hasCents()
	})
	return &c.listing.made
}

// hasCents reports whether a price is not a whole number.
func (t *ItemTable) hasCents() bool {
	for i := range Index(t.Len()) {
		if entry := t.At(i); !entry.PriceInvalid() && strings.Contains(entry.Price().String(), ".") {
			return true
		}
	}
	return false
}
