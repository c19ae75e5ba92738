package ordering

import (
	"slices"
	"strings"
)

// The values of expeditionType and paymentTypeID (policy O5).
const (
	delivery = "delivery"
	pickup   = "pickup"
	cash     = "cash"
)

// checkFields judges what an order has beside its dishes.
func (c *check) checkFields(result *Verdict) {
	c.checkRestaurant()
	c.checkOneOf(orderExpedition, []string{delivery, pickup})
	c.checkOneOf(orderPayment, []string{cash, "card", "online"})
	c.checkRequired()
	c.checkExpectedAt(result)
	c.checkChange(result)
}

// checkRestaurant refuses a body that names another restaurant than the native
// route does.
func (c *check) checkRestaurant() {
	named := &c.order.values[orderRestaurant]
	if c.Native && !named.blank() && named.state == readable && named.text != string(c.Restaurant) {
		c.add(named.at, member("", named.name), ValueNotAllowed, Params{"allowed": []string{string(c.Restaurant)}}, "")
	}
}

// checkOneOf refuses values that are not listed (policy O5).
func (c *check) checkOneOf(field int, allowed []string) {
	v := &c.order.values[field]
	if v.state == readable && v.text != "" && !slices.Contains(allowed, v.text) && !c.lacks(field) {
		c.add(v.at, member("", v.name), ValueNotAllowed, Params{"allowed": allowed}, "")
	}
}

// blank tells whether the value counts as missing: absent, null, or a text of
// nothing but white space. A value of another kind is not missing.
func (v *value) blank() bool {
	return v.state == absent || (v.state == readable && !v.isNumber && strings.TrimSpace(v.text) == "")
}

// lacks tells whether a plain field of the order is mandatory and missing, which
// is a violation of its own.
func (c *check) lacks(field int) bool {
	name := c.forms.order[field].name
	return c.order.values[field].blank() && (field == orderExpedition || slices.Contains(c.required(), name))
}

// required lists the mandatory fields of the order's type (policy O1). While
// the type is not known, those that every type needs.
func (c *check) required() []string {
	switch c.order.values[orderExpedition].text {
	case delivery:
		return c.Required.Delivery
	case pickup:
		return c.Required.Pickup
	}
	both := []string{}
	for _, name := range c.Required.Pickup {
		if slices.Contains(c.Required.Delivery, name) {
			both = append(both, name)
		}
	}
	return both
}

// checkRequired refuses what lacks a mandatory field (policy O1).
func (c *check) checkRequired() {
	o, names := c.order, c.required()
	if !slices.Contains(names, "expeditionType") {
		c.requireField(&o.object, c.forms.order, "", "expeditionType", "expeditionType")
	}
	for _, name := range names {
		part, inner, nested := strings.Cut(name, ".")
		switch {
		case name == "restaurantID":
			// The native route fills it, and the drop-in face takes an order
			// without (policy O1a).
		case name == "expectedAt" && o.soonest: // policy O4
		case name == "address.fullAddress" && c.fullAddress() != "":
		case name == "guest":
			c.requireObject(&o.guest, name)
		case name == "address":
			c.requireObject(&o.address, name)
		case nested && part == "guest":
			c.requireField(&o.guest, c.forms.guest, member("", o.guest.or(part)), inner, name)
		case nested && part == "address":
			c.requireField(&o.address, c.forms.address, member("", o.address.or(part)), inner, name)
		case !strings.HasPrefix(name, "dishList"): // those were judged with the dishes
			c.requireField(&o.object, c.forms.order, "", name, name)
		}
	}
}

func (c *check) requireObject(part *object, name string) {
	if part.state == absent {
		c.add(c.placeOf(part), member("", part.or(name)), FieldRequired, Params{"field": name}, "")
	}
}

// requireField refuses an object without one of its fields. An object of
// another kind was refused already.
func (c *check) requireField(of *object, fields []known, path, inner, name string) {
	i := slices.IndexFunc(fields, func(f known) bool { return f.name == inner })
	if of.state == refused || i < 0 || !of.values[i].blank() {
		return
	}
	at := c.placeOf(of)
	if of.state == readable {
		at = of.at(i)
	}
	c.add(at, member(path, of.values[i].or(inner)), FieldRequired, Params{"field": name}, "")
}

// placeOf gives the place of a guest or address, there or not.
func (c *check) placeOf(part *object) int32 {
	if part.name == "" {
		return c.order.end
	}
	return part.spot.at
}

// fullAddress gives the address in one text: as sent, or composed from its
// parts where it is missing (policy O1).
func (c *check) fullAddress() string {
	a := c.order.address.values
	if full := &a[addressFull]; !full.blank() {
		return full.text
	}
	parts := make([]string, 0, 4)
	for _, i := range []int{addressCityName, addressStreet, addressHouse, addressApartment} {
		if !a[i].blank() && a[i].state == readable {
			parts = append(parts, a[i].text)
		}
	}
	return strings.Join(parts, ", ")
}

// checkChange: changeFrom only with cash, and at least the total (policy O5).
func (c *check) checkChange(result *Verdict) {
	change := &c.order.values[orderChangeFrom]
	if change.state != readable {
		return
	}
	payment := &c.order.values[orderPayment]
	otherwise := payment.state != refused && payment.text != cash && !c.lacks(orderPayment)
	tooLittle := result.Total.Valid && change.number.LessThan(result.Total.Decimal)
	if !otherwise && !tooLittle {
		return
	}
	params := Params{"total": any(nil)}
	if result.Total.Valid {
		params["total"] = number(result.Total.Decimal)
	}
	c.add(change.at, member("", change.name), ChangeFrom, params, "")
}
