package validate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	"larder.local/ordering/violation"
)

// maxBodyDepth is the maximum nesting depth of a body (policies W15 and H1).
const maxBodyDepth = 32

// The limits of policy W15.
const (
	maxDishes      = 200
	maxIngredients = 100 // of a dish, including nested ones
	maxDigits      = 40  // of a number, in characters
)

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

// body is what all decoded bodies have in common.
type body struct {
	Input
	notes
}

// Canonical returns the canonical form of a valid body, which is equal for all bodies with equal meaning (policy O7).
// Members are sorted, there is no white space, strings have the same escapes, and numbers are written by value. Two
// spellings of one field in an object keep their order.
func (b *body) Canonical() []byte {
	form := canonicalOf(b.text)
	return form.AppendNext(make([]byte, 0, len(b.text)+len(b.text)/8)) // with room for a comma after each value
}

func canonicalOf(text string) jsontext.Canonical {
	return jsontext.Canonical{
		Reader: jsontext.NewReader(text, maxBodyDepth), AppendNumber: appendCanonicalNumber, KnownNames: canonicalNames,
	}
}

// Order is a decoded order body. It is not safe for concurrent use.
type Order struct {
	body
	object

	comment, restaurant, persons, expedition, expectedAt, payment, changeFrom value

	guest   guest
	address address
	soonest bool // larder's own field: as soon as possible (policy O4)
	dishes  lines
	deepest int // levels of ingredients, including skipped ones

	dishList string // the name of the member, as spelled in the body

	refusedPayment string // see RefusedPayment
}

// DecodeOrder is Decode into a new order.
func DecodeOrder(in Input, payments []string) (*Order, error) {
	o := &Order{}
	return o, o.Decode(in, payments)
}

// Decode decodes the body of an order. payments are the payment types that a guest may use; nil allows all. It returns a
// *jsontext.SyntaxError if the body is not JSON or is nested deeper than maxBodyDepth.
func (o *Order) Decode(in Input, payments []string) error {
	return o.decode(newDecoder(in), menu.DefaultMaxDepth, payments)
}

func (o *Order) decode(d *decoder, maxDepth int, payments []string) error {
	*o = Order{}
	d.maxDepth = maxDepth
	d.readOrder(o, payments)
	o.deepest, o.body = d.deepest, d.body
	return d.Err()
}

// Restaurant returns the restaurantID of the body, or an empty string if it is not an identifier.
func (o *Order) Restaurant() string {
	if o.restaurant.blank() {
		return ""
	}
	return o.restaurant.text
}

// RefusedPayment returns the name, as spelled in the body, of the first member with a payment type
// that a guest may not use. It may be empty.
func (o *Order) RefusedPayment() string { return o.refusedPayment }

// decoder decodes a body and collects violations.
type decoder struct {
	jsontext.Reader
	body

	maxDepth        int   // levels of ingredients
	deepest         int   // level of ingredients that was found, also if it was skipped
	ingredientCount int   // number in the current dish
	ingredients     int32 // offset of the list of the current dish
}

// newDecoder returns a decoder of a copy of the body. It collects one violation more than a response lists.
func newDecoder(in Input) *decoder {
	d := &decoder{Reader: jsontext.NewReader(string(in.Body), maxBodyDepth)}
	d.body = body{in, notes{text: d.Source(), language: in.Language, limit: violation.Max + 1}}
	return d
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

// offset returns the position of the next value.
func (d *decoder) offset() int32 { return int32(d.Offset()) }

func (d *decoder) mismatch(pos int32, want fieldKind, got jsontext.Kind) {
	d.add(at(pos), violation.TypeMismatch, violation.Params{"want": string(want), "got": got.String()}, "")
}

// is reports whether the next value has the wanted kind. It skips another one and adds a violation.
func (d *decoder) is(kind jsontext.Kind, want fieldKind) bool {
	got := d.Kind()
	if got != kind {
		d.mismatch(d.offset(), want, got)
		d.Skip()
	}
	return got == kind
}

// skipNull skips a null and reports whether there was one. It does not replace the position of an earlier spelling.
func (d *decoder) skipNull(pos *int32) bool {
	if d.Kind() != jsontext.KindNull {
		return false
	}
	*pos = cmp.Or(*pos, d.offset())
	d.Skip()
	return true
}

func (d *decoder) readOrder(o *Order, payments []string) {
	if o.state = refused; !d.is(jsontext.KindObject, wantObject) {
		return
	}
	readMembers(d, orderFields, o, &o.object, func(field, name string) bool {
		switch field {
		case "dishList":
			if d.Kind() != jsontext.KindNull {
				o.dishList = name
			}
			d.readLines(&o.dishes, 0)
		case "guest":
			readObject(d, guestFields, &o.guest, &o.guest.object)
		case "address":
			readObject(d, addressFields, &o.address, &o.address.object)
		case "soonest":
			d.readSoonest(o, name)
		case "paymentTypeID":
			d.readValue(&o.payment, wantText)
			if v := &o.payment; payments != nil && v.state == readable && !slices.Contains(payments, v.text) {
				o.refusedPayment = cmp.Or(o.refusedPayment, name)
			}
		default:
			return false
		}
		return true
	})
	for _, v := range []*value{&o.persons, &o.changeFrom} {
		if v.state == readable && v.number.Sign() == 0 {
			v.state = absent // 0 means not given (policies O5, O19)
		}
	}
}

// readObject decodes an object of plain fields.
func readObject[T any](d *decoder, fields *fieldTable[T], into *T, o *object) {
	if d.skipNull(&o.pos) {
		o.end = cmp.Or(o.end, o.pos)
		return
	}
	*into = *new(T)
	o.pos, o.state = d.offset(), refused
	if d.is(jsontext.KindObject, wantObject) {
		readMembers(d, fields, into, o, nil)
	}
}

// readMembers decodes the members of an object. special may decode a field, with its name as spelled in the body, in
// another way; it reports whether it did.
func readMembers[T any](d *decoder, fields *fieldTable[T], into *T, o *object, special func(field, name string) bool) {
	o.state = readable
	start, seen, repeated := d.Offset(), uint32(0), false
	for name := range d.Members() {
		i := fields.find(name)
		if i == unknownField {
			d.readUnknown(&o.extra, name)
			continue
		}
		repeated = repeated || seen&(1<<i) != 0 && !fields.mayRepeat(i)
		seen |= 1 << i
		switch {
		case special != nil && special(fields.fields[i].name, name):
		case fields.fields[i].of != nil:
			d.readValue(fields.fields[i].of(into), fields.fields[i].kind)
		}
	}
	o.end = d.offset()
	if repeated {
		checkSpellings(d, fields, start)
	}
}

// readUnknown reads a member that is forwarded on the compatible API only (policy W8).
func (d *decoder) readUnknown(extra *[]member, name string) {
	if raw := d.Raw(); !d.V1 {
		*extra = append(*extra, member{name, raw})
	}
}

// readSoonest decodes larder's field soonest; the compatible API forwards it unchanged (policy O4).
func (d *decoder) readSoonest(o *Order, name string) {
	switch kind := d.Kind(); {
	case !d.V1:
		d.readUnknown(&o.extra, name)
		o.soonest = o.extra[len(o.extra)-1].value == "true"
	case kind == jsontext.KindNull:
	case d.is(jsontext.KindBool, wantBoolean):
		o.soonest, _ = d.Bool()
	}
}

// readValue decodes a plain value. A null does not replace an earlier spelling.
func (d *decoder) readValue(v *value, want fieldKind) {
	if d.skipNull(&v.pos) {
		return
	}
	kind, ok := d.Kind(), true
	*v = value{pos: d.offset(), state: readable}
	switch {
	case want == wantNumber || want == wantWhole:
		d.readNumber(v, want)
	case want == wantID && kind != jsontext.KindString:
		v.text, ok = d.ID()
		v.numeric = kind == jsontext.KindNumber
	default:
		v.text, ok = d.Text()
	}
	if !ok {
		v.state = refused
		d.mismatch(v.pos, want, kind)
	}
}

func (d *decoder) readNumber(v *value, want fieldKind) {
	kind := d.Kind()
	number, state := d.Number()
	v.number, v.isNumber = number, true
	switch {
	case state == jsontext.NumberOK && (want == wantNumber || number.IsWhole()):
		return
	case state == jsontext.NumberNull:
		v.state = absent
		return
	case state == jsontext.NumberComma:
		d.add(at(v.pos), violation.DecimalComma, nil, "")
	case state != jsontext.NumberOK && kind == jsontext.KindNumber:
		d.add(at(v.pos), violation.LimitExceeded, violation.Params{"limit": maxDigits}, violation.LimitOfDigits)
	default:
		d.mismatch(v.pos, want, kind)
	}
	v.state = refused
}
