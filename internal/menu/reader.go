package menu

import (
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values. KindNone is the end of the input.
const (
	KindNone Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// String gives the kind as JSON names it: "object", "string", ….
func (k Kind) String() string {
	switch k {
	case KindNull:
		return "null"
	case KindBool:
		return "boolean"
	case KindNumber:
		return "number"
	case KindString:
		return "string"
	case KindArray:
		return "array"
	case KindObject:
		return "object"
	default:
		return "nothing"
	}
}

// Reader walks over a JSON text that Check has accepted, value by value and
// once only, reading what is there instead of what was promised. It never
// fails: a value of another kind is consumed and reported as such.
type Reader struct {
	body   []byte
	at     int
	common Names
	names  map[string]fieldName
}

// Names are spellings of field names that are made once for many Readers. They
// never change.
type Names map[string]fieldName

// NewNames makes the given spellings.
func NewNames(spellings ...string) Names {
	names := make(Names, len(spellings))
	for _, name := range spellings {
		names[string(AppendString(nil, name))] = fieldName{name: name, folded: FoldName(name)}
	}
	return names
}

// fieldName is a member's name as sent and as folded, made once per spelling.
type fieldName struct {
	name, folded string

	// Only fieldNames sets these.
	canonical string // as the interface has it
	head      string // as it stands in the text, with the quotes and a colon
	literal   string // as it is stored, with the quotes and a colon
	tidy      bool   // the two are one
	stops     bool   // the field stops a dish or ingredient
}

// NewReader reads body, which must come from Check.
func NewReader(body []byte) *Reader { return &Reader{body: body} }

// NewReaderOf is NewReader for a body whose field names are mostly among names.
func NewReaderOf(body []byte, names Names) *Reader { return &Reader{body: body, common: names} }

// FoldName makes the spellings of a field name alike: orderID, orderId and
// order_id all become orderid (policy W3). By way of upper case, so that ſ
// (U+017F) is an s and ı (U+0131) an i, as for readers that ignore case.
func FoldName(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			name = strings.ToUpper(name)
			break
		}
	}
	return strings.ReplaceAll(strings.ToLower(name), "_", "")
}

func (r *Reader) space() {
	for r.at < len(r.body) {
		switch r.body[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// Kind tells the next value's kind and consumes nothing.
func (r *Reader) Kind() Kind {
	r.space()
	if r.at >= len(r.body) {
		return KindNone
	}
	switch r.body[r.at] {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	default:
		return KindNumber
	}
}

// Object consumes an object and calls member for each of its members with the
// name as sent. member consumes the value by one call of the Reader, or leaves
// it to be skipped. Another kind of value is skipped and gives false.
func (r *Reader) Object(member func(name string)) bool {
	return r.Fields(func(name, _ string) { member(name) })
}

// Fields is Object with the name both as sent and folded by FoldName.
func (r *Reader) Fields(member func(name, folded string)) bool {
	if r.Kind() != KindObject {
		r.Skip()
		return false
	}
	r.at++
	for {
		r.space()
		if r.at >= len(r.body) {
			return true
		}
		switch r.body[r.at] {
		case '}':
			r.at++
			return true
		case ',':
			r.at++
			continue
		}
		field := r.fieldName()
		r.space()
		r.at++ // the colon
		r.space()
		before := r.at
		member(field.name, field.folded)
		if r.at == before {
			r.Skip()
		}
	}
}

func (r *Reader) fieldName() fieldName {
	raw := r.Raw()
	if known, ok := r.common[string(raw)]; ok {
		return known
	}
	if known, ok := r.names[string(raw)]; ok {
		return known
	}
	name := unquote(raw)
	made := fieldName{name: name, folded: FoldName(name)}
	if r.names == nil {
		r.names = make(map[string]fieldName)
	}
	if len(r.names) < maxNames {
		r.names[string(raw)] = made
	}
	return made
}

// maxNames bounds the spellings that a Reader remembers.
const maxNames = 1_000

// Array consumes an array and calls element for each value with its position.
// element consumes the value, or leaves it to be skipped. Another kind of
// value is skipped and gives false.
func (r *Reader) Array(element func(i int)) bool {
	if r.Kind() != KindArray {
		r.Skip()
		return false
	}
	r.at++
	for i := 0; ; {
		r.space()
		if r.at >= len(r.body) {
			return true
		}
		switch r.body[r.at] {
		case ']':
			r.at++
			return true
		case ',':
			r.at++
			continue
		}
		before := r.at
		element(i)
		if r.at == before {
			r.Skip()
		}
		i++
	}
}

// Skip consumes the next value.
func (r *Reader) Skip() { r.Raw() }

// Raw consumes the next value and returns its bytes, which alias the body.
func (r *Reader) Raw() []byte {
	r.space()
	start := r.at
	r.at = valueEnd(r.body, start)
	return r.body[start:r.at:r.at]
}

// Text consumes the next value; false when it is no string.
func (r *Reader) Text() (string, bool) {
	if r.Kind() != KindString {
		r.Skip()
		return "", false
	}
	return unquote(r.Raw()), true
}

// ID consumes an identifier: a string, a number whose digits are kept as they
// stand, or null for none (policy W4). Another kind gives false.
func (r *Reader) ID() (string, bool) {
	switch r.Kind() {
	case KindString:
		return unquote(r.Raw()), true
	case KindNumber:
		return string(r.Raw()), true
	case KindNull, KindNone:
		r.Skip()
		return "", true
	default:
		r.Skip()
		return "", false
	}
}

// Decimal consumes a number or numeric string (policy W5).
func (r *Reader) Decimal() (decimal.Decimal, NumberState) {
	switch r.Kind() {
	case KindNumber:
		raw := r.Raw()
		if n, ok := parsePlain(raw); ok {
			return n.Decimal(), NumberOK
		}
		return ParseDecimal(string(raw))
	case KindString:
		return ParseDecimal(unquote(r.Raw()))
	case KindNull, KindNone:
		r.Skip()
		return decimal.Decimal{}, NumberNull
	default:
		r.Skip()
		return decimal.Decimal{}, NumberInvalid
	}
}

// Int consumes a whole number or numeric string that fits an int32.
func (r *Reader) Int() (int, NumberState) {
	d, state := r.Decimal()
	if state != NumberOK {
		return 0, state
	}
	if !d.IsInteger() || d.Abs().GreaterThan(decimal.NewFromInt(1<<31-1)) {
		return 0, NumberInvalid
	}
	return int(d.IntPart()), NumberOK
}

// Bool consumes true or false; false as second result for any other kind.
func (r *Reader) Bool() (value, ok bool) {
	if r.Kind() != KindBool {
		r.Skip()
		return false, false
	}
	return r.Raw()[0] == 't', true
}
