package ordering

import (
	"slices"

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
	pin     menu.Index // the only group it may count for; None = any (policy M4)
	reached bool       // it stands in an open group
}

// table is one list of ingredients laid out for counting: the groups that
// stand open and what is to be counted for them.
type table struct {
	offers  []offer
	demands []demand // beside offers
	blocks  []block
	choices []choice
	may     []int32 // room for what supplies may count for
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
	t.offers, t.demands, t.blocks, t.choices = t.offers[:0], t.demands[:0], t.blocks[:0], t.choices[:0]
	t.may = t.may[:0]
	t.open(c.Catalogue, block{scheme: scheme, owner: menu.None, parent: -1, depth: l.depth + 1}, 1, l.cut)
	for child := l.first; child != none; child = c.order.lines[child].next {
		if i := c.items[child].index; i != menu.None {
			t.choices = append(t.choices, choice{line: child, index: i, pin: menu.None})
		}
	}
	c.reach(n, above)
	supplies := c.supplies(n)
	if !assign(t.demands, supplies, &c.work) {
		c.add(c.listAt(n), c.listPath(n), LimitExceeded, Params{"limit": assignmentWork}, c.itemName(n))
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

// reach finds which choices stand in an open group, level by level, and opens
// the groups of those that have a scheme of their own.
func (c *check) reach(n int32, above []menu.Index) {
	t := &c.table
	for from := 0; from < len(t.offers); {
		to := len(t.offers)
		for i := range t.choices {
			ch := &t.choices[i]
			if ch.reached {
				continue
			}
			groups := c.Catalogue.GroupsOf(ch.index)
			for _, offered := range t.offers[from:to] {
				if slices.Contains(groups, offered.group) {
					ch.reached = true
					c.unfold(n, ch, t.blocks[offered.block], offered.block, above)
					break
				}
			}
		}
		from = to
	}
}

// unfold opens the groups of a chosen ingredient whose own ingredients the
// client sent flat, beside it: once, with limits times its quantity (policy
// M5). One that has a list of its own is judged by that.
func (c *check) unfold(n int32, ch *choice, from block, fromBlock int, above []menu.Index) {
	t := &c.table
	scheme := c.Catalogue.IngredientScheme(ch.index)
	if scheme == menu.None || len(c.Catalogue.Limits(scheme)) == 0 {
		return
	}
	for i := range t.blocks {
		if t.blocks[i].owner == ch.index {
			return
		}
	}
	if slices.Contains(above, scheme) {
		return // a cycle of schemes is cut where it closes
	}
	for at := fromBlock; at >= 0; at = t.blocks[at].parent {
		if t.blocks[at].scheme == scheme {
			return
		}
	}
	units, flat, vague := int64(0), false, c.order.lines[n].cut
	for i := range t.choices {
		other := &t.choices[i]
		l := &c.order.lines[other.line]
		if other.index != ch.index || l.first != none {
			continue
		}
		flat = true
		if count := c.items[other.line].units; count > 0 {
			units += count
		} else {
			vague = true
		}
		vague = vague || l.cut
	}
	if !flat {
		return
	}
	if from.depth >= c.levels() {
		if slices.ContainsFunc(c.Catalogue.Limits(scheme), func(l menu.Limit) bool { return l.Min > 0 }) {
			c.add(c.order.lines[ch.line].at, c.path(ch.line), TooDeep, nil, c.itemName(ch.line))
		}
		return
	}
	b := block{scheme: scheme, owner: ch.index, parent: fromBlock, depth: from.depth + 1}
	t.open(c.Catalogue, b, max(units, 1), vague)
}

// supplies lists what is to be counted, and refuses what stands in no open
// group. A quantity that cannot be told makes its groups vague: they are not
// judged.
func (c *check) supplies(n int32) []supply {
	t := &c.table
	supplies := make([]supply, 0, len(t.choices))
	for i := range t.choices {
		ch := &t.choices[i]
		if !ch.reached {
			ingredient := c.Catalogue.Ingredient(ch.index)
			c.add(c.order.lines[ch.line].at, c.path(ch.line), IngredientNotAllowed,
				Params{"id": ingredient.ID, "dish": c.dishID(n)}, ingredient.Name)
			continue
		}
		c.pin(ch)
		units := c.items[ch.line].units
		start := len(t.may)
		groups := c.Catalogue.GroupsOf(ch.index)
		for o := range t.offers {
			offered := &t.offers[o]
			if !slices.Contains(groups, offered.group) || (ch.pin != menu.None && ch.pin != offered.group) {
				continue
			}
			if units == unreadable {
				offered.vague = true
				t.demands[o].min, t.demands[o].max = 0, noMaximum
				continue
			}
			t.may = append(t.may, int32(o)) //nolint:gosec // bounded by the menu's schemes
		}
		if units > 0 { // and so may is not empty: the choice was reached
			supplies = append(supplies, supply{units: units, may: t.may[start:len(t.may):len(t.may)]})
		}
	}
	return supplies
}

// pin reads a choice's groupId (policy M4). One that is no open group of the
// ingredient is refused, and the ingredient counted for any.
func (c *check) pin(ch *choice) {
	pinned := &c.order.lines[ch.line].group
	if pinned.state != readable || pinned.text == "" {
		return
	}
	g, ok := c.Catalogue.GroupByID(pinned.text)
	if ok && slices.Contains(c.Catalogue.GroupsOf(ch.index), g) &&
		slices.ContainsFunc(c.table.offers, func(o offer) bool { return o.group == g }) {
		ch.pin = g
		return
	}
	c.add(pinned.at, member(c.path(ch.line), pinned.name), GroupPinInvalid,
		Params{"groupId": pinned.text}, c.itemName(ch.line))
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
	return l.missing(&l.list)
}

// itemName gives the menu's name of a line; empty where the menu has none.
func (c *check) itemName(n int32) string {
	i := c.items[n].index
	switch {
	case i == menu.None:
		return ""
	case c.order.lines[n].parent == none:
		return c.Catalogue.Product(i).Name
	default:
		return c.Catalogue.Ingredient(i).Name
	}
}

// dishID gives the menu's id of the dish that the line n is part of.
func (c *check) dishID(n int32) string {
	for c.order.lines[n].parent != none {
		n = c.order.lines[n].parent
	}
	if i := c.items[n].index; i != menu.None {
		return c.Catalogue.Product(i).ID
	}
	return c.order.lines[n].id.text
}
