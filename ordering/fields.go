package ordering

import (
	"encoding/json"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
	"larder/internal/upstream"
)

// want is the kind of value that a field takes; its text stands in the params
// of type_mismatch.
type want string

// The kinds of values of the interface document, section 2.1.
const (
	wantText    want = "string"
	wantID      want = "identifier" // string or number (policy W4)
	wantWhole   want = "integer"    // or numeric string (policy W12)
	wantNumber  want = "number"     // or numeric string (policy W12)
	wantTime    want = "date-time"
	wantBoolean want = "boolean"
	wantArray   want = "array"
	wantObject  want = "object"
)

// known is a field of the interface document.
type known struct {
	name, folded string
	want         want
}

// forms are the fields of the interface document, laid out once for all orders.
type forms struct {
	order, guest, address []known
	names                 menu.Names // as the document spells them
}

func newForms() *forms {
	f := &forms{order: orderFields(), guest: guestFields(), address: addressFields()}
	names := []string{
		"dishList", "guest", "address", "ID", "id", "externalId", "name", "price", "measure", "value", "unit", "quantity", "ingredients",
	}
	for _, fields := range [][]known{f.order, f.guest, f.address} {
		for _, field := range fields {
			names = append(names, field.name)
		}
	}
	f.names = menu.NewNames(names...)
	return f
}

// The positions in orderFields.
const (
	orderComment = iota
	orderRestaurant
	orderPersons
	orderExpedition
	orderExpectedAt
	orderPayment
	orderChangeFrom
)

// orderFields are the plain fields of an order; dishList, guest and address
// are read on their own.
func orderFields() []known {
	return []known{
		{"comment", "comment", wantText},
		{"restaurantID", "restaurantid", wantID},
		{"persons", "persons", wantWhole},
		{"expeditionType", "expeditiontype", wantText},
		{"expectedAt", "expectedat", wantText},
		{"paymentTypeID", "paymenttypeid", wantText},
		{"changeFrom", "changefrom", wantNumber},
	}
}

// The positions in guestFields.
const (
	guestEmail = iota
	guestPhone
	guestFirstName
	guestLastName
)

func guestFields() []known {
	return []known{
		{"email", "email", wantText},
		{"phone", "phone", wantText},
		{"firstName", "firstname", wantText},
		{"lastName", "lastname", wantText},
	}
}

// The positions in addressFields.
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
)

func addressFields() []known {
	return []known{
		{"postcode", "postcode", wantText},
		{"street", "street", wantText},
		{"comment", "comment", wantText},
		{"lat", "lat", wantNumber},
		{"lon", "lon", wantNumber},
		{"cityID", "cityid", wantID},
		{"cityName", "cityname", wantText},
		{"floor", "floor", wantWhole},
		{"houseNumber", "housenumber", wantText},
		{"apartmentNumber", "apartmentnumber", wantText},
		{"entrance", "entrance", wantText},
		{"subway", "subway", wantText},
		{"fullAddress", "fulladdress", wantText},
	}
}

// value is one plain field as the client sent it.
type value struct {
	spot
	state    state
	isNumber bool            // number holds it, not text
	numeric  bool            // text holds an identifier that was sent as a number
	text     string          // of texts and identifiers
	number   decimal.Decimal // exact
}

// state says what became of a value.
type state uint8

// The states of a value. One that is null, or a number of no digits, is absent.
const (
	absent   state = iota
	readable       // as its field wants it
	refused        // of another kind; a violation says so
)

// textPtr gives the text for the wire; nil for none.
func (v *value) textPtr() *string {
	if v.state != readable {
		return nil
	}
	return &v.text
}

func (v *value) numberPtr() *decimal.Decimal {
	if v.state != readable {
		return nil
	}
	return &v.number
}

func (v *value) wholePtr() *int {
	if v.state != readable {
		return nil
	}
	n := int(v.number.IntPart())
	return &n
}

// object is an order, a guest or an address: its plain fields, in the order of
// its list of known ones, and what larder does not know.
type object struct {
	spot
	state  state
	end    int32 // the place behind its last member
	values []value
	extra  []upstream.Field
}

// unknown keeps a field that larder does not know (policy W8).
func (o *object) unknown(name string, raw []byte) {
	o.extra = append(o.extra, upstream.Field{Name: name, Value: json.RawMessage(raw)})
}

// at gives the place of one of the object's fields: where a missing one would
// stand.
func (o *object) at(i int) int32 {
	if o.values[i].name == "" {
		return o.end
	}
	return o.values[i].at
}

// line is a dish, or an ingredient of a dish or of another ingredient.
type line struct {
	spot
	path       string // JSON Pointer; made when first asked for
	end        int32
	index      int
	parent     int32 // the line whose ingredient this is; none for a dish
	first      int32 // its first ingredient, or none
	next       int32 // the next line beside it, or none
	depth      int   // 0 for a dish
	id         value
	externalID value
	price      value
	quantity   value
	group      value            // groupId: larder's own, never sent (policy M4)
	list       value            // ingredients
	cut        bool             // a limit left some of its ingredients unread
	extra      []upstream.Field // what larder does not know (policies W8, W12)
}

// none is the line index that points nowhere.
const none int32 = -1

// order is an order as the client sent it.
type order struct {
	object
	dishes spot   // dishList
	base   string // its JSON Pointer
	listed state
	lines  []line // dishes and ingredients, each before its own ingredients
	first  int32  // the first dish, or none

	dishCount int  // elements of dishList, read or not
	broken    bool // a dish could not be read: no total can be told

	guest   object
	address object
	soonest bool // larder's own: as soon as may be (policy O4)
}
