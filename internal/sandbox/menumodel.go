package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// menuModel is a menu for the validation of orders. It is decoded by
// encoding/json, independent of larder's decoder, and is immutable.
type menuModel struct {
	name          string
	dishes, parts items
	groupMembers  map[string][]string // group → ingredient ids
	groupNames    map[string]string
	schemes       map[string][]limit
	out           stopped
}

// item is a dish or a part (an ingredient or modifier). priced is false if the menu has no valid price.
type item struct {
	id, ext, name, scheme string
	price                 decimal.Decimal
	priced                bool
}

// items are the dishes or the parts of a menu.
type items struct {
	byID  map[string]*item
	byExt map[string][]*item
}

// limit is a group of a scheme; a negative max is no limit (policy M2).
type limit struct {
	group    string
	min, max int
}

// stopped are the ids that are out of stock in one restaurant.
type stopped struct{ dishes, parts map[string]bool }

// price returns a valid price (policy W5), which may be negative.
func price(text string) (decimal.Decimal, bool) {
	if mantissa, power, scaled := strings.Cut(strings.ToLower(text), "e"); scaled {
		m, ok := exact(mantissa)
		n, err := strconv.Atoi(power)
		return m.Shift(int32(n)), ok && err == nil && max(n, -n) <= 20 //nolint:gosec // n is used only if it is small
	}
	return exact(text)
}

// whole returns an integer, or 0 for any other value.
func whole(v any) int {
	d, ok := amount(v, true)
	if !ok || !d.IsInteger() || d.Abs().GreaterThan(decimal.New(1, 6)) {
		return 0
	}
	return int(d.IntPart())
}

// stops reports whether a stop list contains the restaurant (policy W7).
func stops(v any, restaurant string) bool {
	list, _ := v.([]any)
	return v == true || slices.ContainsFunc(list, func(e any) bool { return restaurant != "" && identifier(e, true) == restaurant })
}

// exact parses a decimal of limited length without an exponent.
func exact(text string) (decimal.Decimal, bool) {
	if text == "" || len(text) > 40 || strings.Trim(text, "-0123456789.") != "" {
		return decimal.Decimal{}, false
	}
	d, err := decimal.NewFromString(text)
	return d, err == nil
}

// readMenuModel decodes a menu view and the stop list of one restaurant. It
// ignores invalid values; it returns an error if the view is not valid JSON.
func readMenuModel(raw []byte, restaurant string) (*menuModel, error) {
	menu, err := readMenu(raw)
	if err != nil {
		return nil, fmt.Errorf("sandbox: menu of %s: %w", restaurant, err)
	}
	view := viewIn(menu)
	c := &menuModel{
		name: textOf(view, "name"), groupMembers: map[string][]string{}, groupNames: map[string]string{}, schemes: map[string][]limit{},
		out: stopped{dishes: map[string]bool{}, parts: map[string]bool{}},
	}
	c.dishes = readItems(objects(view, "products"), false, restaurant, c.out.dishes)
	c.parts = readItems(objects(view, "ingredients"), true, restaurant, c.out.parts) // free without a price (policy W9a)
	for _, group := range objects(view, "ingredientsGroups") {
		c.addGroup(group)
	}
	for _, scheme := range objects(view, "ingredientsSchemes") {
		c.addScheme(scheme)
	}
	return c, nil
}

// viewIn returns the menu view in a JSON value, which may have the envelope {"result": …}.
func viewIn(menu any) map[string]any {
	view, _ := menu.(map[string]any)
	if inner, ok := member(view, "result").(map[string]any); ok && member(view, "products") == nil {
		return inner
	}
	return view
}

// objects returns the objects of a list.
func objects(object map[string]any, name string) []map[string]any {
	list, _ := member(object, name).([]any)
	var found []map[string]any
	for _, v := range list {
		if o, ok := v.(map[string]any); ok {
			found = append(found, o)
		}
	}
	return found
}

// textOf returns a field with a text, or with a number as text (policy W4).
func textOf(object map[string]any, name string) string { return identifier(member(object, name), true) }

func (c *menuModel) addGroup(group map[string]any) {
	id := textOf(group, "id")
	if _, known := c.groupNames[id]; !known {
		c.groupNames[id] = textOf(group, "name")
	}
	members, _ := member(group, "ingredients").([]any)
	for _, v := range members { // policy W9: duplicates unite their members
		if text := identifier(v, true); !slices.Contains(c.groupMembers[id], text) {
			c.groupMembers[id] = append(c.groupMembers[id], text)
		}
	}
}

func (c *menuModel) addScheme(scheme map[string]any) {
	id := textOf(scheme, "id")
	limits := c.schemes[id]
	for _, g := range objects(scheme, "ingredientsGroups") {
		group := textOf(g, "id")
		_, known := c.groupNames[group]
		if !known || slices.ContainsFunc(limits, func(l limit) bool { return l.group == group }) {
			continue
		}
		l := limit{group: group, min: max(whole(member(g, "minCount")), 0), max: whole(member(g, "maxCount"))}
		if l.max <= 0 { // policy M2
			l.max = -1
		}
		limits = append(limits, l)
	}
	c.schemes[id] = limits
}

// readItems decodes dishes or parts. A part without a price is free; its price may be negative (policies W9a, W9b).
func readItems(list []map[string]any, parts bool, restaurant string, out map[string]bool) items {
	all := items{byID: map[string]*item{}, byExt: map[string][]*item{}}
	for _, p := range list {
		i := &item{
			id:     textOf(p, "id"),
			ext:    textOf(p, "externalId"),
			name:   textOf(p, "name"),
			scheme: textOf(p, "schemeId"),
		}
		if i.id == "" || all.byID[i.id] != nil {
			continue // policy W9: the first definition wins
		}
		i.price, i.priced = price(textOf(p, "price"))
		i.priced = i.priced && (parts || !i.price.IsNegative())
		if _, given := p[spelling(p, "price")]; !given {
			i.priced = parts
		}
		all.byID[i.id] = i
		key := cmp.Or(i.ext, i.id) // policy O2
		all.byExt[key] = append(all.byExt[key], i)
		if stops(member(p, "isContainInStopList"), restaurant) || stops(member(p, "isListStoped"), restaurant) ||
			stops(member(p, "disabled"), restaurant) {
			out[i.id] = true
		}
	}
	return all
}
