package upstream

import (
	"encoding/json"
	"strings"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// FieldCase is the spelling of field names in requests (policy W3).
type FieldCase string

// The spellings: as documented (restaurantID, ID, cityID), or camel case (restaurantId, id, cityId).
const (
	FieldCaseDocument FieldCase = "document"
	FieldCaseCamel    FieldCase = "camel"
)

func (w FieldCase) spell(name string) string {
	if w != FieldCaseCamel {
		return name
	}
	if name == "ID" {
		return "id"
	}
	if stem, ok := strings.CutSuffix(name, "ID"); ok {
		return stem + "Id"
	}
	return name
}

// Field is an unknown field, forwarded as the client sent it (policy W8). Value is well-formed JSON.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Order is the body of a create call (docs/ordering-service.md, section 2.1). A nil field is omitted. Extra follows
// the known fields in its own order; an Extra field with the name of a known field in any spelling is omitted.
type Order struct {
	Comment      *string
	RestaurantID *string
	// RestaurantNumeric means that RestaurantID is a number and is written as one.
	RestaurantNumeric bool
	Persons           *int
	DishList          []Dish // always written
	ExpeditionType    *string
	ExpectedAt        *string // RFC 3339 with offset, sent unchanged
	PaymentTypeID     *string
	ChangeFrom        *jsontext.Number
	Guest             *Guest
	Address           *Address
	Extra             []Field
}

// Dish is one line of an order. Quantity is in units of the dish.
type Dish struct {
	Item        *menu.Item // ID, name, price, measure
	Quantity    jsontext.Number
	Ingredients []OrderIngredient // nil is omitted, empty is written as []
	Extra       []Field
}

// OrderIngredient is an ingredient or modifier of a dish. Quantity is per unit of the dish.
type OrderIngredient struct {
	Item     *menu.Item // ID, name, price, measure
	Quantity jsontext.Number
	Extra    []Field
}

// Guest is the person who orders.
type Guest struct {
	Email     *string
	Phone     *string
	FirstName *string
	LastName  *string
	Extra     []Field
}

// Address is the delivery address.
type Address struct {
	Postcode        *string
	Street          *string
	Comment         *string
	Lat             *jsontext.Number
	Lon             *jsontext.Number
	CityID          *string
	CityName        *string
	Floor           *int
	HouseNumber     *string
	ApartmentNumber *string
	Entrance        *string
	Subway          *string
	FullAddress     *string
	Extra           []Field
}

// Payment is one element of a pay call's body (docs/ordering-service.md, section 2.2).
type Payment struct {
	Code   string          // GUID of the POS currency
	Amount decimal.Decimal // exact, in the restaurant's currency
	PaidAt string          // RFC 3339 with offset, sent unchanged
	Name   string          // always written, even if empty
	Extra  []Field
}

// Rejection is the body of a reject call (docs/ordering-service.md, section 4.5). Both fields are always written.
type Rejection struct {
	ReasonID   string
	ReasonText string
	Extra      []Field
}

// Reason is a rejection reason of the service (docs/ordering-service.md, section 2.3). Type is "simple" or "text".
type Reason struct {
	ID               string `json:"ID"`
	Reason           string `json:"reason"`
	Type             string `json:"type"`
	IsPossibleDelete bool   `json:"isPossibleDelete"`
}
