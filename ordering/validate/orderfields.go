package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/ordering/violation"
)

// The values of expeditionType and paymentTypeID (policy O5).
const (
	delivery = "delivery"
	pickup   = "pickup"
	cash     = "cash"
)

var (
	expeditionTypes = []string{delivery, pickup}       //nolint:gochecknoglobals // constant
	paymentTypes    = []string{cash, "card", "online"} //nolint:gochecknoglobals // constant
)

// fieldCheck checks the fields of an order other than its dishes.
type fieldCheck struct{ *validation }

func (c fieldCheck) checkFields() {
	c.checkRestaurant()
	c.checkListed(orderExpedition, expeditionTypes)
	c.checkListed(orderPayment, paymentTypes)
	c.checkRequired()
	c.checkExpectedAt()
	c.checkChangeFrom()
	c.checkRanges()
	c.checkTexts()
}

// checkRestaurant rejects a restaurantID that differs from the one of the v1 route.
func (c fieldCheck) checkRestaurant() {
	named := &c.order.values[orderRestaurant]
	if c.V1 && !named.blank() && named.state == readable && named.text != string(c.Restaurant) {
		refuseValue(&c.violations, named, "", violation.ValueNotAllowed, violation.Params{"allowed": []string{string(c.Restaurant)}})
	}
}

// checkListed rejects a value that is not in allowed (policy O5).
func (c fieldCheck) checkListed(field int, allowed []string) {
	v := &c.order.values[field]
	if v.state == readable && v.text != "" && !slices.Contains(allowed, v.text) && !c.missing(field) {
		refuseValue(&c.violations, v, "", violation.ValueNotAllowed, violation.Params{"allowed": allowed})
	}
}

// blank reports whether the value counts as missing: absent, null, or only white space. A value of
// the wrong kind is not missing.
func (v *value) blank() bool {
	if len(v.text) > 0 && v.text[0] > ' ' && v.text[0] < utf8.RuneSelf {
		return false
	}
	return v.state == absent || (v.state == readable && !v.isNumber && strings.TrimSpace(v.text) == "")
}

// missing reports whether a mandatory field of the order is missing, which is a separate violation.
func (c fieldCheck) missing(field int) bool {
	return c.order.values[field].blank() && c.required().plain[field]
}

// checkRequired adds a violation for each missing mandatory field (policy O1).
func (c fieldCheck) checkRequired() {
	o, wanted := c.order, c.required().all
	for i := range wanted {
		n, of := &wanted[i], &o.object
		switch n.outer {
		case "guest":
			of = &o.guest
		case "address":
			of = &o.address
		}
		switch {
		case of == &o.object && n.field == orderExpectedAt && o.soonest: // policy O4
		case of == &o.address && n.field == addressFull && c.fullAddress() != "":
		case n.field != wholeObject:
			c.requireField(of, n)
		case of.state == absent:
			addMissing(&c.violations, of.position, o.end, "", n.outer, n.outer)
		}
	}
	phone := requiredField{name: "guest.phone", outer: "guest", inner: "phone", field: guestPhone}
	if c.Guest && !slices.Contains(wanted, phone) { // policy O19
		c.requireField(&o.guest, &phone)
	}
}

// requireField adds a violation if an object does not have a mandatory field. An object of the
// wrong kind already has a violation.
func (c fieldCheck) requireField(of *object, n *requiredField) {
	v := &of.values[n.field]
	if of.state == refused || !v.blank() {
		return
	}
	end, path := of.end, ""
	if of.state != readable { // the whole object is missing
		end = of.posOr(c.order.end)
	}
	if n.outer != "" {
		path = member("", of.nameOr(n.outer))
	}
	addMissing(&c.violations, v.position, end, path, n.inner, n.name)
}

// fullAddress returns the address that was sent, or one composed of its parts (policy O1).
func (c *validation) fullAddress() string {
	a := c.order.address.values
	if full := &a[addressFull]; !full.blank() {
		return full.text
	}
	if c.full != "" {
		return c.full
	}
	parts := make([]string, 0, 4)
	for _, i := range [...]int{addressCityName, addressStreet, addressHouse, addressApartment} {
		if !a[i].blank() && a[i].state == readable {
			parts = append(parts, a[i].text)
		}
	}
	c.full = strings.Join(parts, ", ")
	return c.full
}

// checkChangeFrom accepts changeFrom only with cash, from the total to 100 times the total plus a million (policy O5).
func (c fieldCheck) checkChangeFrom() {
	change := &c.order.values[orderChangeFrom]
	if change.state != readable {
		return
	}
	payment := &c.order.values[orderPayment]
	if payment.state != refused && payment.text != cash && !c.missing(orderPayment) {
		refuseValue(&c.violations, change, "", violation.ChangeNotCash, nil)
		return
	}
	highest := c.total.Mul(jsontext.Whole(100)).Add(jsontext.Whole(1_000_000))
	var limit any
	var subject string
	switch {
	case c.total.known && change.number.Cmp(c.total.Number) < 0:
		refuseValue(&c.violations, change, "", violation.ChangeTooSmall, violation.Params{"minimum": number(c.total.Number)})
		return
	case change.number.Round(int32(c.PriceDigits)).Cmp(change.number) != 0:
		limit, subject = c.PriceDigits, violation.LimitOfDecimals
	case c.total.known && change.number.Cmp(highest) > 0:
		limit, subject = number(highest), violation.LimitOfAmount
	default:
		return
	}
	c.violations.Add(change.pos, member("", change.name), violation.LimitExceeded, violation.Params{"limit": limit}, subject)
}

// checkRanges checks the numbers of persons and of the address (policy O19).
func (c fieldCheck) checkRanges() {
	address := member("", c.order.address.nameOr("address"))
	inRange := func(v *value, base string, low, high int64) {
		if v.state == readable && (v.number.Cmp(jsontext.Whole(low)) < 0 || v.number.Cmp(jsontext.Whole(high)) > 0) {
			allowed := []string{fmt.Sprintf("%d…%d", low, high)}
			refuseValue(&c.violations, v, base, violation.ValueNotAllowed, violation.Params{"allowed": allowed})
		}
	}
	inRange(&c.order.values[orderPersons], "", 1, 999)
	inRange(&c.order.address.values[addressLat], address, -90, 90)
	inRange(&c.order.address.values[addressLon], address, -180, 180)
	inRange(&c.order.address.values[addressFloor], address, math.MinInt32, math.MaxInt32)
}

// checkExpectedAt checks the expected time (policy O4).
func (c fieldCheck) checkExpectedAt() {
	v := &c.order.values[orderExpectedAt]
	if v.blank() {
		if c.V1 && c.order.soonest {
			c.expectedAt = c.now.Add(c.LeadTime).In(c.location).Truncate(time.Second)
		}
		return
	}
	if v.state != readable {
		return
	}
	at, ok := readTime(&c.violations, v, "")
	if !ok {
		return
	}
	c.expectedAt = at
	latest := c.now.Add(c.MaxLead)
	switch {
	case at.Before(c.now.Add(-c.PastTolerance)):
		refuseValue(&c.violations, v, "", violation.TimeInPast, violation.Params{"earliest": menu.FormatTime(c.now)})
	case at.After(latest):
		refuseValue(&c.violations, v, "", violation.TimeTooFar, violation.Params{"latest": menu.FormatTime(latest)})
	}
}

// The limits of texts, in characters (policy H10).
const (
	maxName = 200
	maxText = 1000 // a comment, or a part of the address

	minPhoneDigits = 5
	maxPhoneDigits = 15 // of a guest without a token (policy O19)
)

// checkTexts rejects texts that are too long or contain control characters, and invalid phone numbers (policy H10).
func (c fieldCheck) checkTexts() {
	o := c.order
	checkTextsOf(&c.violations, &o.object, "")
	checkTextsOf(&c.violations, &o.guest, member("", o.guest.nameOr("guest")))
	checkTextsOf(&c.violations, &o.address, member("", o.address.nameOr("address")))
	phone := &o.guest.values[guestPhone]
	if phone.state != readable || phone.blank() {
		return
	}
	n, equal := digits(phone.text)
	params, wrong := violation.Params{"digits": minPhoneDigits, "maximum": any(nil)}, n < minPhoneDigits
	if c.Guest {
		params["maximum"] = maxPhoneDigits
		wrong = wrong || n > maxPhoneDigits || equal
	}
	if wrong {
		refuseValue(&c.violations, phone, member("", o.guest.nameOr("guest")), violation.PhoneInvalid, params)
	}
}

// checkTextsOf rejects texts of an object that are longer than their limit or contain control
// characters. base is the object's JSON Pointer.
func checkTextsOf(notes *violation.List, of *object, base string) {
	for i := range of.values {
		v, limit := &of.values[i], of.fields.known[i].limit
		if limit == 0 || v.text == "" || v.state != readable || v.isNumber {
			continue
		}
		if len(v.text) > limit && utf8.RuneCountInString(v.text) > limit {
			notes.Add(v.pos, member(base, v.name), violation.LimitExceeded, violation.Params{"limit": limit}, violation.LimitOfCharacters)
		}
		if i := strings.IndexFunc(v.text, isForbidden); i >= 0 {
			r, _ := utf8.DecodeRuneInString(v.text[i:])
			refuseValue(notes, v, base, violation.TextInvalid, violation.Params{"character": fmt.Sprintf("U+%04X", r)})
		}
	}
}

// isForbidden reports whether a text must not contain the character: a control character other than
// tab, CR and LF. Format characters are allowed, because texts in several scripts need them.
func isForbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\r' && r != '\n'
}

// digits counts the decimal digits of a text, in any script, and reports whether all of them are equal.
func digits(text string) (n int, equal bool) {
	var first rune
	for _, r := range text {
		if unicode.IsDigit(r) {
			if n++; n == 1 {
				first, equal = r, true
			}
			equal = equal && r == first
		}
	}
	return n, equal
}

// requiredField is a mandatory field, other than those of dishes.
type requiredField struct {
	name  string // full name in the interface: guest.phone
	outer string // guest or address; "" for the order itself
	inner string // within it: phone
	field int    // index of its table; wholeObject for guest or address itself
}

// wholeObject is the field of a requiredField that requires a guest or an address with any content.
const wholeObject = -1

// requiredFields are the mandatory fields of one type of order.
type requiredFields struct {
	all         []requiredField
	plain       [orderFieldCount]bool // mandatory plain fields of the order
	fullAddress bool                  // composed if it is missing
}

// requiredFieldsOf converts a list of Required. It omits fields that are checked elsewhere: the
// dishes, and restaurantID, which the v1 route sets and the compatible API does not need (policy
// O1a). It always adds expeditionType.
func requiredFieldsOf(names []string) requiredFields {
	var n requiredFields
	if !slices.Contains(names, "expeditionType") {
		names = append([]string{"expeditionType"}, names...)
	}
	for _, name := range names {
		outer, inner, nested := strings.Cut(name, ".")
		wanted := requiredField{name: name, outer: outer, inner: inner, field: wholeObject}
		fields := orderFields
		switch outer {
		case "guest":
			fields = guestFields
		case "address":
			fields = addressFields
		default:
			wanted.outer, wanted.inner, nested = "", name, true
		}
		if nested {
			wanted.field = slices.IndexFunc(fields.known, func(f knownField) bool { return f.name == wanted.inner })
			if wanted.field < 0 || wanted.outer == "" && wanted.field >= orderFieldCount {
				continue
			}
		}
		n.fullAddress = n.fullAddress || name == "address.fullAddress"
		if wanted.outer == "" {
			n.plain[wanted.field] = true
			if wanted.field == orderRestaurant {
				continue
			}
		}
		n.all = append(n.all, wanted)
	}
	return n
}

// required returns the mandatory fields of the order (policy O1).
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
