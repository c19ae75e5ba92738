package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/ordering/violation"
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

// checkFields checks the fields of an order other than its dishes. It returns the expected time; zero if it is missing or
// invalid.
func (c *check) checkFields(total amount) (expectedAt time.Time) {
	o := c.order
	if v := &o.restaurant; c.V1 && !v.blank() && v.state == readable && v.text != string(c.Restaurant) {
		c.refuseChoice(v, string(c.Restaurant))
	}
	c.checkListed(&o.expedition, "expeditionType", expeditionTypes)
	c.checkListed(&o.payment, "paymentTypeID", paymentTypes)
	c.checkRequired()
	expectedAt = c.checkExpectedAt()
	c.checkMinimum(total)
	c.checkChangeFrom(total)
	c.checkRange(&o.persons, 1, 999) // policy O19
	c.checkRange(&o.address.lat, -90, 90)
	c.checkRange(&o.address.lon, -180, 180)
	c.checkRange(&o.address.floor, math.MinInt32, math.MaxInt32)
	checkTexts(&c.notes, orderFields, o)
	checkTexts(&c.notes, guestFields, &o.guest)
	checkTexts(&c.notes, addressFields, &o.address)
	c.checkPhone()
	return expectedAt
}

// refuseChoice adds a violation for a value that is not one of the allowed ones.
func (n *notes) refuseChoice(v *value, allowed ...string) {
	n.add(at(v.pos), violation.ValueNotAllowed, violation.Params{"allowed": allowed}, "")
}

// lacks reports whether a mandatory field of the order is missing, which is a separate violation.
func (c *check) lacks(v *value, name string) bool { return v.blank() && c.requires(name) }

// checkListed rejects a value that is not in allowed (policy O5).
func (c *check) checkListed(v *value, name string, allowed []string) {
	if v.state == readable && v.text != "" && !slices.Contains(allowed, v.text) && !c.lacks(v, name) {
		c.refuseChoice(v, allowed...)
	}
}

func (c *check) checkRange(v *value, low, high int64) {
	if v.state == readable && (v.number.Cmp(jsontext.Whole(low)) < 0 || v.number.Cmp(jsontext.Whole(high)) > 0) {
		c.refuseChoice(v, fmt.Sprintf("%d…%d", low, high))
	}
}

// checkRequired adds a violation for each missing mandatory field (policy O1). An object of the wrong kind already has
// one.
func (c *check) checkRequired() {
	o, wanted := c.order, c.requiredFields()
	if c.Guest && !c.requires(guestPhone.name) { // policy O19
		wanted = append(slices.Clip(wanted), guestPhone)
	}
	for _, f := range wanted {
		switch of, v := f.of(o); {
		case f.name == "expectedAt" && o.soonest: // policy O4
		case f.name == "address.fullAddress" && o.fullAddress() != "":
		case v == nil: // a guest or an address, with any content
			if of.state == absent {
				c.missing(o.placeOf(of.pos, f.name), f.name)
			}
		case of.state == refused || !v.blank():
		case of.end == 0: // the whole object is missing
			c.missing(atMember(o.end, strings.Replace(f.name, ".", "/", 1)), f.name)
		default:
			c.missing(of.placeOf(v.pos, f.inner), f.name)
		}
	}
}

// fullAddress returns the address that was sent, or one composed of its parts (policy O1).
func (o *Order) fullAddress() string {
	a := &o.address
	if !a.full.blank() {
		return a.full.text
	}
	parts := make([]string, 0, 4)
	for _, v := range []*value{&a.cityName, &a.street, &a.house, &a.apartment} {
		if !v.blank() && v.state == readable {
			parts = append(parts, v.text)
		}
	}
	return strings.Join(parts, ", ")
}

// checkChangeFrom accepts changeFrom only with cash, from the total to 100 times the total plus a million (policy O5).
func (c *check) checkChangeFrom(total amount) {
	change, payment := &c.order.changeFrom, &c.order.payment
	if change.state != readable {
		return
	}
	highest := total.Mul(jsontext.Whole(100)).Add(jsontext.Whole(1_000_000))
	switch where := at(change.pos); {
	case payment.state != refused && payment.text != cash && !c.lacks(payment, "paymentTypeID"):
		c.add(where, violation.ChangeNotCash, nil, "")
	case total.known && change.number.Cmp(total.Number) < 0:
		c.add(where, violation.ChangeTooSmall, violation.Params{"minimum": number(total.Number)}, "")
	case change.number.Round(int32(c.PriceDigits)).Cmp(change.number) != 0:
		c.add(where, violation.LimitExceeded, violation.Params{"limit": c.PriceDigits}, violation.LimitOfDecimals)
	case total.known && change.number.Cmp(highest) > 0:
		c.add(where, violation.LimitExceeded, violation.Params{"limit": number(highest)}, violation.LimitOfAmount)
	}
}

// checkExpectedAt checks and returns the expected time (policy O4).
func (c *check) checkExpectedAt() time.Time {
	v := &c.order.expectedAt
	switch {
	case v.state == refused, v.blank() && !c.order.soonest && c.requires("expectedAt"):
		return time.Time{} // a violation of its own
	case v.blank():
		soonest := c.now.Add(*c.ofType().LeadTime).In(c.location).Truncate(time.Second)
		c.checkTerms(c.order.placeOf(v.pos, "expectedAt"), soonest)
		if c.V1 && c.order.soonest {
			return soonest
		}
		return time.Time{} // the compatible API sends what it got
	}
	expectedAt, ok := readTime(&c.notes, v)
	latest := c.now.Add(c.MaxLead)
	switch {
	case !ok:
	case expectedAt.Before(c.now.Add(-c.PastTolerance)):
		c.add(at(v.pos), violation.TimeInPast, violation.Params{"earliest": menu.FormatTime(c.now)}, "")
	case expectedAt.After(latest):
		c.add(at(v.pos), violation.TimeTooFar, violation.Params{"latest": menu.FormatTime(latest)}, "")
	default:
		c.checkTerms(at(v.pos), expectedAt)
	}
	return expectedAt
}

// The limits of texts, in characters (policy H10).
const (
	maxName = 200
	maxText = 1000 // a comment, or a part of the address

	minPhoneDigits = 5
	maxPhoneDigits = 15 // of a guest without a token (policy O19)
)

// checkPhone rejects phone numbers with too few digits. That of a guest without a token has further limits (policy O19).
func (c *check) checkPhone() {
	phone := &c.order.guest.phone
	if phone.state != readable || phone.blank() {
		return
	}
	n, equal := digits(phone.text)
	if n >= minPhoneDigits && (!c.Guest || n <= maxPhoneDigits && !equal) {
		return
	}
	params := violation.Params{"digits": minPhoneDigits, "maximum": any(nil)}
	if c.Guest {
		params["maximum"] = maxPhoneDigits
	}
	c.add(at(phone.pos), violation.PhoneInvalid, params, "")
}

// checkTexts rejects texts of an object that are longer than their limit or contain control
// characters (policy H10).
func checkTexts[T any](n *notes, fields *fieldTable[T], of *T) {
	for _, f := range fields.fields {
		if f.limit == 0 {
			continue
		}
		v := f.of(of)
		if v.state != readable {
			continue
		}
		if len(v.text) > f.limit && utf8.RuneCountInString(v.text) > f.limit {
			n.add(at(v.pos), violation.LimitExceeded, violation.Params{"limit": f.limit}, violation.LimitOfCharacters)
		}
		if i := strings.IndexFunc(v.text, isForbidden); i >= 0 {
			r, _ := utf8.DecodeRuneInString(v.text[i:])
			n.add(at(v.pos), violation.TextInvalid, violation.Params{"character": fmt.Sprintf("U+%04X", r)}, "")
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
	name  string                               // full name in the interface: guest.phone
	inner string                               // in its object: phone
	of    func(*Order) (in *object, is *value) // the value is nil for a guest or an address itself
}

var guestPhone = newRequiredField("guest.phone") //nolint:gochecknoglobals // constant

func newRequiredField(name string) requiredField {
	outer, inner, _ := strings.Cut(name, ".")
	switch outer {
	case "guest":
		of := guestFields.valueOf(inner)
		return requiredField{name, inner, func(o *Order) (*object, *value) { return &o.guest.object, of(&o.guest) }}
	case "address":
		of := addressFields.valueOf(inner)
		return requiredField{name, inner, func(o *Order) (*object, *value) { return &o.address.object, of(&o.address) }}
	default:
		of := orderFields.valueOf(name)
		return requiredField{name, name, func(o *Order) (*object, *value) { return &o.object, of(o) }}
	}
}

// requiredFieldsOf converts a list of Required. It omits fields that are checked elsewhere: the
// dishes, and restaurantID, which the v1 route sets and the compatible API does not need (policy
// O1a). It always adds expeditionType.
func requiredFieldsOf(names []string) (fields []requiredField) {
	if !slices.Contains(names, "expeditionType") {
		names = append([]string{"expeditionType"}, names...)
	}
	for _, name := range names {
		if name != "restaurantID" && !strings.HasPrefix(name, "dishList") {
			fields = append(fields, newRequiredField(name))
		}
	}
	return fields
}

// requires reports whether a field of the order is mandatory.
func (c *check) requires(name string) bool {
	return slices.ContainsFunc(c.requiredFields(), func(f requiredField) bool { return f.name == name })
}

// requiredFields returns the mandatory fields of the order (policy O1).
func (c *check) requiredFields() []requiredField {
	if fields, known := c.required[c.order.expedition.text]; known {
		return fields
	}
	return c.required[""]
}
