package ordering

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/upstream"
)

// wire maps a valid order to the body that the ordering service takes: dishes
// and ingredients as the catalogue has them (policies O2, P3), flat (policy
// M5), everything else as the client sent it.
func (c *check) wire(result *Verdict) json.RawMessage {
	o := c.order
	out := upstream.Order{
		Comment:        o.values[orderComment].textPtr(),
		RestaurantID:   o.values[orderRestaurant].textPtr(),
		Persons:        o.values[orderPersons].wholePtr(),
		DishList:       c.wireDishes(),
		ExpeditionType: o.values[orderExpedition].textPtr(),
		ExpectedAt:     o.values[orderExpectedAt].textPtr(),
		PaymentTypeID:  o.values[orderPayment].textPtr(),
		ChangeFrom:     o.values[orderChangeFrom].numberPtr(),
		Guest:          c.wireGuest(),
		Address:        c.wireAddress(),
		Extra:          c.passedOn(o.extra),
	}
	out.RestaurantNumeric = o.values[orderRestaurant].numeric
	if c.Native {
		restaurant := string(c.Restaurant)
		out.RestaurantID, out.RestaurantNumeric = &restaurant, false
		if o.values[orderExpectedAt].blank() && !result.ExpectedAt.IsZero() { // soonest (policy O4)
			at := result.ExpectedAt.Format(time.RFC3339)
			out.ExpectedAt = &at
		}
	}
	return out.AppendJSON(make([]byte, 0, 512+len(c.Body)), c.WireCase)
}

// passedOn: the drop-in face passes unknown fields on, the native one does not
// (policy W8).
func (c *check) passedOn(extra []upstream.Field) []upstream.Field {
	if c.Native {
		return nil
	}
	return extra
}

func (c *check) wireDishes() []upstream.Dish {
	o := c.order
	dishes := make([]upstream.Dish, 0, o.dishCount)
	ingredients := make([]upstream.OrderIngredient, 0, len(o.lines)) // room for those of all dishes
	for n := o.first; n != none; n = o.lines[n].next {
		product := c.Catalogue.Product(c.items[n].index)
		start := len(ingredients)
		ingredients = c.wireIngredients(ingredients, n)
		dishes = append(dishes, upstream.Dish{
			ID: sentID(product.ExternalID, product.ID), Name: &product.Name, Price: &product.Price,
			Measure: product.Measure, Quantity: o.lines[n].quantity.number,
			Ingredients: slices.Clip(ingredients[start:]), // empty, not nil: written as []
			Extra:       o.lines[n].extra,
		})
	}
	return dishes
}

// wireIngredients appends the line n's ingredients, each followed by its own,
// with quantities for one unit of the dish.
func (c *check) wireIngredients(flat []upstream.OrderIngredient, n int32) []upstream.OrderIngredient {
	o := c.order
	for child := o.lines[n].first; child != none; child = o.lines[child].next {
		ingredient := c.Catalogue.Ingredient(c.items[child].index)
		flat = append(flat, upstream.OrderIngredient{
			ID: sentID(ingredient.ExternalID, ingredient.ID), Name: &ingredient.Name, Price: &ingredient.Price,
			Measure: ingredient.Measure, Quantity: c.perDish(child), Extra: o.lines[child].extra,
		})
		flat = c.wireIngredients(flat, child)
	}
	return flat
}

// perDish gives an ingredient's quantity for one unit of the dish.
func (c *check) perDish(n int32) decimal.Decimal {
	if it, sent := &c.items[n], &c.order.lines[n].quantity; it.per != it.units || sent.state != readable {
		return decimal.NewFromInt(it.per)
	}
	return c.order.lines[n].quantity.number
}

// sentID: the externalId, or the id where the menu has none (policy O2).
func sentID(externalID, id string) string {
	if externalID != "" {
		return externalID
	}
	return id
}

func (c *check) wireGuest() *upstream.Guest {
	g := &c.order.guest
	if g.state != readable {
		return nil
	}
	v := g.values
	return &upstream.Guest{
		Email: v[guestEmail].textPtr(), Phone: v[guestPhone].textPtr(),
		FirstName: v[guestFirstName].textPtr(), LastName: v[guestLastName].textPtr(),
		Extra: c.passedOn(g.extra),
	}
}

func (c *check) wireAddress() *upstream.Address {
	a := &c.order.address
	if a.state != readable {
		return nil
	}
	v := a.values
	out := &upstream.Address{
		Postcode: v[addressPostcode].textPtr(), Street: v[addressStreet].textPtr(), Comment: v[addressComment].textPtr(),
		Lat: v[addressLat].numberPtr(), Lon: v[addressLon].numberPtr(),
		CityID: v[addressCityID].textPtr(), CityName: v[addressCityName].textPtr(), Floor: v[addressFloor].wholePtr(),
		HouseNumber: v[addressHouse].textPtr(), ApartmentNumber: v[addressApartment].textPtr(),
		Entrance: v[addressEntrance].textPtr(), Subway: v[addressSubway].textPtr(), FullAddress: v[addressFull].textPtr(),
		Extra: c.passedOn(a.extra),
	}
	if v[addressFull].blank() && slices.Contains(c.required(), "address.fullAddress") {
		full := c.fullAddress()
		out.FullAddress = &full
	}
	return out
}
