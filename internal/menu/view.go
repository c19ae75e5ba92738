package menu

import (
	"slices"

	"github.com/shopspring/decimal"
)

// View is a menu view as the ordering service published it (docs/ordering-service.md,
// section 2.4), with spellings, identifiers, numbers and nulls
// normalised by policies W3 to W7. Order, duplicates and dangling references
// are still those of the service; Compile cleans them and Lint reports them.
type View struct {
	Name             string
	IsPossibleDelete bool
	HaveChanges      bool
	Categories       []Category
	Products         []Product
	Schemes          []Scheme
	Groups           []Group
	Ingredients      []Ingredient
	// Issues are the values that Decode read otherwise than the interface
	// has them, or could not read, in the order of the body; IssuesOmitted
	// is how many more there were than are kept.
	Issues        []Issue
	IssuesOmitted int
}

// Category is one element of categories. ParentID is empty for a root.
type Category struct {
	ID, Name, ParentID string
}

// Product is one dish. Price is an exact decimal in the restaurant's currency;
// PriceInvalid says that the service sent none or something else, so that the dish
// cannot be ordered (policy W9a).
type Product struct {
	ID, ExternalID, CategoryID, Name string
	Price                            decimal.Decimal
	PriceInvalid                     bool
	SchemeID, Description            string
	ImageURLs                        []string
	Measure                          *Measure
	Stop                             StopList
	Nutrition                        *Nutrition
}

// Nutrition is the nutritional values of a dish; an absent one is not Valid.
// EnergyValue is in kJ, Calories in kcal.
type Nutrition struct {
	Calories, EnergyValue, Proteins, Fats, Carbohydrates decimal.NullDecimal
}

// Measure is a serving: an exact value and its unit (kg, liter, pcs).
type Measure struct {
	Value decimal.Decimal
	Unit  string
}

// Scheme is one modifier scheme: the groups it offers and their limits.
type Scheme struct {
	ID     string
	Groups []GroupLimit
}

// GroupLimit is the pair (scheme, group) with its limits as published. Min is 0
// where there is none. Max is Unlimited where there is none, or a negative one;
// what a Max of 0 means is decided by Compile (policy M2).
type GroupLimit struct {
	GroupID  string
	Min, Max int
}

// Group is a modifier group: a name and the ids of its ingredients.
type Group struct {
	ID, Name    string
	Ingredients []string
}

// Ingredient is an ingredient or modifier. SchemeID is set where it is itself
// composed (a part of a combo). Without any price it costs nothing; PriceInvalid says
// that the service sent one that is null or cannot be read (policy W9a).
type Ingredient struct {
	ID, ExternalID, Name  string
	Price                 decimal.Decimal
	PriceInvalid          bool
	SchemeID, Description string
	ImageURLs             []string
	Measure               *Measure
	Stop                  StopList
}

// StopList says for which restaurants a dish or ingredient is stopped (policy
// W7): all of them, or those listed.
type StopList struct {
	All bool
	IDs []string
}

// StoppedFor reports whether the list stops the dish for one restaurant. With
// anyEntry, an entry of any kind stops it (setting stop_list_any_value).
func (l StopList) StoppedFor(restaurant RestaurantID, anyEntry bool) bool {
	return l.All || (anyEntry && len(l.IDs) > 0) || slices.Contains(l.IDs, string(restaurant))
}

// Issue is one value of a menu view that is not as the interface has it.
type Issue struct {
	Code  string // as in Finding
	Field string // where: "products[].price"
	Kind  string // what the owner is: "product", "ingredient", …; empty for the view
	ID    string // the owner's id; empty where it has none
	Value string // the value as sent, shortened
}
