package menu

import (
	"slices"

	"github.com/shopspring/decimal"
)

// View is a menu view as the ordering service published it (docs/ordering-service.md, section 2.4),
// with spellings, identifiers, numbers and nulls normalised (policies W3 to W7). Order, duplicates
// and dangling references are preserved; Compile cleans them up and Lint reports them.
type View struct {
	Name             string
	IsPossibleDelete bool
	HaveChanges      bool
	Categories       []Category
	Products         []Product
	Schemes          []Scheme
	Groups           []Group
	Ingredients      []Ingredient
	// Issues are the values that differ from the interface, in the order of the body; IssuesOmitted
	// is the number of further issues.
	Issues        []Issue
	IssuesOmitted int
}

// Category is a category of the menu. ParentID is empty for a root.
type Category struct {
	ID, Name, ParentID string
}

// Product is one dish. Price is an exact decimal in the restaurant's currency. PriceInvalid means
// that the price is missing or invalid, so that the dish cannot be ordered (policy W9a).
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

// Nutrition contains the nutritional values of a dish; a missing value is not Valid. EnergyValue is
// in kJ, Calories in kcal.
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

// GroupLimit is a group of a scheme with its limits as published. Min is 0 if it is missing. Max is
// Unlimited if it is missing or negative; Compile decides what a Max of 0 means (policy M2).
type GroupLimit struct {
	GroupID  string
	Min, Max int
}

// Group is a modifier group: a name and the ids of its ingredients.
type Group struct {
	ID, Name    string
	Ingredients []string
}

// Ingredient is an ingredient or modifier, with the fields of a dish except CategoryID and Nutrition. SchemeID is set
// if it has modifiers itself (a part of a combo). Without a price it is free; PriceInvalid means that the price is null
// or invalid (policy W9a).
type Ingredient = Product

// StopList contains the restaurants for which a dish or ingredient is stopped (policy W7): all of them, or a list.
type StopList struct {
	All bool
	IDs []string
}

// stoppedFor reports whether the list stops the dish for one restaurant. With anyEntry, any entry
// stops it (setting stop_list_any_value).
func (l StopList) stoppedFor(restaurant RestaurantID, anyEntry bool) bool {
	return l.All || (anyEntry && len(l.IDs) > 0) || slices.Contains(l.IDs, string(restaurant))
}

// Issue is a value of a menu view that differs from the interface.
type Issue struct {
	Code  string // as in Finding
	Field string // path: "products[].price"
	Kind  string // kind of the owner: "product", "ingredient", …; empty for the view
	ID    string // id of the owner; may be empty
	Value string // the value as sent, shortened
}
