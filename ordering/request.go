package ordering

import (
	"time"

	"larder/internal/menu"
	"larder/internal/upstream"
)

// Request is one order to be validated.
type Request struct {
	// Restaurant is whose menu the Catalogue is; on the native face the
	// route's, and what is sent as restaurantID.
	Restaurant menu.RestaurantID
	// Native: the native face. It fills restaurantID and expectedAt, and sends
	// on only fields that the interface has; the drop-in face passes
	// unknown ones on (policies W8, O1, O4).
	Native bool
	// Version is the catalogue's.
	Version int64
	// Catalogue is what the order is checked against.
	Catalogue *menu.Catalogue
	// Body is the order as the client sent it, JSON.
	Body []byte
	// Language is what messages are written in: "en".
	Language string
	// FieldCase is how the body for the service spells its names.
	FieldCase upstream.FieldCase
}

// Restaurant is what is particular to one restaurant.
type Restaurant struct {
	ID menu.RestaurantID
	// Location is its time zone; nil is UTC. It shows in the offset of an
	// expectedAt that larder fills in (policy O4).
	Location *time.Location
	// Override is its own `ordering:` section.
	Override Override
}
