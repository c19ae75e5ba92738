package validate

import (
	"strings"

	"larder/internal/jsontext"
)

// unknownField is a name that larder does not know.
const unknownField = -1

// knownField is a field of the ordering service's interface.
type knownField struct {
	name  string
	kind  fieldKind
	limit int // most characters of a text; 0: its value is checked otherwise
}

// fieldTable has the fields of one object of the interface by their positions.
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
		knownField{"restaurantID", wantNothing, 0}, // accepted and not sent (policy O11)
	)
	lineFields = newFieldTable(
		knownField{"ID", wantID, 0},
		knownField{"externalId", wantID, 0},
		knownField{"price", wantNumber, 0},
		knownField{"quantity", wantNumber, 0},
		knownField{"groupId", wantID, 0},
		knownField{"ingredients", wantArray, 0},
		knownField{"name", wantNothing, 0}, // the catalogue's are sent (policy P3)
		knownField{"measure", wantNothing, 0},
	)
)
