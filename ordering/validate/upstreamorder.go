package validate

import (
	"slices"
	"time"

	"larder/internal/jsontext"
	"larder/internal/upstream"
)

// upstreamOrder maps a valid order to what the ordering service takes: dishes
// and ingredients as the catalogue has them (policies O2, P3), flat (policy
// M5), everything else as the client sent it. It is good until the next order.
func (c *validation) upstreamOrder() *upstream.Order {
	o, out := &c.order, &c.out
	*out = upstream.Order{
		Comment:           o.values[orderComment].textPtr(),
		RestaurantID:      o.values[orderRestaurant].textPtr(),
		RestaurantNumeric: o.values[orderRestaurant].numeric,
		Persons:           o.values[orderPersons].wholePtr(&c.persons),
		DishList:          c.upstreamDishes(),
		ExpeditionType:    o.values[orderExpedition].textPtr(),
		ExpectedAt:        o.values[orderExpectedAt].textPtr(),
		PaymentTypeID:     o.values[orderPayment].textPtr(),
		ChangeFrom:        o.values[orderChangeFrom].numberPtr(),
		Guest:             c.upstreamGuest(),
		Address:           c.upstreamAddress(),
		Extra:             unknownFields(c.V1, o.extra),
	}
	if c.V1 {
		c.restaurant = string(c.Restaurant)
		out.RestaurantID, out.RestaurantNumeric = &c.restaurant, false
		if o.values[orderExpectedAt].blank() && !c.expectedAt.IsZero() { // soonest (policy O4)
			at := c.expectedAt.Format(time.RFC3339)
			out.ExpectedAt = &at
		}
	}
	return out
}

func (c *validation) upstreamDishes() []upstream.Dish {
	lines := c.order.lines
	c.dishes = slices.Grow(c.dishes[:0], c.order.dishCount)
	c.ingredients = slices.Grow(c.ingredients[:0], len(lines)) // never moved: dishes have parts of it
	for n := c.order.first; n != none; n = lines[n].next {
		start := len(c.ingredients)
		c.upstreamIngredients(n)
		c.dishes = append(c.dishes, upstream.Dish{
			Item: c.Catalogue.ProductItem(c.items[n].index), Quantity: lines[n].quantity.number,
			Ingredients: c.ingredients[start:len(c.ingredients):len(c.ingredients)], // empty, not nil: written as []
			Extra:       lines[n].extra,
		})
	}
	return c.dishes
}

// upstreamIngredients appends the line n's ingredients, each followed by its own,
// with quantities for one unit of the dish.
func (c *validation) upstreamIngredients(n int32) {
	lines := c.order.lines
	for child := lines[n].first; child != none; child = lines[child].next {
		c.ingredients = append(c.ingredients, upstream.OrderIngredient{
			Item: c.Catalogue.IngredientItem(c.items[child].index), Quantity: c.quantityPerDish(child), Extra: lines[child].extra,
		})
		c.upstreamIngredients(child)
	}
}

// quantityPerDish returns an ingredient's quantity for one unit of the dish.
func (c *validation) quantityPerDish(n int32) jsontext.Number {
	if it, sent := &c.items[n], &c.order.lines[n].quantity; it.per != it.units || sent.state != readable {
		return jsontext.Whole(it.per)
	}
	return c.order.lines[n].quantity.number
}

func (c *validation) upstreamGuest() *upstream.Guest {
	g := &c.order.guest
	if g.state != readable {
		return nil
	}
	v := g.values
	c.guest = upstream.Guest{
		Email: v[guestEmail].textPtr(), Phone: v[guestPhone].textPtr(),
		FirstName: v[guestFirstName].textPtr(), LastName: v[guestLastName].textPtr(),
		Extra: unknownFields(c.V1, g.extra),
	}
	return &c.guest
}

func (c *validation) upstreamAddress() *upstream.Address {
	a := &c.order.address
	if a.state != readable {
		return nil
	}
	v := a.values
	c.address = upstream.Address{
		Postcode: v[addressPostcode].textPtr(), Street: v[addressStreet].textPtr(), Comment: v[addressComment].textPtr(),
		Lat: v[addressLat].numberPtr(), Lon: v[addressLon].numberPtr(),
		CityID: v[addressCityID].textPtr(), CityName: v[addressCityName].textPtr(), Floor: v[addressFloor].wholePtr(&c.floor),
		HouseNumber: v[addressHouse].textPtr(), ApartmentNumber: v[addressApartment].textPtr(),
		Entrance: v[addressEntrance].textPtr(), Subway: v[addressSubway].textPtr(), FullAddress: v[addressFull].textPtr(),
		Extra: unknownFields(c.V1, a.extra),
	}
	if v[addressFull].blank() && c.required().fullAddress {
		c.full = c.fullAddress()
		c.address.FullAddress = &c.full
	}
	return &c.address
}
