package menu

// Unlimited is the Max of a Limit without an upper limit (policy M2).
const Unlimited = -1

// Limit is one (scheme, group) pair with its limits after policy M2: how many
// items of the group one unit of the dish takes (policies M1, M3).
type Limit struct {
	Group    Index
	Min, Max int // Max is Unlimited or at least 0
}

// Content is a menu view compiled without its stop lists: what every
// restaurant of a chain shares. It never changes, but for what it makes once on
// demand.
//
// Products, ingredients, groups and schemes stand in dense tables in the order
// of the view; every lookup by Index is O(1). Dishes and ingredients are packed
// texts with a few bytes of index each: a menu takes less than its JSON.
type Content struct {
	name        string
	settings    Settings
	categories  []Category // parents before children, parents that exist
	products    ItemTable
	ingredients ItemTable
	groups      []Named
	schemes     []Named

	categoryIDs, groupIDs, schemeIDs index

	productCategories []Index // of all products, one behind the other
	categoryStarts    []Index // start in productCategories; one more than products
	productScheme     []Index
	ingredientScheme  []Index
	ingredientInvalid flags   // no valid price, or no id that the POS knows
	limits            []Limit // of all schemes, one behind the other
	schemeLimits      []Index // start in limits; one more than schemes
	members           []Index // ingredients of all groups
	groupMembers      []Index // start in members; one more than groups
	memberships       []Index // groups of all ingredients
	ingredientGroups  []Index // start in memberships

	search searchIndex
}

// Named is what a modifier group or scheme is called; a scheme has no name.
type Named struct{ ID, Name string }

// Catalogue is a Content with one restaurant's stop lists laid over it. It
// never changes and is safe for any number of readers.
type Catalogue struct {
	*Content

	stops             Stops
	stopped           flags // by product, of the stop list alone
	ingredientStopped flags
	orderable         flags
	unsatisfied       map[Index][]Index // by scheme, where there are any: groups that cannot be satisfied
	counts            Counts
}

// Counts are the sizes of a catalogue as restaurants' lists show them.
// Orderable dishes are a part of the available ones.
type Counts struct {
	Categories int `json:"categories"`
	Products   int `json:"products"`
	Available  int `json:"available"`
	Orderable  int `json:"orderable"`
}

// ReasonCode says why a dish or ingredient cannot be ordered.
type ReasonCode string

// The reasons of a dish or ingredient that is not orderable.
const (
	ReasonStopped            ReasonCode = "stopped"
	ReasonGroupUnsatisfiable ReasonCode = "group_unsatisfiable"
	ReasonNoExternalID       ReasonCode = "no_external_id"
	ReasonPriceInvalid       ReasonCode = "price_invalid"
)

// Reason is one reason; Group is the id of the group for group_unsatisfiable
// and empty otherwise.
type Reason struct {
	Code  ReasonCode `json:"code"`
	Group string     `json:"group,omitempty"`
}

// Name is the menu view's name.
func (c *Content) Name() string { return c.name }

// Settings are what the content was compiled with.
func (c *Content) Settings() Settings { return c.settings }

// Categories returns the categories, parents before children. The caller must
// not change it; this holds for every slice a Content returns.
func (c *Content) Categories() []Category { return c.categories }

// CategoryByID finds a category.
func (c *Content) CategoryByID(id string) (Index, bool) {
	return c.categoryIDs.find(id, func(i Index) bool { return c.categories[i].ID == id })
}

// Products returns the dishes, in the view's order.
func (c *Content) Products() *ItemTable { return &c.products }

// Ingredients returns the ingredients, in the view's order.
func (c *Content) Ingredients() *ItemTable { return &c.ingredients }

// ProductCategories returns the categories of the dish p that exist, in the
// order of its definitions (policy W9).
func (c *Content) ProductCategories(p Index) []Index {
	return row(c.productCategories, c.categoryStarts, p)
}

// ProductCategory returns the first of ProductCategories, or None.
func (c *Content) ProductCategory(p Index) Index {
	if all := c.ProductCategories(p); len(all) > 0 {
		return all[0]
	}
	return None
}

// Groups returns the modifier groups.
func (c *Content) Groups() []Named { return c.groups }

// GroupByID finds a group.
func (c *Content) GroupByID(id string) (Index, bool) {
	return c.groupIDs.find(id, func(i Index) bool { return c.groups[i].ID == id })
}

// Members returns the ingredients of the group g, in the view's order.
func (c *Content) Members(g Index) []Index { return row(c.members, c.groupMembers, g) }

// GroupsOf returns the groups that the ingredient i stands in, by rising Index.
func (c *Content) GroupsOf(i Index) []Index { return row(c.memberships, c.ingredientGroups, i) }

// Schemes returns the modifier schemes.
func (c *Content) Schemes() []Named { return c.schemes }

// SchemeByID finds a scheme.
func (c *Content) SchemeByID(id string) (Index, bool) {
	return c.schemeIDs.find(id, func(i Index) bool { return c.schemes[i].ID == id })
}

// ProductScheme returns the scheme of the dish p, or None.
func (c *Content) ProductScheme(p Index) Index { return c.productScheme[p] }

// IngredientScheme returns the scheme of the ingredient i, or None.
func (c *Content) IngredientScheme(i Index) Index { return c.ingredientScheme[i] }

// Limits returns the groups of the scheme s with their limits, in scheme order.
func (c *Content) Limits(s Index) []Limit { return row(c.limits, c.schemeLimits, s) }

// Stops returns the ids that are stopped in this catalogue.
func (c *Catalogue) Stops() Stops { return c.stops }

// Counts returns the catalogue's sizes.
func (c *Catalogue) Counts() Counts { return c.counts }

// Available reports whether the dish p is not stopped (policy M10).
func (c *Catalogue) Available(p Index) bool { return !c.stopped.has(p) }

// IngredientAvailable reports whether the ingredient i is not stopped.
func (c *Catalogue) IngredientAvailable(i Index) bool { return !c.ingredientStopped.has(i) }

// IngredientOrderable reports whether the ingredient i can be chosen: it is
// available, has a price (policy W9a) and an externalId where one is needed
// (policy O2), and every group of its own scheme can be satisfied.
func (c *Catalogue) IngredientOrderable(i Index) bool {
	s := c.ingredientScheme[i]
	return !c.ingredientStopped.has(i) && !c.ingredientInvalid.has(i) && (s == None || len(c.unsatisfied[s]) == 0)
}

// Orderable reports whether the dish p can be ordered at all: available, with a
// price, and every group of its scheme can be satisfied (policy M9).
func (c *Catalogue) Orderable(p Index) bool { return c.orderable.has(p) }

// Reasons says why the dish p is not orderable; empty when it is.
func (c *Catalogue) Reasons(p Index) []Reason {
	if c.orderable.has(p) {
		return nil
	}
	return c.reasons(c.stopped.has(p), c.products.At(p), c.products.unknownToPOS(p, c.settings), c.productScheme[p])
}

// IngredientReasons says why the ingredient i is not orderable; empty when it is.
func (c *Catalogue) IngredientReasons(i Index) []Reason {
	if c.IngredientOrderable(i) {
		return nil
	}
	return c.reasons(c.ingredientStopped.has(i), c.ingredients.At(i), c.ingredients.unknownToPOS(i, c.settings), c.ingredientScheme[i])
}

func (c *Catalogue) reasons(stopped bool, e Entry, refused bool, s Index) (all []Reason) {
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

func find(ids map[string]Index, id string) (Index, bool) {
	i, ok := ids[id]
	if !ok {
		return None, false
	}
	return i, true
}

// row returns the i-th row of a table whose rows stand one behind the other.
func row[T any](cells []T, starts []Index, i Index) []T {
	return cells[starts[i]:starts[i+1]:starts[i+1]]
}
