package upstream

import (
	"slices"
	"strings"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// AppendJSON appends the order for the ordering service: fields in the documented order, exact
// decimals without exponents.
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
	w.Buf = appendArray(w.Buf, o.DishList, fieldCase, (*Dish).appendJSON)
	w.text("expeditionType", o.ExpeditionType)
	w.text("expectedAt", o.ExpectedAt)
	w.text("paymentTypeID", o.PaymentTypeID)
	w.number("changeFrom", o.ChangeFrom)
	if o.Guest != nil {
		w.name("guest")
		w.Buf = o.Guest.appendJSON(w.Buf, fieldCase)
	}
	if o.Address != nil {
		w.name("address")
		w.Buf = o.Address.appendJSON(w.Buf, fieldCase)
	}
	return w.end()
}

// appendJSON appends the dish.
func (d *Dish) appendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := beginItem(dst, fieldCase, d.Item, d.Quantity, d.Extra)
	if d.Ingredients != nil {
		w.name("ingredients")
		w.Buf = appendArray(w.Buf, d.Ingredients, fieldCase, (*OrderIngredient).appendJSON)
	}
	return w.end()
}

// appendJSON appends the ingredient.
func (g *OrderIngredient) appendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := beginItem(dst, fieldCase, g.Item, g.Quantity, g.Extra)
	return w.end()
}

// appendJSON appends the guest.
func (g *Guest) appendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := begin(dst, fieldCase, g.Extra)
	w.text("email", g.Email)
	w.text("phone", g.Phone)
	w.text("firstName", g.FirstName)
	w.text("lastName", g.LastName)
	return w.end()
}

// appendJSON appends the address.
func (a *Address) appendJSON(dst []byte, fieldCase FieldCase) []byte {
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

// appendJSON appends the payment.
func (p *Payment) appendJSON(dst []byte, fieldCase FieldCase) []byte {
	w := begin(dst, fieldCase, p.Extra)
	w.text("code", &p.Code)
	w.number("amount", new(jsontext.NumberOf(p.Amount)))
	w.text("paidAt", &p.PaidAt)
	w.text("name", &p.Name)
	return w.end()
}

// AppendPaymentsJSON appends the body of a pay call: an array of payments.
func AppendPaymentsJSON(dst []byte, payments []Payment, fieldCase FieldCase) []byte {
	return appendArray(dst, payments, fieldCase, (*Payment).appendJSON)
}

func appendArray[T any](dst []byte, items []T, fieldCase FieldCase, appendJSON func(*T, []byte, FieldCase) []byte) []byte {
	dst = append(dst, '[')
	for i := range items {
		dst = appendJSON(&items[i], jsontext.AppendComma(dst, i), fieldCase)
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

// object writes one JSON object field by field.
type object struct {
	jsontext.Writer

	fieldCase FieldCase
	extra     []Field
	start     int // of the object in Buf
}

// begin opens an object that ends with the extra fields.
func begin(dst []byte, fieldCase FieldCase, extra []Field) object {
	w := object{fieldCase: fieldCase, extra: extra, start: len(dst)}
	w.Buf = dst
	w.Open('{')
	return w
}

func beginItem(dst []byte, fieldCase FieldCase, item *menu.Item, quantity jsontext.Number, extra []Field) object {
	w := begin(dst, fieldCase, extra)
	w.Name(fieldCase.spell("ID"))
	w.Raw(item.JSON)
	w.Name("quantity")
	w.Number(quantity)
	return w
}

// name writes a name of the interface; these need no escapes.
func (w *object) name(name string) { w.Name(w.fieldCase.spell(name)) }

func (w *object) text(name string, value *string) {
	if value != nil {
		w.name(name)
		w.Text(*value)
	}
}

func (w *object) whole(name string, value *int) {
	if value != nil {
		w.name(name)
		w.Int(int64(*value))
	}
}

func (w *object) number(name string, value *jsontext.Number) {
	if value != nil {
		w.name(name)
		w.Number(*value)
	}
}

// end writes the extra fields, except those with the name of a field of the interface that was written, in any spelling: a
// second one could change what the service reads.
func (w *object) end() []byte {
	var known []string
	if len(w.extra) > 0 {
		written := jsontext.NewReader(string(w.Buf[w.start:])+"}", 0)
		for name := range written.Members() {
			known = append(known, jsontext.FoldName(name))
		}
	}
	for _, field := range w.extra {
		if !slices.Contains(known, jsontext.FoldName(field.Name)) {
			w.AnyName(field.Name)
			w.Buf = appendRaw(w.Buf, string(field.Value))
		}
	}
	w.Close('}')
	return w.Buf
}

// appendRaw appends a JSON value without white space and with numbers without exponents (policy
// P3). Invalid JSON becomes null.
func appendRaw(dst []byte, value string) []byte {
	text, err := jsontext.Check(value, 0)
	if err != nil {
		return append(dst, "null"...)
	}
	return jsontext.AppendCompact(dst, text, appendNumber)
}

// appendNumber appends a number with its digits and expands an exponent. A number beyond the limits
// of jsontext.ParseNumber is not changed.
func appendNumber(dst []byte, number string) []byte {
	if strings.ContainsAny(number, "eE") {
		if n, state := jsontext.ParseNumber(number); state == jsontext.NumberOK {
			return n.Append(dst)
		}
	}
	return append(dst, number...)
}
