package validate

import (
	"larder/internal/menu"
	"larder/ordering/violation"
)

// Recheck checks an order again that the service has refused. before is the menu of the first check, which accepted the
// order; req has the current menu, and the time of the first check. The result has the violations of the order now. If
// there are none, it has price_changed for each line whose price differs between the menus (policy O18).
func (v *Validator) Recheck(o *Order, req Request, before *menu.Catalogue) (*Result, error) {
	result, err := v.Check(o, req)
	if err != nil || !result.Valid {
		return result, err
	}
	then, now := v.find(o, req, before), v.find(o, req, req.Catalogue)
	for n := range o.fields.lines {
		line := int32(n)
		was, is := then.itemsOf(line).Item(then.items[n].index).Price, now.itemsOf(line).Item(now.items[n].index).Price
		if was.Cmp(is) != 0 {
			at := position{name: "price", pos: o.fields.lines[n].pos}
			now.refuse(line, at, violation.PriceChanged, violation.Params{"sent": number(was), "current": number(is)})
		}
	}
	result.Violations, result.More = now.violations.Sorted()
	v.done(then)
	v.done(now)
	return result, nil
}

// find finds the items of a valid order in a menu. The caller calls done.
func (v *Validator) find(o *Order, req Request, catalogue *menu.Catalogue) *validation {
	c, _ := v.checks.Get().(*validation)
	req.Input, req.Catalogue = o.Input, catalogue
	c.start(v, req)
	c.order, c.violations = &o.fields, violation.List{Language: req.Language}
	c.checkDishes()
	return c
}
