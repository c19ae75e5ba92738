package validate

import (
	"cmp"
	"strconv"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/violation"
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

// value is one plain field as the client sent it.
type value struct {
	position
	state    state
	isNumber bool            // number is set instead of text
	numeric  bool            // an identifier that was sent as a number
	text     string          // strings and identifiers
	number   jsontext.Number // exact
}

type state uint8

// The states of a value. A null, or a numeric string without digits, counts as absent.
const (
	absent   state = iota
	readable       // of the right kind
	refused        // of another kind; there is a violation for it
)

// textPtr returns the text for the upstream body, or nil.
func (v *value) textPtr() *string {
	if v.state != readable {
		return nil
	}
	return &v.text
}

func (v *value) numberPtr() *jsontext.Number {
	if v.state != readable {
		return nil
	}
	return &v.number
}

// wholePtr returns the whole number for the upstream body, stored in target, or nil.
func (v *value) wholePtr(target *int) *int {
	if v.state != readable {
		return nil
	}
	n, _ := v.number.Int64()
	*target = int(n)
	return target
}

// object is an order, a guest or an address: its plain fields, in table order, and unknown fields.
type object struct {
	position
	state  state
	end    int32 // position after its last member
	fields *fieldTable
	values []value // of the plain fields
	extra  []upstream.Field
}

// line is a dish, or an ingredient of a dish or of another ingredient.
type line struct {
	position
	path       string // JSON Pointer, created on first use
	end        int32
	index      int
	parent     int32 // the line that contains this ingredient; none for a dish
	first      int32 // its first ingredient, or none
	next       int32 // its next sibling, or none
	depth      int   // 0 for a dish
	id         value
	otherID    string // another value of ID, in another spelling of its name
	externalID value
	name       string // only to notice that another item is meant (policy O3)
	price      value
	quantity   value
	group      value            // groupId: larder's own field, never sent (policy M4)
	list       position         // ingredients
	truncated  bool             // some ingredients were skipped because of a limit
	extra      []upstream.Field // unknown fields (policies W8, W12)
}

// dishOf returns the dish that contains line n.
func (o *decodedOrder) dishOf(n int32) int32 {
	for o.lines[n].parent != none {
		n = o.lines[n].parent
	}
	return n
}

// none is the index of no line.
const none int32 = -1

type decodedOrder struct {
	object
	dishes position // dishList
	base   string   // its JSON Pointer
	listed state
	lines  []line // dishes and ingredients, each before its own ingredients; then unused ones
	first  int32  // the first dish, or none

	dishCount int  // elements of dishList, including skipped ones
	broken    bool // a dish could not be decoded: the total is not known
	deepest   int  // levels of ingredients, including skipped ones

	refusedPayment string // see Order.RefusedPayment

	guest   object
	address object
	soonest bool // larder's own field: as soon as possible (policy O4)

	buffer [orderFieldCount + guestFieldCount + addressFieldCount]value // backing array of values
}

// reset prepares an empty order for decoding.
func (o *decodedOrder) reset() {
	o.first = none
	o.object = object{fields: orderFields, values: o.buffer[:orderFieldCount]}
	o.guest = object{fields: guestFields, values: o.buffer[orderFieldCount : orderFieldCount+guestFieldCount]}
	o.address = object{fields: addressFields, values: o.buffer[orderFieldCount+guestFieldCount:]}
}

// clear empties the order and keeps the capacity of its lines.
func (o *decodedOrder) clear() {
	clear(o.lines)
	*o = decodedOrder{lines: o.lines[:0]}
}

// position is the position of a value in the client's body.
type position struct {
	// name is the member's name as the client spelled it; empty if the member is missing.
	name string
	// pos orders positions as in the body. A missing member has the end of its object.
	pos int32
}

// member appends a member's name to a JSON Pointer (RFC 6901).
func member(path, name string) string {
	if strings.ContainsAny(name, "~/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	return path + "/" + name
}

func element(path string, i int) string { return path + "/" + strconv.Itoa(i) }

// nameOr returns the member's name, or the documented one if the member is missing.
func (s position) nameOr(documented string) string { return cmp.Or(s.name, documented) }

// posOr returns the member's position, or end, the end of its object, if the member is missing.
func (s position) posOr(end int32) int32 {
	if s.name == "" {
		return end
	}
	return s.pos
}

// addMissing adds a violation for the mandatory member name, which the object at the JSON Pointer base does not
// have. end is the position of the object's end; field is the member's name in the message.
func addMissing(notes *violation.List, at position, end int32, base, name, field string) {
	notes.Add(at.posOr(end), member(base, at.nameOr(name)), violation.FieldRequired, violation.Params{"field": field}, "")
}

func refuseValue(notes *violation.List, v *value, base string, code violation.Code, params violation.Params) {
	notes.Add(v.pos, member(base, v.name), code, params, "")
}

// unknownField is the result of find for an unknown name.
const unknownField = -1

// knownField is a field of the ordering service's interface.
type knownField struct {
	name  string
	kind  fieldKind
	limit int // maximum number of characters of a text; 0 if the value is checked elsewhere
}

// fieldTable contains the fields of one object of the interface.
type fieldTable struct {
	known  []knownField
	byName map[string]int // in the usual spellings, and folded
}

func newFieldTable(fields ...knownField) *fieldTable {
	t := &fieldTable{known: fields, byName: map[string]int{}}
	for i, f := range fields {
		for _, spelling := range []string{
			f.name, strings.Replace(f.name, "ID", "Id", 1), strings.Replace(f.name, "Id", "ID", 1), jsontext.FoldName(f.name),
		} {
			t.byName[spelling] = i
		}
	}
	return t
}

// find returns the index of a name in any spelling (policy W3), or unknownField.
func (t *fieldTable) find(name string) int {
	if field, ok := t.byName[name]; ok {
		return field
	}
	if field, ok := t.byName[jsontext.FoldName(name)]; ok {
		return field
	}
	return unknownField
}

// The indices in orderFields; plain fields come first.
const (
	orderComment = iota
	orderRestaurant
	orderPersons
	orderExpedition
	orderExpectedAt
	orderPayment
	orderChangeFrom
	orderFieldCount
	orderDishes = iota - 1
	orderGuest
	orderAddress
	orderSoonest
)

// The indices in guestFields.
const (
	guestEmail = iota
	guestPhone
	guestFirstName
	guestLastName
	guestFieldCount
)

// The indices in addressFields.
const (
	addressPostcode = iota
	addressStreet
	addressComment
	addressLat
	addressLon
	addressCityID
	addressCityName
	addressFloor
	addressHouse
	addressApartment
	addressEntrance
	addressSubway
	addressFull
	addressFieldCount
)

// The indices in paymentFields.
const (
	paymentCode = iota
	paymentAmount
	paymentPaidAt
	paymentName
	paymentFieldCount
)

// The indices in rejectionFields.
const (
	rejectionReason = iota
	rejectionText
	rejectionRestaurant
	rejectionFieldCount
)

// The indices in lineFields, for dishes and ingredients.
const (
	lineID = iota
	lineExternalID
	linePrice
	lineQuantity
	lineGroup
	lineIngredients
	lineName
	lineMeasure
)

// The fields of the interface (docs/ordering-service.md, section 2), with larder's own fields soonest and groupId.
//
//nolint:gochecknoglobals // constants
var (
	orderFields = newFieldTable(
		knownField{"comment", wantText, maxText},
		knownField{"restaurantID", wantID, 0},
		knownField{"persons", wantWhole, 0},
		knownField{"expeditionType", wantText, 0},
		knownField{"expectedAt", wantText, 0},
		knownField{"paymentTypeID", wantText, 0},
		knownField{"changeFrom", wantNumber, 0},
		knownField{"dishList", wantArray, 0},
		knownField{"guest", wantObject, 0},
		knownField{"address", wantObject, 0},
		knownField{"soonest", wantBoolean, 0},
	)
	guestFields = newFieldTable(
		knownField{"email", wantText, maxName},
		knownField{"phone", wantText, maxName},
		knownField{"firstName", wantText, maxName},
		knownField{"lastName", wantText, maxName},
	)
	addressFields = newFieldTable(
		knownField{"postcode", wantText, maxText},
		knownField{"street", wantText, maxText},
		knownField{"comment", wantText, maxText},
		knownField{"lat", wantNumber, 0},
		knownField{"lon", wantNumber, 0},
		knownField{"cityID", wantID, maxName},
		knownField{"cityName", wantText, maxText},
		knownField{"floor", wantWhole, 0},
		knownField{"houseNumber", wantText, maxText},
		knownField{"apartmentNumber", wantText, maxText},
		knownField{"entrance", wantText, maxText},
		knownField{"subway", wantText, maxText},
		knownField{"fullAddress", wantText, maxText},
	)
	paymentFields = newFieldTable(
		knownField{"code", wantID, maxName},
		knownField{"amount", wantNumber, 0},
		knownField{"paidAt", wantText, 0},
		knownField{"name", wantText, maxName},
	)
	rejectionFields = newFieldTable(
		knownField{"rejectionReasonID", wantID, maxName},
		knownField{"rejectionReasonText", wantText, maxText},
		knownField{"restaurantID", wantNothing, 0}, // accepted, but not sent (policy O11)
	)
	lineFields = newFieldTable(
		knownField{"ID", wantID, 0},
		knownField{"externalId", wantID, 0},
		knownField{"price", wantNumber, 0},
		knownField{"quantity", wantNumber, 0},
		knownField{"groupId", wantID, 0},
		knownField{"ingredients", wantArray, 0},
		knownField{"name", wantNothing, 0}, // the catalogue's value is sent (policy P3)
		knownField{"measure", wantNothing, 0},
	)

	canonicalNames = canonicalNamesOf(orderFields, guestFields, addressFields, paymentFields, rejectionFields, lineFields)
)

func canonicalNamesOf(tables ...*fieldTable) map[string]jsontext.CanonicalName {
	var form jsontext.Canonical
	names := map[string]jsontext.CanonicalName{}
	for _, table := range tables {
		for name := range table.byName {
			literal := `"` + name + `"`
			names[literal] = form.Name(literal)
		}
	}
	return names
}
