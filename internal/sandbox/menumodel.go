package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// menuModel is a menu for the validation of orders. It is decoded by
// encoding/json, independent of larder's decoder, and is immutable.
type menuModel struct {
	dishes, parts items
	groupMembers  map[string][]string // group → ingredient ids
	groupNames    map[string]string
	schemes       map[string][]limit
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

// anyJSON is any JSON value, unchanged.
type anyJSON struct{ raw json.RawMessage }

// UnmarshalJSON copies the value.
func (l *anyJSON) UnmarshalJSON(b []byte) error {
	l.raw = bytes.Clone(b)
	return nil
}

// text returns a string, or the text of a number (policy W4).
func (l *anyJSON) text() string {
	var s string
	if json.Unmarshal(l.raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(l.raw, &n) == nil {
		return n.String()
	}
	return ""
}

// number returns a number or a numeric string (policy W5).
func (l *anyJSON) number() (decimal.Decimal, bool) {
	return exact(l.text())
}

// price returns a valid price (policy W9a).
func (l *anyJSON) price() (decimal.Decimal, bool) {
	text := l.text()
	if mantissa, power, scaled := strings.Cut(strings.ToLower(text), "e"); scaled {
		m, ok := exact(mantissa)
		n, err := strconv.Atoi(power)
		return m.Shift(int32(n)), ok && err == nil && max(n, -n) <= 20 && !m.IsNegative() //nolint:gosec // n is used only if it is small
	}
	d, ok := exact(text)
	return d, ok && !d.IsNegative()
}

func (l *anyJSON) whole() int {
	d, ok := l.number()
	if !ok || !d.IsInteger() || d.Abs().GreaterThan(decimal.New(1, 6)) {
		return 0
	}
	return int(d.IntPart())
}

// stops reports whether a stop list contains the restaurant (policy W7).
func (l *anyJSON) stops(restaurant string) bool {
	var all bool
	if json.Unmarshal(l.raw, &all) == nil && all {
		return true
	}
	var list []anyJSON
	if json.Unmarshal(l.raw, &list) != nil {
		return false
	}
	return slices.ContainsFunc(list, func(e anyJSON) bool { return restaurant != "" && e.text() == restaurant })
}

// exact parses a decimal of limited length without an exponent.
func exact(text string) (decimal.Decimal, bool) {
	if text == "" || len(text) > 40 || strings.Trim(text, "-0123456789.") != "" {
		return decimal.Decimal{}, false
	}
	d, err := decimal.NewFromString(text)
	return d, err == nil
}

type itemJSON struct {
	ID         anyJSON `json:"id"`
	ExternalID anyJSON `json:"externalId"`
	Name       anyJSON `json:"name"`
	Price      anyJSON `json:"price"`
	SchemeID   anyJSON `json:"schemeId"`
	Stop       anyJSON `json:"isContainInStopList"`
	Listed     anyJSON `json:"isListStoped"`
	Disabled   anyJSON `json:"disabled"`
}

func (i *itemJSON) stopped(restaurant string) bool {
	return i.Stop.stops(restaurant) || i.Listed.stops(restaurant) || i.Disabled.stops(restaurant)
}

type menuJSON struct {
	Result      *menuJSON  `json:"result"`
	Products    []itemJSON `json:"products"`
	Ingredients []itemJSON `json:"ingredients"`
	Schemes     []struct {
		ID     anyJSON `json:"id"`
		Groups []struct {
			ID  anyJSON `json:"id"`
			Min anyJSON `json:"minCount"`
			Max anyJSON `json:"maxCount"`
		} `json:"ingredientsGroups"`
	} `json:"ingredientsSchemes"`
	Groups []struct {
		ID          anyJSON   `json:"id"`
		Name        anyJSON   `json:"name"`
		Ingredients []anyJSON `json:"ingredients"`
	} `json:"ingredientsGroups"`
}

// readMenuModel decodes a menu view and the stop list of one restaurant. It
// ignores invalid values; it returns an error if the view is not valid JSON.
func readMenuModel(raw []byte, restaurant string) (*menuModel, stopped, error) {
	var m menuJSON
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), &m); err != nil && !errors.As(err, &odd) {
		return nil, stopped{}, fmt.Errorf("sandbox: menu of %s: %w", restaurant, err)
	}
	if m.Result != nil && m.Products == nil {
		m = *m.Result
	}
	c := &menuModel{
		groupMembers: map[string][]string{}, groupNames: map[string]string{}, schemes: map[string][]limit{},
	}
	out := stopped{dishes: map[string]bool{}, parts: map[string]bool{}}
	c.dishes = readItems(m.Products, false, restaurant, out.dishes)
	c.parts = readItems(m.Ingredients, true, restaurant, out.parts) // free without a price (policy W9a)
	c.addGroups(&m)
	c.addSchemes(&m)
	return c, out, nil
}

func (c *menuModel) addGroups(m *menuJSON) {
	for _, g := range m.Groups {
		id := g.ID.text()
		if _, known := c.groupNames[id]; !known {
			c.groupNames[id] = g.Name.text()
		}
		for _, member := range g.Ingredients { // policy W9: duplicates unite their members
			if text := member.text(); !slices.Contains(c.groupMembers[id], text) {
				c.groupMembers[id] = append(c.groupMembers[id], text)
			}
		}
	}
}

func (c *menuModel) addSchemes(m *menuJSON) {
	for _, sc := range m.Schemes {
		id := sc.ID.text()
		limits := c.schemes[id]
		for _, g := range sc.Groups {
			group := g.ID.text()
			_, known := c.groupNames[group]
			if !known || slices.ContainsFunc(limits, func(l limit) bool { return l.group == group }) {
				continue
			}
			l := limit{group: group, min: max(g.Min.whole(), 0), max: g.Max.whole()}
			if l.max <= 0 { // policy M2
				l.max = -1
			}
			limits = append(limits, l)
		}
		c.schemes[id] = limits
	}
}

// readItems decodes dishes or parts; with unpriced, an item without a price is free.
func readItems(list []itemJSON, unpriced bool, restaurant string, out map[string]bool) items {
	all := items{byID: map[string]*item{}, byExt: map[string][]*item{}}
	for k := range list {
		p := &list[k]
		i := &item{
			id:     p.ID.text(),
			ext:    p.ExternalID.text(),
			name:   p.Name.text(),
			scheme: p.SchemeID.text(),
		}
		if i.id == "" || all.byID[i.id] != nil {
			continue // policy W9: the first definition wins
		}
		if i.price, i.priced = p.Price.price(); p.Price.raw == nil {
			i.priced = unpriced
		}
		all.byID[i.id] = i
		key := cmp.Or(i.ext, i.id) // policy O2
		all.byExt[key] = append(all.byExt[key], i)
		if p.stopped(restaurant) {
			out[i.id] = true
		}
	}
	return all
}
