package upstream

import "larder/internal/jsontext"

// AppendJSON appends the order as the service wants it: document order of
// fields, exact decimals without exponent.
func (o *Order) AppendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := begin(dst, fieldCase, o.Extra)
	w.text("comment", o.Comment)
	if o.RestaurantID != nil && o.RestaurantNumeric {
		w.name("restaurantID")
		w.Buf = appendRaw(w.Buf, *o.RestaurantID)
	} else {
		w.text("restaurantID", o.RestaurantID)
	}
	w.whole("persons", o.Persons)
	w.name("dishList")
	w.Buf = appendArray(w.Buf, o.DishList, fieldCase, (*Dish).AppendJSON)
	w.text("expeditionType", o.ExpeditionType)
	w.text("expectedAt", o.ExpectedAt)
	w.text("paymentTypeID", o.PaymentTypeID)
	w.number("changeFrom", o.ChangeFrom)
	if o.Guest != nil {
		w.name("guest")
		w.Buf = o.Guest.AppendJSON(w.Buf, fieldCase)
	}
	if o.Address != nil {
		w.name("address")
		w.Buf = o.Address.AppendJSON(w.Buf, fieldCase)
	}
	return w.end()
}

// AppendJSON appends the dish.
func (d *Dish) AppendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := beginItem(dst, fieldCase, d.Item, d.Quantity, d.Extra)
	if d.Ingredients != nil {
		w.name("ingredients")
		w.Buf = appendArray(w.Buf, d.Ingredients, fieldCase, (*OrderIngredient).AppendJSON)
	}
	return w.end()
}

// AppendJSON appends the ingredient.
func (g *OrderIngredient) AppendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := beginItem(dst, fieldCase, g.Item, g.Quantity, g.Extra)
	return w.end()
}

// AppendJSON appends the guest.
func (g *Guest) AppendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := begin(dst, fieldCase, g.Extra)
	w.text("email", g.Email)
	w.text("phone", g.Phone)
	w.text("firstName", g.FirstName)
	w.text("lastName", g.LastName)
	return w.end()
}

// AppendJSON appends the address.
func (a *Address) AppendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := begin(dst, fieldCase, a.Extra)
	w.text("postcode", a.Postcode)
	w.text("street", a.Street)
	w.text("comment", a.Comment)
	w.number("lat", a.Lat)
	w.number("lon", a.Lon)
	w.text("cityID", a.CityID)
	w.text("cityName", a.CityName)
	w.whole("floor", a.Floor)
	w.text("houseNumber", a.HouseNumber)
	w.text("apartmentNumber", a.ApartmentNumber)
	w.text("entrance", a.Entrance)
	w.text("subway", a.Subway)
	w.text("fullAddress", a.FullAddress)
	return w.end()
}

// AppendJSON appends the payment.
func (p *Payment) AppendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := begin(dst, fieldCase, p.Extra)
	w.text("code", &p.Code)
	w.number("amount", new(jsontext.NumberOf(p.Amount)))
	w.text("paidAt", &p.PaidAt)
	w.text("name", &p.Name)
	return w.end()
}

// AppendPaymentsJSON appends the body of a pay call: an array of payments.
func AppendPaymentsJSON(dst []byte, payments []Payment, fieldCase FieldCase) []byte {
	return appendArray(dst, payments, fieldCase, (*Payment).AppendJSON)
}

func appendArray[T any](dst []byte, items []T, fieldCase FieldCase, appendJSON func(*T, []byte, FieldCase) []byte) []byte {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(&items[i], dst, fieldCase)
	}
	return append(dst, ']')
}

// AppendJSON appends the body of a reject call.
func (r *Rejection) AppendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := begin(dst, fieldCase, r.Extra)
	w.text("rejectionReasonID", &r.ReasonID)
	w.text("rejectionReasonText", &r.ReasonText)
	return w.end()
}
