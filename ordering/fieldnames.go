package ordering

import (
	"larder/internal/jsontext"
)

// unknownField is a name that larder does not know.
const unknownField = -1

// fieldNamed gives the field of a name in any spelling (policy W3). find knows
// the usual spellings and the folded one.
func fieldNamed(find func(name string) int, name string) int {
	if field := find(name); field != unknownField {
		return field
	}
	return find(jsontext.FoldName(name))
}

// The positions in orderFields, and behind them the order's other fields.
const (
	orderComment = iota
	orderRestaurant
	orderPersons
	orderExpedition
	orderExpectedAt
	orderPayment
	orderChangeFrom
	orderFieldCount
	orderDishes = iota
	orderGuest
	orderAddress
	orderSoonest
)

// orderFields are the plain fields of an order; dishList, guest and address
// are read on their own.
func orderFields() []known {
	return []known{
		{"comment", wantText, maxText},
		{"restaurantID", wantID, 0},
		{"persons", wantWhole, 0},
		{"expeditionType", wantText, 0},
		{"expectedAt", wantText, 0},
		{"paymentTypeID", wantText, 0},
		{"changeFrom", wantNumber, 0},
	}
}

func orderField(name string) int {
	switch name {
	case "comment":
		return orderComment
	case "restaurantID", "restaurantId", "restaurantid":
		return orderRestaurant
	case "persons":
		return orderPersons
	case "dishList", "dishlist":
		return orderDishes
	case "expeditionType", "expeditiontype":
		return orderExpedition
	case "expectedAt", "expectedat":
		return orderExpectedAt
	case "paymentTypeID", "paymentTypeId", "paymenttypeid":
		return orderPayment
	case "changeFrom", "changefrom":
		return orderChangeFrom
	case "guest":
		return orderGuest
	case "address":
		return orderAddress
	case "soonest":
		return orderSoonest
	default:
		return unknownField
	}
}

// The positions in guestFields.
const (
	guestEmail = iota
	guestPhone
	guestFirstName
	guestLastName
	guestFieldCount
)

func guestFields() []known {
	return []known{
		{"email", wantText, maxName},
		{"phone", wantText, maxName},
		{"firstName", wantText, maxName},
		{"lastName", wantText, maxName},
	}
}

func guestField(name string) int {
	switch name {
	case "email":
		return guestEmail
	case "phone":
		return guestPhone
	case "firstName", "firstname":
		return guestFirstName
	case "lastName", "lastname":
		return guestLastName
	default:
		return unknownField
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
	addressFieldCount
)

func addressFields() []known {
	return []known{
		{"postcode", wantText, maxText},
		{"street", wantText, maxText},
		{"comment", wantText, maxText},
		{"lat", wantNumber, 0},
		{"lon", wantNumber, 0},
		{"cityID", wantID, maxName},
		{"cityName", wantText, maxText},
		{"floor", wantWhole, 0},
		{"houseNumber", wantText, maxText},
		{"apartmentNumber", wantText, maxText},
		{"entrance", wantText, maxText},
		{"subway", wantText, maxText},
		{"fullAddress", wantText, maxText},
	}
}

func addressField(name string) int {
	switch name {
	case "postcode":
		return addressPostcode
	case "street":
		return addressStreet
	case "comment":
		return addressComment
	case "lat":
		return addressLat
	case "lon":
		return addressLon
	case "cityID", "cityId", "cityid":
		return addressCityID
	case "cityName", "cityname":
		return addressCityName
	case "floor":
		return addressFloor
	case "houseNumber", "housenumber":
		return addressHouse
	case "apartmentNumber", "apartmentnumber":
		return addressApartment
	case "entrance":
		return addressEntrance
	case "subway":
		return addressSubway
	case "fullAddress", "fulladdress":
		return addressFull
	default:
		return unknownField
	}
}

// The fields of a dish or an ingredient. Those of the catalogue are read past.
const (
	lineID = iota
	lineExternalID
	linePrice
	lineQuantity
	lineGroup
	lineIngredients
	lineOfCatalogue
)

func lineField(name string) int {
	switch name {
	case "ID", "Id", "id":
		return lineID
	case "externalId", "externalID", "externalid":
		return lineExternalID
	case "price":
		return linePrice
	case "quantity":
		return lineQuantity
	case "groupId", "groupID", "groupid":
		return lineGroup
	case "ingredients":
		return lineIngredients
	case "name", "measure":
		return lineOfCatalogue
	default:
		return unknownField
	}
}
