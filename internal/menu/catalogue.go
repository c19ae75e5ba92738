package menu

import "slices"

// Unlimited is the Max of a Limit without a maximum (policy M2).
const Unlimited = -1

// Limit is one (scheme, group) pair with its limits according to policy M2: how many items of the
// group one unit of the dish needs (policies M1, M3).
type Limit struct {
	Group    Index
	Min, Max int // Max is Unlimited or at least 0
}

// Content is a menu view compiled without its stop lists. All restaurants of a chain share it. It
// is immutable, except for data that it computes once on demand.
//
// Products, ingredients, groups and schemes are in dense tables in the order of the view; every
// access by Index is O(1). Dishes and ingredients are packed in one string with a few bytes of
// index each, so that a menu takes less memory than its JSON.
type Content struct {
	name        string
	settings    Settings
	categories  []Category // only existing parents, before their children
	products    ItemTable
	ingredients ItemTable
	groups      []Named
	schemes     []Named

	categoryIDs, groupIDs, schemeIDs hashIndex

	productCategories table[Index] // by product
	productScheme     []Index
	ingredientScheme  []Index
	ingredientInvalid flags        // no valid price, or no id that the POS knows
	limits            table[Limit] // by scheme
	members           table[Index] // by group: its ingredients
	memberships       table[Index] // by ingredient: its groups

	searchWords func() []searchWord // computed by the first call, as the listing
	listing     func() *Listing
}

// Named is the id and the name of a modifier group or scheme; a scheme has no name.
type Named struct{ ID, Name string }

// Catalogue is a Content with one restaurant's stop lists. It is immutable and safe for concurrent use.
type Catalogue struct {
	*Content

	Snoozes *Snoozes // see WithSnoozed; nil: none

	stops             Stops
	stopped           flags // by product, from the stop list only
	ingredientStopped flags
	orderable         flags
	unsatisfied       map[Index][]Index // by scheme: groups that cannot be satisfied; nil if there are none
	tooDeep           map[Index]bool    // by scheme: a dish with it needs too many levels; nil if there are none
	counts            Counts
}

// Counts contains the sizes of a catalogue for lists of restaurants. Orderable dishes are included
// in the available ones.
type Counts struct {
	Categories int `json:"categories"`
	Products   int `json:"products"`
	Available  int `json:"available"`
	Orderable  int `json:"orderable"`
}

// ReasonCode is the code of a reason why a dish or ingredient cannot be ordered.
type ReasonCode string

// The reasons why a dish or ingredient is not orderable.
const (
	ReasonStopped            ReasonCode = "stopped"
	ReasonGroupUnsatisfiable ReasonCode = "group_unsatisfiable"
	ReasonNoExternalID       ReasonCode = "no_external_id"
	ReasonPriceInvalid       ReasonCode = "price_invalid"
	ReasonTooDeep            ReasonCode = "too_deep"
)

// Reason is one reason. Group is the id of the group for group_unsatisfiable, otherwise empty.
type Reason struct {
	Code  ReasonCode `json:"code"`
	Group string     `json:"group,omitempty"`
}

// Settings returns the settings of the compilation.
func (c *Content) Settings() Settings { return c.settings }

// Categories returns the categories, parents before children. Callers must not modify returned slices.
func (c *Content) Categories() []Category { return c.categories }

// categoryByID returns the category with the id.
func (c *Content) categoryByID(id string) (Index, bool) {
	return c.categoryIDs.find(id, func(i Index) bool { return c.categories[i].ID == id })
}

// Products returns the dishes in the order of the view.
func (c *Content) Products() *ItemTable { return &c.products }

// Ingredients returns the ingredients in the order of the view.
func (c *Content) Ingredients() *ItemTable { return &c.ingredients }

// CategoriesOf returns the existing categories of dish p, in definition order (policy W9).
func (c *Content) CategoriesOf(p Index) []Index {
	return c.productCategories.row(p)
}

// CategoryID returns the id of the first of CategoriesOf, or "" without one: an id is never empty.
func (c *Content) CategoryID(p Index) string {
	if all := c.CategoriesOf(p); len(all) > 0 {
		return c.categories[all[0]].ID
	}
	return ""
}

// Groups returns the modifier groups.
func (c *Content) Groups() []Named { return c.groups }

// GroupByID returns the group with the id.
func (c *Content) GroupByID(id string) (Index, bool) {
	return c.groupIDs.find(id, func(i Index) bool { return c.groups[i].ID == id })
}

// Members returns the ingredients of group g in the order of the view.
func (c *Content) Members(g Index) []Index { return c.members.row(g) }

// GroupsOf returns the groups that contain ingredient i, sorted by Index.
func (c *Content) GroupsOf(i Index) []Index { return c.memberships.row(i) }

// Schemes returns the modifier schemes.
func (c *Content) Schemes() []Named { return c.schemes }

// schemeByID returns the scheme with the id.
func (c *Content) schemeByID(id string) (Index, bool) {
	return c.schemeIDs.find(id, func(i Index) bool { return c.schemes[i].ID == id })
}

// ProductScheme returns the scheme of dish p, or None.
func (c *Content) ProductScheme(p Index) Index { return c.productScheme[p] }

// SchemeID returns the id of a scheme, or "" for None.
func (c *Content) SchemeID(s Index) string {
	if s == None {
		return ""
	}
	return c.schemes[s].ID
}

// IngredientScheme returns the scheme of ingredient i, or None.
func (c *Content) IngredientScheme(i Index) Index { return c.ingredientScheme[i] }

// Limits returns the groups of scheme s with their limits, in scheme order.
func (c *Content) Limits(s Index) []Limit { return c.limits.row(s) }

// Stops returns the stopped ids of this catalogue.
func (c *Catalogue) Stops() Stops { return c.stops }

// Counts returns the sizes of the catalogue.
func (c *Catalogue) Counts() Counts { return c.counts }

// Available reports whether dish p is not stopped (policy M10).
func (c *Catalogue) Available(p Index) bool { return !c.stopped.has(p) }

// IngredientOrderable reports whether ingredient i can be chosen: it is available, has a valid price (policy
// W9a) and an externalId if one is required (policy O2), and every group of its scheme can be satisfied.
func (c *Catalogue) IngredientOrderable(i Index) bool {
	s := c.ingredientScheme[i]
	return !c.ingredientStopped.has(i) && !c.ingredientInvalid.has(i) && (s == None || len(c.unsatisfied[s]) == 0)
}

// Orderable reports whether dish p can be ordered: it is available and has a valid price, and every
// group of its scheme can be satisfied (policy M9) within the levels that an order may have (policy M12).
func (c *Catalogue) Orderable(p Index) bool { return c.orderable.has(p) }

// Reasons returns why dish p is not orderable; it is empty for an orderable dish.
func (c *Catalogue) Reasons(p Index) []Reason {
	if c.orderable.has(p) {
		return nil
	}
	all := c.reasonsOf(c.stopped.has(p), c.products.At(p), c.products.unknownToPOS(p, c.settings), c.productScheme[p])
	if c.tooDeep[c.productScheme[p]] {
		all = append(all, Reason{Code: ReasonTooDeep})
	}
	return all
}

// IngredientReasons returns why ingredient i is not orderable; empty if it is orderable.
func (c *Catalogue) IngredientReasons(i Index) []Reason {
	if c.IngredientOrderable(i) {
		return nil
	}
	return c.reasonsOf(c.ingredientStopped.has(i), c.ingredients.At(i), c.ingredients.unknownToPOS(i, c.settings), c.ingredientScheme[i])
}

func (c *Catalogue) reasonsOf(stopped bool, e Entry, refused bool, s Index) (all []Reason) {
	if stopped {
		all = append(all, Reason{Code: ReasonStopped})
	}
	if e.PriceInvalid() {
		all = append(all, Reason{Code: ReasonPriceInvalid})
	}
	if refused {
		all = append(all, Reason{Code: ReasonNoExternalID})
	}
	if s != None {
		for _, g := range c.unsatisfied[s] {
			all = append(all, Reason{Code: ReasonGroupUnsatisfiable, Group: c.groups[g].ID})
		}
	}
	return all
}

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

// Listing returns the order of the dishes on a page. It is computed once for each content (policy H7).
func (c *Content) Listing() *Listing { return c.listing() }

func (c *Content) newListing() *Listing {
	made := &Listing{Cents: c.products.hasCents() || c.ingredients.hasCents()}
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
	for _, dishes := range byCategory {
		made.Entries = append(made.Entries, dishes...)
		made.Ends = append(made.Ends, len(made.Entries))
	}
	return made
}

// hasCents reports whether a price is not a whole number.
func (t *ItemTable) hasCents() bool {
	for _, e := range t.All() {
		if !e.PriceInvalid() && !e.values().price.IsWhole() {
			return true
		}
	}
	return false
}

// table stores rows of any length one after the other.
type table[T any] struct {
	cells  []T
	starts []Index // by row: its start in cells; the last element is the end of the last row
}

func tableOf[T any](rows [][]T) table[T] {
	t := table[T]{cells: slices.Concat(rows...), starts: make([]Index, 1, len(rows)+1)}
	for i, row := range rows {
		t.starts = append(t.starts, t.starts[i]+Index(len(row)))
	}
	return t
}

func (t *table[T]) row(i Index) []T { return t.cells[t.starts[i]:t.starts[i+1]:t.starts[i+1]] }
