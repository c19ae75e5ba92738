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

// menuModel is a menu as the sandbox's own validation reads it: no more than what
// an order is checked against. It is read by encoding/json alone, on purpose
// apart from larder's decoder, and never changes once read.
type menuModel struct {
	dishes, parts items
	groupMembers  map[string][]string // group → ingredient ids
	groupNames    map[string]string
	schemes       map[string][]limit
}

// item is a dish or a part: an ingredient or modifier. priced is false where the
// menu gives no price that can be read.
type item struct {
	id, ext, name, scheme string
	price                 decimal.Decimal
	priced                bool
	weighed               bool // by kg or litre
}

// items are the dishes, or the parts, of a menu.
type items struct {
	list  []*item
	byID  map[string]*item
	byExt map[string][]*item
}

// limit is a group's place in a scheme; max < 0: no upper limit (policy M2).
type limit struct {
	group    string
	min, max int
}

// stopped are the ids out of stock in one restaurant.
type stopped struct{ dishes, parts map[string]bool }

// anyJSON is any JSON value, kept as it came.
type anyJSON struct{ raw json.RawMessage }

// UnmarshalJSON keeps a copy.
func (l *anyJSON) UnmarshalJSON(b []byte) error {
	l.raw = bytes.Clone(b)
	return nil
}

// text reads a string, or a number as it is written (policy W4).
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

// number reads a number or a numeric string (policy W5).
func (l *anyJSON) number() (decimal.Decimal, bool) {
	return exact(l.text())
}

// price reads a price that can be charged (policy W9a).
func (l *anyJSON) price() (decimal.Decimal, bool) {
	text := l.text()
	if mantissa, power, scaled := strings.Cut(strings.ToLower(text), "e"); scaled {
		m, ok := exact(mantissa)
		n, err := strconv.Atoi(power)
		return m.Shift(int32(n)), ok && err == nil && max(n, -n) <= 20 && !m.IsNegative() //nolint:gosec // small where it counts
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

// stops says whether a stop list names the restaurant (policy W7).
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

// exact reads a decimal of modest length without an exponent.
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
	Measure    struct {
		Unit anyJSON `json:"unit"`
	} `json:"measure"`
	Stop     anyJSON `json:"isContainInStopList"`
	Listed   anyJSON `json:"isListStoped"`
	Disabled anyJSON `json:"disabled"`
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

// readMenuModel reads a menu view and the stop list of one restaurant. Odd values
// cost only themselves; an error means that it is no JSON.
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
	c.parts = readItems(m.Ingredients, true, restaurant, out.parts) // without any price it costs nothing (policy W9a)
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
		for _, member := range g.Ingredients { // policy W9: memberships of duplicates are united
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

// readItems reads dishes or parts; unpriced says that one without a price is free.
func readItems(list []itemJSON, unpriced bool, restaurant string, out map[string]bool) items {
	all := items{byID: map[string]*item{}, byExt: map[string][]*item{}}
	for k := range list {
		p := &list[k]
		unit := p.Measure.Unit.text()
		i := &item{
			id: p.ID.text(), ext: p.ExternalID.text(), name: p.Name.text(), scheme: p.SchemeID.text(),
			weighed: unit == "kg" || unit == "liter",
		}
		if i.id == "" || all.byID[i.id] != nil {
			continue // policy W9: the first definition wins
		}
		if i.price, i.priced = p.Price.price(); p.Price.raw == nil {
			i.priced = unpriced
		}
		all.list = append(all.list, i)
		all.byID[i.id] = i
		key := cmp.Or(i.ext, i.id) // policy O2
		all.byExt[key] = append(all.byExt[key], i)
		if p.stopped(restaurant) {
			out[i.id] = true
		}
	}
	return all
}
