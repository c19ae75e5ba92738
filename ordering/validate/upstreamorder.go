package validate

import (
	"strings"
	"time"

	"larder.local/internal/jsontext"
	"larder.local/internal/upstream"
)

// member is an unknown field, forwarded as the client sent it (policy W8). The value is well-formed JSON.
type member struct{ name, value string }

// bodyWriter writes a body for the ordering service: known fields in the documented order, and exact decimals without
// exponents.
type bodyWriter struct {
	jsontext.Writer

	fieldCase upstream.FieldCase
}

// name starts a member. Names of the interface need no escapes.
func (w *bodyWriter) name(name string) { w.Name(w.fieldCase.Spell(name)) }

func (w *bodyWriter) text(name, text string) {
	w.name(name)
	w.Text(text)
}

func (w *bodyWriter) number(name string, n jsontext.Number) {
	w.name(name)
	w.Number(n)
}

// field writes a plain field if the client sent it.
func (w *bodyWriter) field(name string, v *value) {
	switch {
	case v.state != readable:
	case v.isNumber:
		w.number(name, v.number)
	case v.numeric && name == "restaurantID": // other identifiers are texts
		w.name(name)
		w.Buf = appendNumber(w.Buf, v.text)
	default:
		w.text(name, v.text)
	}
}

// writeFields writes the plain fields of an object that the client sent.
func writeFields[T any](w *bodyWriter, fields []field[T], of *T) {
	for i := range fields {
		w.field(fields[i].name, fields[i].of(of))
	}
}

// line starts the object of a dish or an ingredient as it is in the catalogue (policies O2, P3).
func (w *bodyWriter) line(it *Line, quantity jsontext.Number) {
	w.Next()
	w.Open('{')
	w.name("ID")
	w.Raw(it.sent().JSON)
	w.number("quantity", quantity)
}

// parts writes the ingredients of a line, each followed by its own, with quantities for one unit of the dish (policy M5).
func (w *bodyWriter) parts(it *Line) {
	for i := range it.ingredients.all {
		part := &it.ingredients.all[i]
		w.line(part, jsontext.Whole(part.per))
		w.end(part.extra)
		w.parts(part)
	}
}

// end writes the unknown fields of an object, without white space and exponents (policy P3), and closes it. A known
// field is not among them, in any spelling.
func (w *bodyWriter) end(extra []member) {
	for _, field := range extra {
		w.AnyName(field.name)
		w.Buf = jsontext.AppendCompact(w.Buf, field.value, appendNumber)
	}
	w.Close('}')
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

// appendOrder appends the body of a create call for a valid order (docs/ordering-service.md, section 2.1). Other fields
// than those of the dishes are as the client sent them.
func (r *checked) appendOrder(dst []byte) []byte {
	o, w := r.order, bodyWriter{fieldCase: r.FieldCase}
	w.Buf = dst
	w.Open('{')
	w.field("comment", &o.comment)
	if r.V1 {
		w.text("restaurantID", string(r.Restaurant))
	} else {
		w.field("restaurantID", &o.restaurant)
	}
	w.field("persons", &o.persons)
	w.name("dishList")
	w.Open('[')
	for i := range r.dishes {
		dish := &r.dishes[i]
		w.line(dish, dish.quantity.number)
		w.name("ingredients")
		w.Open('[')
		w.parts(dish)
		w.Close(']')
		w.end(dish.extra)
	}
	w.Close(']')
	w.field("expeditionType", &o.expedition)
	if r.V1 && o.expectedAt.blank() && !r.expectedAt.IsZero() { // soonest (policy O4)
		w.text("expectedAt", r.expectedAt.Format(time.RFC3339))
	} else {
		w.field("expectedAt", &o.expectedAt)
	}
	w.field("paymentTypeID", &o.payment)
	w.field("changeFrom", &o.changeFrom)
	if g := &o.guest; g.state == readable {
		w.name("guest")
		w.Open('{')
		writeFields(&w, guestFields.fields, g)
		w.end(g.extra)
	}
	if a := &o.address; a.state == readable {
		w.name("address")
		w.Open('{')
		last := len(addressFields.fields) - 1 // fullAddress
		writeFields(&w, addressFields.fields[:last], a)
		if a.full.blank() && r.requires("address.fullAddress") {
			w.text("fullAddress", o.fullAddress())
		} else {
			w.field("fullAddress", &a.full)
		}
		w.end(a.extra)
	}
	w.end(o.extra)
	return w.Buf
}
