package validate

import (
	"slices"
	"strings"
	"time"
)

// rules are what applies to one restaurant.
type rules struct {
	Config

	location *time.Location

	// What policy O1 asks of an order, by its type; of one whose type is not
	// known, what every type needs.
	delivery, pickup, either requiredFields
}

func newRules(cfg Config, location *time.Location) *rules {
	if location == nil {
		location = time.UTC
	}
	var both []string
	for _, name := range cfg.Required.Pickup {
		if slices.Contains(cfg.Required.Delivery, name) {
			both = append(both, name)
		}
	}
	return &rules{
		Config: cfg, location: location,
		delivery: requiredFieldsOf(cfg.Required.Delivery), pickup: requiredFieldsOf(cfg.Required.Pickup), either: requiredFieldsOf(both),
	}
}

// part is a part of an order's body.
type part uint8

// The parts whose fields can be mandatory.
const (
	partOrder part = iota
	partGuest
	partAddress
)

// requiredField is one mandatory field, beside those of the dishes.
type requiredField struct {
	name  string // the interface's, from the order on: guest.phone
	inner string // within its part: phone
	part  part
	field int // of the part's fields; wholePart for guest or address itself
}

// wholePart is the field of a requiredField that wants a guest or an address,
// whatever is in it.
const wholePart = -1

// requiredFields are the mandatory fields of one type of order.
type requiredFields struct {
	all         []requiredField
	plain       [orderFieldCount]bool // the order's plain fields among them
	fullAddress bool                  // composed where it is missing
}

// requiredFieldsOf lays out a list of Required. What is checked elsewhere is
// left out: the dishes, and restaurantID, which the v1 route fills and the compatible API
// can do without (policy O1a). expeditionType is always needed.
func requiredFieldsOf(names []string) requiredFields {
	var n requiredFields
	if !slices.Contains(names, "expeditionType") {
		names = append([]string{"expeditionType"}, names...)
	}
	for _, name := range names {
		outer, inner, nested := strings.Cut(name, ".")
		wanted := requiredField{name: name, inner: inner, field: wholePart}
		fields := orderFields
		switch outer {
		case "guest":
			wanted.part, fields = partGuest, guestFields
		case "address":
			wanted.part, fields = partAddress, addressFields
		default:
			wanted.inner, nested = name, true
		}
		if nested {
			wanted.field = slices.IndexFunc(fields.known, func(f knownField) bool { return f.name == wanted.inner })
			if wanted.field < 0 || wanted.part == partOrder && wanted.field >= orderFieldCount {
				continue
			}
		}
		n.fullAddress = n.fullAddress || name == "address.fullAddress"
		if wanted.part == partOrder {
			n.plain[wanted.field] = true
			if wanted.field == orderRestaurant {
				continue
			}
		}
		n.all = append(n.all, wanted)
	}
	return n
}

// required returns what the order must have (policy O1).
func (c *validation) required() *requiredFields {
	switch c.order.values[orderExpedition].text {
	case delivery:
		return &c.delivery
	case pickup:
		return &c.pickup
	default:
		return &c.either
	}
}
