package ordering

import (
	"slices"
	"strings"

	"larder/internal/menu"
)

// offer is one group that stands open in one list of ingredients: of the
// scheme of the dish (or of the ingredient that holds the list), or of the
// scheme of an ingredient that was chosen flat beside it (policy M5).
type offer struct {
	group menu.Index
	block int  // whose scheme
	vague bool // what was ordered of it cannot be told: it is not judged
}

// block is one scheme that stands open, and how it came to.
type block struct {
	scheme menu.Index
	owner  menu.Index // the chosen ingredient; None for the list's own scheme
	parent int        // the block that offered the owner; -1 for none
	depth  int        // level of modifiers, 1 for a dish's own
}

// choice is one ingredient of the list, as far as the menu has it.
type choice struct {
	line    int32
	index   menu.Index
	units   int64      // as in item
	pin     menu.Index // the only group it may count for; None = any (policy M4)
	flat    bool       // its own ingredients stand beside it, not in a list of its own
	reached bool       // it stands in an open group
	deep    bool       // its own groups lie beyond the depth limit
}

// table is one list of ingredients laid out for counting: the groups that
// stand open and what is to be counted for them.
type table struct {
	offers  []offer
	demands []demand // beside offers
	blocks  []block
	choices []choice
	may     []int32 // room for what supplies may count for

	supplies []supply
	flow     flow
}

// checkGroups judges one list of ingredients by its schemes (policies M1 to
// M6).
func (c *check) checkGroups(n int32, scheme menu.Index, above []menu.Index) {
	l := &c.order.lines[n]
	if scheme == menu.None {
		if l.first != none {
			c.add(l.list.at, member(c.path(n), l.list.name), DishTakesNoIngredients, nil, c.itemName(n))
		}
		return
	}
	t := &c.table
	t.reset()
	for child := l.first; child != none; child = c.order.lines[child].next {
		t.choose(child, &c.items[child], c.items[child].units, c.order.lines[child].first == none)
	}
	c.judge(n, scheme, above)
}

// checkFlat judges a dish once more as it will be sent: with the ingredients of
// its ingredients beside them (policy M5). For an ordinary menu what is right
// nested is right flat; where schemes run in a circle it may not be.
func (c *check) checkFlat(n int32, scheme menu.Index) {
	c.table.reset()
	c.flatten(n)
	c.judge(n, scheme, nil)
}

func (c *check) flatten(n int32) {
	for child := c.order.lines[n].first; child != none; child = c.order.lines[child].next {
		c.table.choose(child, &c.items[child], c.items[child].per, true)
		c.flatten(child)
	}
}

func (t *table) reset() {
	t.offers, t.demands, t.blocks, t.choices = t.offers[:0], t.demands[:0], t.blocks[:0], t.choices[:0]
	t.may = t.may[:0]
}

// choose lays an ingredient on the table; one that the menu has not is left
// out.
func (t *table) choose(line int32, it *item, units int64, flat bool) {
	if it.index != menu.None {
		t.choices = append(t.choices, choice{line: line, index: it.index, units: units, pin: menu.None, flat: flat})
	}
}

// judge counts what is on the table for the groups of the line n's scheme.
func (c *check) judge(n int32, scheme menu.Index, above []menu.Index) {
	t := &c.table
	l := &c.order.lines[n]
	t.open(c.Catalogue, block{scheme: scheme, owner: menu.None, parent: -1, depth: l.depth + 1}, 1, l.cut)
	if !c.reach(n, above) || !t.flow.assign(t.demands, c.supplies(n), &c.work) {
		c.add(c.listAt(n), c.listPath(n), LimitExceeded, Params{"limit": assignmentWork}, limitSteps+c.itemName(n))
		return
	}
	c.reportGroups(n)
}

// open adds the groups of a scheme, limits multiplied.
func (t *table) open(catalogue *menu.Catalogue, b block, times int64, vague bool) {
	t.blocks = append(t.blocks, b)
	for _, limit := range catalogue.Limits(b.scheme) {
		d := demand{max: noMaximum}
		if !vague {
			d.min = int64(limit.Min) * times
		}
		if !vague && limit.Max != menu.Unlimited {
			d.max = int64(limit.Max) * times
		}
		t.demands = append(t.demands, d)
		t.offers = append(t.offers, offer{group: limit.Group, block: len(t.blocks) - 1, vague: vague})
	}
}

// reach finds which choices stand in an open group, and opens the groups of
// those that have a scheme of their own. False when the order's work does not
// allow it.
func (c *check) reach(n int32, above []menu.Index) bool {
	t := &c.table
	for o := 0; o < len(t.offers); o++ { // grows while we walk
		if c.work -= len(t.choices); c.work < 0 {
			return false
		}
		for i := range t.choices {
			ch := &t.choices[i]
			if !standsIn(c.Catalogue.GroupsOf(ch.index), t.offers[o].group) {
				continue
			}
			ch.reached = true
			if own := c.Catalogue.IngredientScheme(ch.index); own != menu.None && ch.flat {
				c.unfold(n, ch, own, t.offers[o].block, above)
			}
		}
	}
	for i := range t.choices {
		if ch := &t.choices[i]; ch.deep && !t.opened(ch.index) {
			c.add(c.order.lines[ch.line].at, c.path(ch.line), TooDeep, nil, c.itemName(ch.line))
		}
	}
	return true
}

// standsIn looks for a group among those of an ingredient, which are sorted.
func standsIn(groups []menu.Index, group menu.Index) bool {
	if len(groups) == 1 {
		return groups[0] == group
	}
	_, found := slices.BinarySearch(groups, group)
	return found
}

// unfold opens the groups of a chosen ingredient whose own ingredients the
// client sent flat, beside it: once, with limits times its quantity (policy
// M5).
func (c *check) unfold(n int32, ch *choice, scheme menu.Index, from int, above []menu.Index) {
	t := &c.table
	if t.opened(ch.index) || slices.Contains(above, scheme) {
		return
	}
	for at := from; at >= 0; at = t.blocks[at].parent {
		if t.blocks[at].scheme == scheme {
			return // a cycle of schemes is cut where it closes
		}
	}
	depth := t.blocks[from].depth + 1
	if depth > c.levels() {
		ch.deep = slices.ContainsFunc(c.Catalogue.Limits(scheme), func(l menu.Limit) bool { return l.Min > 0 })
		return
	}
	units, vague := int64(0), c.order.lines[n].cut
	for i := range t.choices {
		other := &t.choices[i]
		if other.index != ch.index || !other.flat {
			continue
		}
		units += max(other.units, 0)
		vague = vague || other.units <= 0 || c.order.lines[other.line].cut
	}
	b := block{scheme: scheme, owner: ch.index, parent: from, depth: depth}
	t.open(c.Catalogue, b, max(units, 1), vague)
}

// opened tells whether the groups of a chosen ingredient stand open.
func (t *table) opened(owner menu.Index) bool {
	return slices.ContainsFunc(t.blocks, func(b block) bool { return b.owner == owner })
}

// supplies lists what is to be counted, and refuses what stands in no open
// group. A quantity that cannot be told makes its groups vague: they are not
// judged.
func (c *check) supplies(n int32) []supply {
	t := &c.table
	t.supplies = t.supplies[:0]
	for i := range t.choices {
		ch := &t.choices[i]
		if !ch.reached {
			ingredient := c.Catalogue.Ingredient(ch.index)
			c.add(c.order.lines[ch.line].at, c.path(ch.line), IngredientNotAllowed,
				Params{"id": ingredient.ID(), "dish": c.dishID(n)}, ingredient.Name())
			continue
		}
		c.pin(ch)
		units := ch.units
		start := len(t.may)
		groups := c.Catalogue.GroupsOf(ch.index)
		for o := range t.offers {
			offered := &t.offers[o]
			if !standsIn(groups, offered.group) || (ch.pin != menu.None && ch.pin != offered.group) {
				continue
			}
			if units == unreadable {
				offered.vague = true
				t.demands[o].min, t.demands[o].max = 0, noMaximum
				continue
			}
			t.may = append(t.may, int32(o))
		}
		if units > 0 { // and so may is not empty: the choice was reached
			t.supplies = append(t.supplies, supply{units: units, may: t.may[start:len(t.may):len(t.may)]})
		}
	}
	return t.supplies
}

// pin reads a choice's groupId (policy M4). One that is no open group of the
// ingredient is refused, and the ingredient counted for any.
func (c *check) pin(ch *choice) {
	pinned := &c.order.lines[ch.line].group
	if pinned.state != readable || pinned.text == "" {
		return
	}
	g, ok := c.Catalogue.GroupByID(pinned.text)
	if ok && standsIn(c.Catalogue.GroupsOf(ch.index), g) &&
		slices.ContainsFunc(c.table.offers, func(o offer) bool { return o.group == g }) {
		ch.pin = g
		return
	}
	c.add(pinned.at, member(c.path(ch.line), pinned.name), GroupPinInvalid,
		Params{"groupId": strings.Clone(pinned.text)}, c.itemName(ch.line))
}

// reportGroups refuses the groups whose count is outside their limits (policies
// M1 to M3), in scheme order.
func (c *check) reportGroups(n int32) {
	t := &c.table
	for i := range t.demands {
		d := &t.demands[i]
		code := GroupMin
		switch {
		case t.offers[i].vague || d.off() == 0:
			continue
		case d.count > d.min:
			code = GroupMax
		}
		group := &c.Catalogue.Groups()[t.offers[i].group]
		params := Params{"group": group.ID, "name": group.Name, "min": d.min, "max": any(nil), "count": d.count}
		if d.max != noMaximum {
			params["max"] = d.max
		}
		c.add(c.listAt(n), c.listPath(n), code, params, group.Name)
	}
}

// listPath gives the JSON Pointer of the line's ingredients, there or not.
func (c *check) listPath(n int32) string {
	return member(c.path(n), c.order.lines[n].list.or("ingredients"))
}

func (c *check) listAt(n int32) int32 {
	l := &c.order.lines[n]
	return l.missing(l.list.spot)
}

// itemName gives the menu's name of a line; empty where the menu has none.
func (c *check) itemName(n int32) string {
	i := c.items[n].index
	switch {
	case i == menu.None:
		return ""
	case c.order.lines[n].parent == none:
		return c.Catalogue.Product(i).Name()
	default:
		return c.Catalogue.Ingredient(i).Name()
	}
}

// dishID gives the menu's id of the dish that the line n is part of.
func (c *check) dishID(n int32) string {
	for c.order.lines[n].parent != none {
		n = c.order.lines[n].parent
	}
	if i := c.items[n].index; i != menu.None {
		return c.Catalogue.Product(i).ID()
	}
	return strings.Clone(c.order.lines[n].id.text)
}
