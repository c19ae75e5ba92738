package ordering

import (
	"strings"

	"larder/internal/jsontext"
)

// unknownField is a name that larder does not know.
const unknownField = -1

// known is a field of the ordering service's interface.
type known struct {
	name  string
	want  want
	limit int // most characters of a text; 0: its value is checked otherwise
}

// fieldTable has the fields of one object of the interface by their positions.
type fieldTable struct {
	known  []known
	byName map[string]int // in the usual spellings, and folded
}

func newFieldTable(fields ...known) *fieldTable {
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

// find returns the position of a name in any spelling (policy W3), or unknownField.
func (t *fieldTable) find(name string) int {
	if field, ok := t.byName[name]; ok {
		return field
	}
	if field, ok := t.byName[jsontext.FoldName(name)]; ok {
		return field
	}
	return unknownField
}

// The positions in orderFields: the plain fields first.
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

// The positions in guestFields.
const (
	guestEmail = iota
	guestPhone
	guestFirstName
	guestLastName
	guestFieldCount
)

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
	addressFieldCount
)

// The positions in paymentFields.
const (
	paymentCode = iota
	paymentAmount
	paymentPaidAt
	paymentName
	paymentFieldCount
)

// The positions in rejectionFields.
const (
	rejectionReason = iota
	rejectionText
	rejectionRestaurant
	rejectionFieldCount
)

// The positions in lineFields: a dish's or an ingredient's.
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

// The fields of the interface (docs/ordering-service.md, section 2), and
// larder's own soonest and groupId.
//
//nolint:gochecknoglobals // constants
var (
	orderFields = newFieldTable(
		known{"comment", wantText, maxText},
		known{"restaurantID", wantID, 0},
		known{"persons", wantWhole, 0},
		known{"expeditionType", wantText, 0},
		known{"expectedAt", wantText, 0},
		known{"paymentTypeID", wantText, 0},
		known{"changeFrom", wantNumber, 0},
		known{"dishList", wantArray, 0},
		known{"guest", wantObject, 0},
		known{"address", wantObject, 0},
		known{"soonest", wantBoolean, 0},
	)
	guestFields = newFieldTable(
		known{"email", wantText, maxName},
		known{"phone", wantText, maxName},
		known{"firstName", wantText, maxName},
		known{"lastName", wantText, maxName},
	)
	addressFields = newFieldTable(
		known{"postcode", wantText, maxText},
		known{"street", wantText, maxText},
		known{"comment", wantText, maxText},
		known{"lat", wantNumber, 0},
		known{"lon", wantNumber, 0},
		known{"cityID", wantID, maxName},
		known{"cityName", wantText, maxText},
		known{"floor", wantWhole, 0},
		known{"houseNumber", wantText, maxText},
		known{"apartmentNumber", wantText, maxText},
		known{"entrance", wantText, maxText},
		known{"subway", wantText, maxText},
		known{"fullAddress", wantText, maxText},
	)
	paymentFields = newFieldTable(
		known{"code", wantID, maxName},
		known{"amount", wantNumber, 0},
		known{"paidAt", wantText, 0},
		known{"name", wantText, maxName},
	)
	rejectionFields = newFieldTable(
		known{"rejectionReasonID", wantID, maxName},
		known{"rejectionReasonText", wantText, maxText},
		known{"restaurantID", wantNothing, 0}, // accepted and not sent (policy O11)
	)
	lineFields = newFieldTable(
		known{"ID", wantID, 0},
		known{"externalId", wantID, 0},
		known{"price", wantNumber, 0},
		known{"quantity", wantNumber, 0},
		known{"groupId", wantID, 0},
		known{"ingredients", wantArray, 0},
		known{"name", wantNothing, 0}, // the catalogue's are sent (policy P3)
		known{"measure", wantNothing, 0},
	)
)
