package validate

import (
	"encoding/json"
	"math"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
)

// MaxBodyDepth is how many levels of brackets a body may have (policies W15 and H1).
const MaxBodyDepth = 32

// The limits of policy W15.
const (
	maxDishes      = 200
	maxIngredients = 100 // a dish, nested ones included
	maxDigits      = 40  // characters of a number
)

// decoder reads an order's body and notes what is not as it should be.
type decoder struct {
	jsontext.Reader

	violations      *violation.List
	order           *order
	v1              bool
	maxDepth        int   // levels of ingredients
	lastPos         int32 // the place of the value read last
	ingredientCount int   // ingredients of the current dish
}

// decode reads a body into o, in one pass that also finds what is no JSON: the
// error is a *jsontext.SyntaxError. The texts of the order are parts of the
// body itself: what outlives the checking of the order clones them.
func decode(body []byte, o *order, v1 bool, maxDepth int, notes *violation.List) error {
	d := decoder{
		Reader: jsontext.NewReader(jsontext.String(body), MaxBodyDepth), violations: notes, order: o, v1: v1, maxDepth: maxDepth,
	}
	d.readOrder()
	return d.Err()
}

func (d *decoder) nextPos() int32 {
	d.lastPos++
	return d.lastPos
}

func (d *decoder) readOrder() {
	o := d.order
	if kind := d.Kind(); kind != jsontext.KindObject {
		d.mismatch(0, "", wantObject, kind)
		d.Skip()
		o.state = refused
		return
	}
	o.state = readable
	for name := range d.Members() {
		s := position{name: name, pos: d.nextPos()}
		switch field := o.fields.find(name); field {
		case orderDishes:
			d.readDishes(s)
		case orderGuest:
			d.readObject(&o.guest, s)
		case orderAddress:
			d.readObject(&o.address, s)
		case orderSoonest:
			d.readSoonest(s)
		case unknownField:
			o.extra = append(o.extra, extraField(name, d.Raw()))
		default:
			d.readValue(&o.values[field], "", s, o.fields.known[field].kind)
		}
	}
	o.end = d.nextPos()
}

func (d *decoder) readObject(o *object, s position) {
	kind := d.Kind()
	if kind == jsontext.KindNull {
		if o.name == "" {
			o.position = s
		}
		d.Skip()
		return
	}
	clear(o.values)
	o.position, o.state, o.extra = s, refused, o.extra[:0]
	if kind != jsontext.KindObject {
		d.mismatch(s.pos, member("", s.name), wantObject, kind)
		d.Skip()
		o.end = d.nextPos()
		return
	}
	o.state = readable
	before := d.violations.Len()
	d.readMembers(o, "")
	if d.violations.Len() > before {
		d.violations.Nest(before, member("", s.name))
	}
}

// readMembers reads the members of an object of plain fields. base is its JSON
// Pointer.
func (d *decoder) readMembers(o *object, base string) {
	for name := range d.Members() {
		at := d.nextPos()
		field := o.fields.find(name)
		if field == unknownField {
			o.extra = append(o.extra, extraField(name, d.Raw()))
			continue
		}
		d.readValue(&o.values[field], base, position{name: name, pos: at}, o.fields.known[field].kind)
	}
	o.end = d.nextPos()
}

// readSoonest reads larder's own field; the compatible API passes it on as it
// stands (policy O4).
func (d *decoder) readSoonest(s position) {
	o := d.order
	if !d.v1 {
		raw := d.Raw()
		o.soonest = raw == "true"
		o.extra = append(o.extra, extraField(s.name, raw))
		return
	}
	switch kind := d.Kind(); kind {
	case jsontext.KindBool:
		o.soonest, _ = d.Bool()
		return
	case jsontext.KindNull:
	default:
		d.mismatch(s.pos, member("", s.name), wantBoolean, kind)
	}
	d.Skip()
}

// readValue reads a plain value. A null, and what is read past, leaves what an
// earlier spelling of the same field said.
func (d *decoder) readValue(v *value, path string, s position, w fieldKind) {
	kind := d.Kind()
	if kind == jsontext.KindNull || w == wantNothing {
		if v.name == "" {
			v.position = s
		}
		d.Skip()
		return
	}
	if v.state != absent { // an earlier spelling of the same field
		*v = value{}
	}
	v.position, v.state = s, readable
	var ok bool
	switch {
	case w == wantNumber || w == wantWhole:
		d.readNumber(v, path, w, kind)
		return
	case w == wantID && kind != jsontext.KindString:
		v.text, ok = d.ID()
		v.numeric = kind == jsontext.KindNumber
	default:
		v.text, ok = d.Text()
	}
	if !ok {
		v.state = refused
		d.mismatch(s.pos, member(path, s.name), w, kind)
	}
}

func (d *decoder) readNumber(v *value, path string, w fieldKind, kind jsontext.Kind) {
	number, state := d.Number()
	v.number, v.isNumber = number, true
	switch {
	case state == jsontext.NumberOK && (w == wantNumber || number.IsWhole() && !exceeds(number, math.MaxInt32)):
		return
	case state == jsontext.NumberNull:
		v.state = absent
		return
	}
	v.state = refused
	switch at := member(path, v.name); {
	case state == jsontext.NumberComma:
		d.violations.Add(v.pos, at, violation.DecimalComma, nil, "")
	case state == jsontext.NumberOK && number.IsWhole():
		d.violations.Add(v.pos, at, violation.LimitExceeded, violation.Params{"limit": math.MaxInt32}, violation.LimitOfNumber)
	case state != jsontext.NumberOK && kind == jsontext.KindNumber:
		d.violations.Add(v.pos, at, violation.LimitExceeded, violation.Params{"limit": maxDigits}, violation.LimitOfDigits)
	default:
		d.mismatch(v.pos, at, w, kind)
	}
}

func (d *decoder) mismatch(at int32, path string, w fieldKind, got jsontext.Kind) {
	d.violations.Add(at, path, violation.TypeMismatch, violation.Params{"want": string(w), "got": got.String()}, "")
}

// unknownFields returns those of the unknown fields that are sent: all on the
// compatible API, none on the v1 API (policy W8).
func unknownFields(v1 bool, extra []upstream.Field) []upstream.Field {
	if v1 {
		return nil
	}
	return extra
}

// extraField returns a field that larder does not know (policy W8).
func extraField(name, raw string) upstream.Field {
	return upstream.Field{Name: name, Value: json.RawMessage(raw)}
}
