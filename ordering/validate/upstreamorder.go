package validate

import (
	"slices"
	"time"

	"larder/internal/jsontext"
	"larder/internal/upstream"
)

// mapping converts an order for the ordering service. Its buffers are reused for the next order.
type mapping struct {
	order          upstream.Order
	guest          upstream.Guest
	address        upstream.Address
	restaurant     string
	persons, floor int
	dishes         []upstream.Dish
	ingredients    []upstream.OrderIngredient
}

func (m *mapping) clear() {
	clear(m.dishes)
	clear(m.ingredients)
	m.order, m.guest, m.address = upstream.Order{}, upstream.Guest{}, upstream.Address{}
}

// mapOrder converts a valid order for the ordering service: dishes and ingredients as in the catalogue (policies O2,
// P3), flat (policy M5), and everything else as the client sent it. The result is valid until the next order.
func (m *mapping) mapOrder(c *validation) *upstream.Order {
	o, out := c.order, &m.order
	*out = upstream.Order{
		Comment:           o.values[orderComment].textPtr(),
		RestaurantID:      o.values[orderRestaurant].textPtr(),
		RestaurantNumeric: o.values[orderRestaurant].numeric,
		Persons:           o.values[orderPersons].wholePtr(&m.persons),
		DishList:          m.mapDishes(c),
		ExpeditionType:    o.values[orderExpedition].textPtr(),
		ExpectedAt:        o.values[orderExpectedAt].textPtr(),
		PaymentTypeID:     o.values[orderPayment].textPtr(),
		ChangeFrom:        o.values[orderChangeFrom].numberPtr(),
		Guest:             m.mapGuest(c),
		Address:           m.mapAddress(c),
		Extra:             unknownFields(c.V1, o.extra),
	}
	if c.V1 {
		m.restaurant = string(c.Restaurant)
		out.RestaurantID, out.RestaurantNumeric = &m.restaurant, false
		if o.values[orderExpectedAt].blank() && !c.expectedAt.IsZero() { // soonest (policy O4)
			out.ExpectedAt = new(c.expectedAt.Format(time.RFC3339))
		}
	}
	return out
}

func (m *mapping) mapDishes(c *validation) []upstream.Dish {
	lines := c.order.lines
	m.dishes = slices.Grow(m.dishes[:0], c.order.dishCount)
	m.ingredients = slices.Grow(m.ingredients[:0], len(lines)) // never reallocated: dishes have slices of it
	for n := c.order.first; n != none; n = lines[n].next {
		start := len(m.ingredients)
		m.mapIngredients(c, n)
		m.dishes = append(m.dishes, upstream.Dish{
			Item:        c.Catalogue.Products().Item(c.items[n].index),
			Quantity:    lines[n].quantity.number,
			Ingredients: m.ingredients[start:len(m.ingredients):len(m.ingredients)], // empty, not nil: encoded as []
			Extra:       lines[n].extra,
		})
	}
	return m.dishes
}

// mapIngredients appends the ingredients of line n, each followed by its own, with quantities for one unit of the dish.
func (m *mapping) mapIngredients(c *validation, n int32) {
	lines := c.order.lines
	for child := lines[n].first; child != none; child = lines[child].next {
		m.ingredients = append(m.ingredients, upstream.OrderIngredient{
			Item:     c.Catalogue.Ingredients().Item(c.items[child].index),
			Quantity: c.quantityPerDish(child),
			Extra:    lines[child].extra,
		})
		m.mapIngredients(c, child)
	}
}

// quantityPerDish returns an ingredient's quantity for one unit of the dish.
func (c *validation) quantityPerDish(n int32) jsontext.Number {
	if it, sent := &c.items[n], &c.order.lines[n].quantity; it.per != it.units || sent.state != readable {
		return jsontext.Whole(it.per)
	}
	return c.order.lines[n].quantity.number
}

func (m *mapping) mapGuest(c *validation) *upstream.Guest {
	g := &c.order.guest
	if g.state != readable {
		return nil
	}
	v := g.values
	m.guest = upstream.Guest{
		Email:     v[guestEmail].textPtr(),
		Phone:     v[guestPhone].textPtr(),
		FirstName: v[guestFirstName].textPtr(),
		LastName:  v[guestLastName].textPtr(),
		Extra:     unknownFields(c.V1, g.extra),
	}
	return &m.guest
}

func (m *mapping) mapAddress(c *validation) *upstream.Address {
	a := &c.order.address
	if a.state != readable {
		return nil
	}
	v := a.values
	m.address = upstream.Address{
		Postcode:        v[addressPostcode].textPtr(),
		Street:          v[addressStreet].textPtr(),
		Comment:         v[addressComment].textPtr(),
		Lat:             v[addressLat].numberPtr(),
		Lon:             v[addressLon].numberPtr(),
		CityID:          v[addressCityID].textPtr(),
		CityName:        v[addressCityName].textPtr(),
		Floor:           v[addressFloor].wholePtr(&m.floor),
		HouseNumber:     v[addressHouse].textPtr(),
		ApartmentNumber: v[addressApartment].textPtr(),
		Entrance:        v[addressEntrance].textPtr(),
		Subway:          v[addressSubway].textPtr(),
		FullAddress:     v[addressFull].textPtr(),
		Extra:           unknownFields(c.V1, a.extra),
	}
	if v[addressFull].blank() && c.required().fullAddress {
		c.full = c.fullAddress()
		m.address.FullAddress = &c.full
	}
	return &m.address
}
