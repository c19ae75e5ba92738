package validate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering/violation"
)

// maxBodyDepth is the maximum nesting depth of a body (policies W15 and H1).
const maxBodyDepth = 32

// The limits of policy W15.
const (
	maxDishes      = 200
	maxIngredients = 100 // of a dish, including nested ones
	maxDigits      = 40  // of a number, in characters
)

// usualLines limits the lines that are allocated before an order is read.
const usualLines = 64

// Input is a body as a client sent it.
type Input struct {
	// Body must not be modified while it is in use.
	Body []byte
	// V1 is true on the v1 API. It sets restaurantID and expectedAt of an order, and forwards only fields of
	// the interface; the compatible API also forwards unknown fields (policies W8, O1, O4).
	V1        bool
	Guest     bool               // an order without a token, which needs a phone number (policy O19)
	Language  string             // language of messages, for example "en"
	FieldCase upstream.FieldCase // spelling of field names in the body for the service
}

// Order is a decoded order body. Its strings are parts of it. It is not safe for concurrent use.
type Order struct {
	Input

	fields     decodedOrder
	violations violation.List // found while decoding
	canonical  []byte
	decoder    decoder
}

// DecodeOrder is Decode into a new order.
func DecodeOrder(in Input, payments []string) (*Order, error) {
	o := &Order{}
	return o, o.Decode(in, payments)
}

// Decode decodes the body of an order, and reuses the memory of the order before it. payments are the payment types that
// a guest may use; nil allows all. It returns a *jsontext.SyntaxError if the body is not JSON or is nested deeper than
// maxBodyDepth.
func (o *Order) Decode(in Input, payments []string) error {
	o.Input, o.violations = in, violation.List{Language: in.Language}
	o.fields.clear()
	o.fields.reset()
	d := o.decoder.start(in, &o.violations)
	d.order, d.maxDepth, d.payments = &o.fields, menu.DefaultMaxDepth, payments
	o.fields.lines = slices.Grow(o.fields.lines, min(bytes.Count(in.Body, []byte("{")), usualLines))
	d.record(o.canonical[:0], len(in.Body))
	d.readOrder()
	o.canonical = d.Recorded()
	return d.Err()
}

// Canonical returns the canonical form of the body (policy O7).
func (o *Order) Canonical() []byte { return o.canonical }

// Restaurant returns the restaurantID of the body, or an empty string if it is not an identifier.
func (o *Order) Restaurant() string {
	if named := &o.fields.values[orderRestaurant]; !named.blank() {
		return named.text
	}
	return ""
}

// Violations returns the violations that were found while decoding.
func (o *Order) Violations() (list []violation.Violation, more bool) { return o.violations.Sorted() }

// RefusedPayment returns the name, as spelled in the body, of the first member with a payment type
// that a guest may not use. It may be empty.
func (o *Order) RefusedPayment() string { return o.fields.refusedPayment }

// decoder decodes a body and collects violations.
type decoder struct {
	jsontext.Canonical

	violations      *violation.List
	order           *decodedOrder
	v1              bool
	payments        []string // allowed for a guest; nil allows all
	maxDepth        int      // levels of ingredients
	lastPos         int32    // position of the last value
	ingredientCount int      // number in the current dish
}

// start makes d decode another body, and collect one violation more than a response lists. It returns d.
func (d *decoder) start(in Input, notes *violation.List) *decoder {
	notes.Limit = violation.Max + 1
	*d = decoder{Canonical: d.Canonical, violations: notes, v1: in.V1}
	d.Reset(jsontext.String(in.Body), maxBodyDepth)
	return d
}

// record makes the reader append the canonical form of the body, which is equal for all bodies with equal meaning
// (policy O7). Members are sorted, there is no white space, strings have the same escapes, and numbers are written by
// value. Two spellings of one field in an object keep their order.
func (d *decoder) record(dst []byte, size int) {
	d.AppendNumber, d.KnownNames = appendCanonicalNumber, canonicalNames
	d.Record(slices.Grow(dst, size+size/8)) // with room for a comma after each value
}

// maxExponentDigits limits the exponents that are computed. Longer ones are not changed.
const maxExponentDigits = 9

// appendCanonicalNumber appends a JSON number by its value: digits without zeros at either end, and
// the exponent if it is not 0. It is O(len) for any exponent.
func appendCanonicalNumber(dst []byte, number string) []byte {
	mantissa, power := number, ""
	if e := strings.IndexAny(number, "eE"); e >= 0 {
		mantissa, power = number[:e], number[e+1:]
	}
	unsigned := strings.TrimPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := whole + fraction
	significant := strings.TrimRight(digits, "0")
	exponent := len(digits) - len(significant) - len(fraction)
	significant = strings.TrimLeft(significant, "0")
	if significant == "" {
		return append(dst, '0')
	}
	if len(strings.TrimLeft(power, "+-0")) > maxExponentDigits {
		return append(dst, number...)
	}
	if power != "" {
		n, _ := strconv.Atoi(power) // it is well-formed
		exponent += n
	}
	if len(unsigned) < len(mantissa) {
		dst = append(dst, '-')
	}
	dst = append(dst, significant...)
	if exponent != 0 {
		dst = strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	}
	return dst
}

func (o *decodedOrder) decode(in Input, maxDepth int, notes *violation.List) error {
	o.reset()
	d := new(decoder).start(in, notes)
	d.order, d.maxDepth = o, maxDepth
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
	seen := d.spellingsOf(o.fields)
	for name := range d.Members() {
		s := position{name: name, pos: d.nextPos()}
		switch field := seen.find(name, s.pos); field {
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
			v := &o.values[field]
			d.readValue(v, "", s, o.fields.known[field].kind)
			if (field == orderPersons || field == orderChangeFrom) && v.state == readable && v.number.Sign() == 0 {
				v.state = absent // 0 means not given (policies O5, O19)
			}
			if field == orderPayment && d.payments != nil && v.state == readable && !slices.Contains(d.payments, v.text) {
				o.refusedPayment = cmp.Or(o.refusedPayment, v.name)
			}
		}
	}
	o.end = d.nextPos()
	d.checkSpellings(&seen, "")
}

func (d *decoder) readObject(o *object, s position) {
	kind := d.Kind()
	if kind == jsontext.KindNull {
		d.skipNull(&o.position, s)
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

// readMembers decodes an object of plain fields. base is its JSON Pointer.
func (d *decoder) readMembers(o *object, base string) {
	seen := d.spellingsOf(o.fields)
	for name := range d.Members() {
		at := d.nextPos()
		field := seen.find(name, at)
		if field == unknownField {
			o.extra = append(o.extra, extraField(name, d.Raw()))
			continue
		}
		d.readValue(&o.values[field], base, position{name: name, pos: at}, o.fields.known[field].kind)
	}
	o.end = d.nextPos()
	d.checkSpellings(&seen, base)
}

// readSoonest decodes larder's field soonest; the compatible API forwards it unchanged (policy O4).
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

// readValue decodes a plain value. A null or skipped value does not replace an earlier spelling.
func (d *decoder) readValue(v *value, path string, s position, w fieldKind) {
	kind := d.Kind()
	if kind == jsontext.KindNull || w == wantNothing {
		d.skipNull(&v.position, s)
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

// skipNull skips a null. It does not replace the position of an earlier spelling.
func (d *decoder) skipNull(at *position, s position) {
	if at.name == "" {
		*at = s
	}
	d.Skip()
}

func (d *decoder) readNumber(v *value, path string, w fieldKind, kind jsontext.Kind) {
	number, state := d.Number()
	v.number, v.isNumber = number, true
	switch {
	case state == jsontext.NumberOK && (w == wantNumber || number.IsWhole()):
		return
	case state == jsontext.NumberNull:
		v.state = absent
		return
	}
	v.state = refused
	switch at := member(path, v.name); {
	case state == jsontext.NumberComma:
		d.violations.Add(v.pos, at, violation.DecimalComma, nil, "")
	case state != jsontext.NumberOK && kind == jsontext.KindNumber:
		d.violations.Add(v.pos, at, violation.LimitExceeded, violation.Params{"limit": maxDigits}, violation.LimitOfDigits)
	default:
		d.mismatch(v.pos, at, w, kind)
	}
}

func (d *decoder) mismatch(at int32, path string, w fieldKind, got jsontext.Kind) {
	d.violations.Add(at, path, violation.TypeMismatch, violation.Params{"want": string(w), "got": got.String()}, "")
}

// unknownFields returns the unknown fields to send: all on the compatible API, otherwise none (policy W8).
func unknownFields(v1 bool, extra []upstream.Field) []upstream.Field {
	if v1 {
		return nil
	}
	return extra
}

func extraField(name, raw string) upstream.Field {
	return upstream.Field{Name: name, Value: json.RawMessage(raw)}
}
