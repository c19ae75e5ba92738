package upstream

import (
	"strconv"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
)

// AppendJSON appends the order as the service wants it: document order of
// fields, exact decimals without exponent.
func (o *Order) AppendJSON(dst []byte, wire WireCase) []byte {
	w := begin(dst, wire)
	w.text("comment", o.Comment)
	w.text("restaurantID", o.RestaurantID)
	w.whole("persons", o.Persons)
	w.name("dishList")
	w.dst = append(w.dst, '[')
	for i := range o.DishList {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = o.DishList[i].AppendJSON(w.dst, wire)
	}
	w.dst = append(w.dst, ']')
	w.text("expeditionType", o.ExpeditionType)
	w.text("expectedAt", o.ExpectedAt)
	w.text("paymentTypeID", o.PaymentTypeID)
	w.decimal("changeFrom", o.ChangeFrom)
	if o.Guest != nil {
		w.name("guest")
		w.dst = o.Guest.AppendJSON(w.dst, wire)
	}
	if o.Address != nil {
		w.name("address")
		w.dst = o.Address.AppendJSON(w.dst, wire)
	}
	return w.end(o.Extra)
}

// AppendJSON appends the dish.
func (d *Dish) AppendJSON(dst []byte, wire WireCase) []byte {
	w := begin(dst, wire)
	w.text("ID", &d.ID)
	w.text("name", d.Name)
	w.decimal("price", d.Price)
	w.measure(d.Measure)
	w.decimal("quantity", &d.Quantity)
	if d.Ingredients != nil {
		w.name("ingredients")
		w.dst = append(w.dst, '[')
		for i := range d.Ingredients {
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			w.dst = d.Ingredients[i].AppendJSON(w.dst, wire)
		}
		w.dst = append(w.dst, ']')
	}
	return w.end(d.Extra)
}

// AppendJSON appends the ingredient.
func (g *OrderIngredient) AppendJSON(dst []byte, wire WireCase) []byte {
	w := begin(dst, wire)
	w.text("ID", &g.ID)
	w.text("name", g.Name)
	w.decimal("price", g.Price)
	w.measure(g.Measure)
	w.decimal("quantity", &g.Quantity)
	return w.end(g.Extra)
}

// AppendJSON appends the guest.
func (g *Guest) AppendJSON(dst []byte, wire WireCase) []byte {
	w := begin(dst, wire)
	w.text("email", g.Email)
	w.text("phone", g.Phone)
	w.text("firstName", g.FirstName)
	w.text("lastName", g.LastName)
	return w.end(g.Extra)
}

// AppendJSON appends the address.
func (a *Address) AppendJSON(dst []byte, wire WireCase) []byte {
	w := begin(dst, wire)
	w.text("postcode", a.Postcode)
	w.text("street", a.Street)
	w.text("comment", a.Comment)
	w.decimal("lat", a.Lat)
	w.decimal("lon", a.Lon)
	w.text("cityID", a.CityID)
	w.text("cityName", a.CityName)
	w.whole("floor", a.Floor)
	w.text("houseNumber", a.HouseNumber)
	w.text("apartmentNumber", a.ApartmentNumber)
	w.text("entrance", a.Entrance)
	w.text("subway", a.Subway)
	w.text("fullAddress", a.FullAddress)
	return w.end(a.Extra)
}

// AppendJSON appends the payment.
func (p *Payment) AppendJSON(dst []byte, wire WireCase) []byte {
	w := begin(dst, wire)
	w.text("code", &p.Code)
	w.decimal("amount", &p.Amount)
	w.text("paidAt", &p.PaidAt)
	w.text("name", &p.Name)
	return w.end(p.Extra)
}

// AppendPaymentsJSON appends the body of a pay call: an array of payments.
func AppendPaymentsJSON(dst []byte, payments []Payment, wire WireCase) []byte {
	dst = append(dst, '[')
	for i := range payments {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = payments[i].AppendJSON(dst, wire)
	}
	return append(dst, ']')
}

// AppendJSON appends the body of a reject call.
func (r *Rejection) AppendJSON(dst []byte, wire WireCase) []byte {
	w := begin(dst, wire)
	w.text("rejectionReasonID", &r.ReasonID)
	w.text("rejectionReasonText", &r.ReasonText)
	return w.end(r.Extra)
}

// object writes one JSON object, field by field.
type object struct {
	dst     []byte
	wire    WireCase
	comma   bool
	count   int
	written [16]string // the document's names written so far
}

func begin(dst []byte, wire WireCase) *object {
	return &object{dst: append(dst, '{'), wire: wire}
}

func (w *object) key(name string) {
	if w.comma {
		w.dst = append(w.dst, ',')
	}
	w.comma = true
	w.dst = append(appendText(w.dst, name), ':')
}

func (w *object) name(name string) {
	w.written[w.count] = name
	w.count++
	w.key(w.wire.spell(name))
}

func (w *object) text(name string, value *string) {
	if value != nil {
		w.name(name)
		w.dst = appendText(w.dst, *value)
	}
}

func (w *object) whole(name string, value *int) {
	if value != nil {
		w.name(name)
		w.dst = strconv.AppendInt(w.dst, int64(*value), 10)
	}
}

func (w *object) decimal(name string, value *decimal.Decimal) {
	if value != nil {
		w.name(name)
		w.dst = menu.AppendDecimal(w.dst, *value)
	}
}

func (w *object) measure(m *menu.Measure) {
	if m == nil {
		return
	}
	w.name("measure")
	inner := begin(w.dst, w.wire)
	inner.decimal("value", &m.Value)
	inner.text("unit", &m.Unit)
	w.dst = inner.end(nil)
}

// end appends the fields that larder does not know and closes the object.
func (w *object) end(extra []Field) []byte {
	for _, field := range extra {
		if !w.has(field.Name) {
			w.key(field.Name)
			w.dst = appendRaw(w.dst, field.Value)
		}
	}
	return append(w.dst, '}')
}

// has tells whether a field of this name, in any spelling, is written already:
// a second one could change what the service reads.
func (w *object) has(name string) bool {
	folded := menu.FoldName(name)
	for _, known := range w.written[:w.count] {
		if menu.FoldName(known) == folded {
			return true
		}
	}
	return false
}

// appendRaw appends a JSON value without white space and with numbers written
// out, without exponent (policy P3). What is no JSON becomes null.
func appendRaw(dst, raw []byte) []byte {
	body, err := menu.Check(raw, 0)
	if err != nil {
		return append(dst, "null"...)
	}
	return appendValue(dst, menu.NewReader(body))
}

func appendValue(dst []byte, r *menu.Reader) []byte {
	switch r.Kind() {
	case menu.KindObject:
		dst = append(dst, '{')
		comma := false
		r.Object(func(name string) {
			if comma {
				dst = append(dst, ',')
			}
			comma = true
			dst = append(appendText(dst, name), ':')
			dst = appendValue(dst, r)
		})
		return append(dst, '}')
	case menu.KindArray:
		dst = append(dst, '[')
		r.Array(func(i int) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, r)
		})
		return append(dst, ']')
	case menu.KindNumber:
		return appendNumber(dst, r.Raw())
	default:
		return append(dst, r.Raw()...)
	}
}

// appendNumber keeps a number's digits as they stand and writes out an
// exponent; one beyond the bounds of menu.ParseDecimal stays as it is.
func appendNumber(dst, number []byte) []byte {
	for _, b := range number {
		if b == 'e' || b == 'E' {
			if d, state := menu.ParseDecimal(string(number)); state == menu.NumberOK {
				return menu.AppendDecimal(dst, d)
			}
			break
		}
	}
	return append(dst, number...)
}

// appendText appends a JSON string. Text stays byte for byte what it was
// (policy W11), but for quotes, backslashes, control characters and bytes that
// are no UTF-8.
func appendText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		b := s[i]
		switch {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b == '\n':
			dst = append(dst, '\\', 'n')
		case b == '\r':
			dst = append(dst, '\\', 'r')
		case b == '\t':
			dst = append(dst, '\\', 't')
		case b < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		case b >= utf8.RuneSelf:
			char, size := utf8.DecodeRuneInString(s[i:])
			if char == utf8.RuneError && size == 1 {
				dst = append(dst, "\ufffd"...)
			} else {
				dst = append(dst, s[i:i+size]...)
			}
			i += size
			continue
		default:
			dst = append(dst, b)
		}
		i++
	}
	return append(dst, '"')
}
