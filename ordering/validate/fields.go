package validate

import (
	"slices"
	"strings"

	"larder.local/internal/jsontext"
)

// fieldKind is the kind of value that a field accepts; type_mismatch has it in its params.
type fieldKind string

// The kinds of values in an order (docs/ordering-service.md, section 2.1).
const (
	wantText    fieldKind = "string"
	wantID      fieldKind = "identifier" // string or number (policy W4)
	wantWhole   fieldKind = "integer"    // or a numeric string (policy W12)
	wantNumber  fieldKind = "number"     // or a numeric string (policy W12)
	wantTime    fieldKind = "date-time"
	wantBoolean fieldKind = "boolean"
	wantArray   fieldKind = "array"
	wantObject  fieldKind = "object"
	wantNothing fieldKind = "" // skipped
)

type state uint8

// The states of a value. A null, or a numeric string without digits, counts as absent.
const (
	absent   state = iota
	readable       // of the right kind
	refused        // of another kind; there is a violation for it
)

// value is one plain field as the client sent it.
type value struct {
	pos      int32 // offset in the body; 0 if the member is missing
	state    state
	isNumber bool            // number is set instead of text
	numeric  bool            // an identifier that was sent as a number
	text     string          // strings and identifiers
	number   jsontext.Number // exact
}

// blank reports whether the value counts as missing: absent, null, or only white space. A value of
// the wrong kind is not missing.
func (v *value) blank() bool {
	return v.state == absent || v.state == readable && !v.isNumber && strings.TrimSpace(v.text) == ""
}

// object is a JSON object with plain fields.
type object struct {
	pos   int32 // offset in the body; 0 if the member is missing, or for the body itself
	end   int32 // offset of its end, or of a null instead of it; 0 if the member is missing
	state state
	extra []member // unknown fields that are forwarded (policies W8, W12)
}

// placeOf returns the place of a member of the object with an offset; it is 0 if the member is missing.
func (o *object) placeOf(pos int32, name string) place {
	if pos > 0 {
		return at(pos)
	}
	return atMember(o.end, name)
}

type guest struct {
	object

	email, phone, firstName, lastName value
}

type address struct {
	object

	postcode, street, comment, lat, lon, cityID, cityName, floor, house, apartment, entrance, subway, full value
}

// field is a field of an object T of the interface.
type field[T any] struct {
	name  string
	kind  fieldKind
	limit int             // maximum number of characters of a text; 0 if the value is checked elsewhere
	of    func(*T) *value // nil if the field is not a plain value
}

// fieldTable contains the fields of one object of the interface.
type fieldTable[T any] struct {
	fields []field[T]
	usual  []string // their names in the spelling of the interface
	folded []string
}

// unknownField is the result of find for an unknown name.
const unknownField = -1

// find returns the index of a name in any spelling (policy W3), or unknownField.
func (t *fieldTable[T]) find(name string) int {
	if i := slices.Index(t.usual, name); i >= 0 { // faster, and nearly always enough
		return i
	}
	return slices.Index(t.folded, jsontext.FoldName(name))
}

// mayRepeat reports whether an object may have several values of a field: of two IDs of a line, the menu decides
// (policy O3).
func (t *fieldTable[T]) mayRepeat(field int) bool {
	return field == lineID && any(t) == any(lineFields)
}

// canonicalNames has the canonical forms of the names of all tables.
var canonicalNames = map[string]jsontext.CanonicalName{} //nolint:gochecknoglobals // constant

func newFieldTable[T any](fields ...field[T]) *fieldTable[T] {
	var form jsontext.Canonical
	t := &fieldTable[T]{fields: fields}
	for _, f := range fields {
		t.usual = append(t.usual, f.name)
		t.folded = append(t.folded, jsontext.FoldName(f.name))
		for _, spelling := range []string{
			f.name, strings.Replace(f.name, "ID", "Id", 1), strings.Replace(f.name, "Id", "ID", 1), jsontext.FoldName(f.name),
		} {
			literal := `"` + spelling + `"`
			canonicalNames[literal] = form.Name(literal)
		}
	}
	return t
}

// valueOf returns the function that returns a plain field. The function returns nil if there is no such field.
func (t *fieldTable[T]) valueOf(name string) func(*T) *value {
	if i := t.find(name); i != unknownField && t.fields[i].of != nil {
		return t.fields[i].of
	}
	return func(*T) *value { return nil }
}

// The fields of the interface (docs/ordering-service.md, section 2), with larder's own fields soonest and groupId.
//
//nolint:gochecknoglobals // constants
var (
	orderFields = newFieldTable(
		field[Order]{"comment", wantText, maxText, func(o *Order) *value { return &o.comment }},
		field[Order]{"restaurantID", wantID, 0, func(o *Order) *value { return &o.restaurant }},
		field[Order]{"persons", wantWhole, 0, func(o *Order) *value { return &o.persons }},
		field[Order]{"expeditionType", wantText, 0, func(o *Order) *value { return &o.expedition }},
		field[Order]{"expectedAt", wantText, 0, func(o *Order) *value { return &o.expectedAt }},
		field[Order]{"paymentTypeID", wantText, 0, func(o *Order) *value { return &o.payment }},
		field[Order]{"changeFrom", wantNumber, 0, func(o *Order) *value { return &o.changeFrom }},
		field[Order]{"dishList", wantArray, 0, nil},
		field[Order]{"guest", wantObject, 0, nil},
		field[Order]{"address", wantObject, 0, nil},
		field[Order]{"soonest", wantBoolean, 0, nil},
	)
	guestFields = newFieldTable(
		field[guest]{"email", wantText, maxName, func(g *guest) *value { return &g.email }},
		field[guest]{"phone", wantText, maxName, func(g *guest) *value { return &g.phone }},
		field[guest]{"firstName", wantText, maxName, func(g *guest) *value { return &g.firstName }},
		field[guest]{"lastName", wantText, maxName, func(g *guest) *value { return &g.lastName }},
	)
	addressFields = newFieldTable(
		field[address]{"postcode", wantText, maxText, func(a *address) *value { return &a.postcode }},
		field[address]{"street", wantText, maxText, func(a *address) *value { return &a.street }},
		field[address]{"comment", wantText, maxText, func(a *address) *value { return &a.comment }},
		field[address]{"lat", wantNumber, 0, func(a *address) *value { return &a.lat }},
		field[address]{"lon", wantNumber, 0, func(a *address) *value { return &a.lon }},
		field[address]{"cityID", wantID, maxName, func(a *address) *value { return &a.cityID }},
		field[address]{"cityName", wantText, maxText, func(a *address) *value { return &a.cityName }},
		field[address]{"floor", wantWhole, 0, func(a *address) *value { return &a.floor }},
		field[address]{"houseNumber", wantText, maxText, func(a *address) *value { return &a.house }},
		field[address]{"apartmentNumber", wantText, maxText, func(a *address) *value { return &a.apartment }},
		field[address]{"entrance", wantText, maxText, func(a *address) *value { return &a.entrance }},
		field[address]{"subway", wantText, maxText, func(a *address) *value { return &a.subway }},
		field[address]{"fullAddress", wantText, maxText, func(a *address) *value { return &a.full }},
	)
	paymentFields = newFieldTable(
		field[payment]{"code", wantID, maxName, func(p *payment) *value { return &p.code }},
		field[payment]{"amount", wantNumber, 0, func(p *payment) *value { return &p.amount }},
		field[payment]{"paidAt", wantText, 0, func(p *payment) *value { return &p.paidAt }},
		field[payment]{"name", wantText, maxName, func(p *payment) *value { return &p.name }},
	)
	rejectionFields = newFieldTable(
		field[Rejection]{"rejectionReasonID", wantID, maxName, func(r *Rejection) *value { return &r.reason }},
		field[Rejection]{"rejectionReasonText", wantText, maxText, func(r *Rejection) *value { return &r.text }},
		field[Rejection]{"restaurantID", wantNothing, 0, nil}, // accepted, but not sent (policy O11)
	)
	lineFields = newFieldTable(
		field[Line]{"ID", wantID, 0, func(l *Line) *value { return &l.id }},
		field[Line]{"externalId", wantID, 0, func(l *Line) *value { return &l.externalID }},
		field[Line]{"price", wantNumber, 0, func(l *Line) *value { return &l.price }},
		field[Line]{"quantity", wantNumber, 0, func(l *Line) *value { return &l.quantity }},
		field[Line]{"groupId", wantID, 0, func(l *Line) *value { return &l.group }},
		field[Line]{"ingredients", wantArray, 0, nil},
		field[Line]{"name", wantNothing, 0, nil}, // the catalogue's value is sent (policy P3)
		field[Line]{"measure", wantNothing, 0, nil},
	)
)

// lineID is the index of ID in lineFields.
const lineID = 0
