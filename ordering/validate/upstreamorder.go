package validate

import (
	"time"

	"larder.local/internal/jsontext"
	"larder.local/internal/upstream"
)

// upstreamOrder converts a valid order for the ordering service: dishes and ingredients as in the catalogue (policies O2,
// P3), flat (policy M5), and everything else as the client sent it.
func (c *check) upstreamOrder(dishes []Line, expectedAt time.Time) *upstream.Order {
	o := c.order
	out := &upstream.Order{
		Comment:           o.comment.textPtr(),
		RestaurantID:      o.restaurant.textPtr(),
		RestaurantNumeric: o.restaurant.numeric,
		Persons:           o.persons.wholePtr(),
		DishList:          make([]upstream.Dish, len(dishes)),
		ExpeditionType:    o.expedition.textPtr(),
		ExpectedAt:        o.expectedAt.textPtr(),
		PaymentTypeID:     o.payment.textPtr(),
		ChangeFrom:        o.changeFrom.numberPtr(),
		Guest:             o.guest.upstream(),
		Address:           c.upstreamAddress(),
		Extra:             o.extra,
	}
	for i := range dishes {
		dish := &dishes[i]
		out.DishList[i] = upstream.Dish{
			Item:        dish.sent(),
			Quantity:    dish.quantity.number,
			Ingredients: dish.appendParts(make([]upstream.OrderIngredient, 0, len(dish.ingredients.all))), // not nil: encoded as []
			Extra:       dish.extra,
		}
	}
	if c.V1 {
		out.RestaurantID, out.RestaurantNumeric = new(string(c.Restaurant)), false
		if o.expectedAt.blank() && !expectedAt.IsZero() { // soonest (policy O4)
			out.ExpectedAt = new(expectedAt.Format(time.RFC3339))
		}
	}
	return out
}

// appendParts appends the ingredients of the line, each followed by its own, with quantities for one unit of the dish.
func (it *Line) appendParts(to []upstream.OrderIngredient) []upstream.OrderIngredient {
	for i := range it.ingredients.all {
		part := &it.ingredients.all[i]
		to = append(to, upstream.OrderIngredient{Item: part.sent(), Quantity: jsontext.Whole(part.per), Extra: part.extra})
		to = part.appendParts(to)
	}
	return to
}

func (g *guest) upstream() *upstream.Guest {
	if g.state != readable {
		return nil
	}
	return &upstream.Guest{
		Email:     g.email.textPtr(),
		Phone:     g.phone.textPtr(),
		FirstName: g.firstName.textPtr(),
		LastName:  g.lastName.textPtr(),
		Extra:     g.extra,
	}
}

func (c *check) upstreamAddress() *upstream.Address {
	a := &c.order.address
	if a.state != readable {
		return nil
	}
	out := &upstream.Address{
		Postcode:        a.postcode.textPtr(),
		Street:          a.street.textPtr(),
		Comment:         a.comment.textPtr(),
		Lat:             a.lat.numberPtr(),
		Lon:             a.lon.numberPtr(),
		CityID:          a.cityID.textPtr(),
		CityName:        a.cityName.textPtr(),
		Floor:           a.floor.wholePtr(),
		HouseNumber:     a.house.textPtr(),
		ApartmentNumber: a.apartment.textPtr(),
		Entrance:        a.entrance.textPtr(),
		Subway:          a.subway.textPtr(),
		FullAddress:     a.full.textPtr(),
		Extra:           a.extra,
	}
	if a.full.blank() && c.requires("address.fullAddress") {
		out.FullAddress = new(c.order.fullAddress())
	}
	return out
}
