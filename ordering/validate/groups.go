package validate

import (
	"slices"
	"strings"

	"larder/internal/menu"
	"larder/ordering/violation"
)

// openGroup is a group that applies to one list of ingredients. It belongs to the scheme of the dish or
// ingredient that has the list, or to the scheme of an ingredient chosen flat in the list (policy M5).
type openGroup struct {
	group   menu.Index
	scheme  int  // index in schemes
	unknown bool // a quantity in it is not known, so it is not checked
}

// openScheme is a scheme whose groups apply to the list.
type openScheme struct {
	scheme menu.Index
	owner  menu.Index // the chosen ingredient; None for the list's own scheme
	parent int        // the scheme that contains the owner; -1 for none
	depth  int        // level of modifiers, 1 for a dish's own
	times  int64      // the limits are multiplied by it
}

// selected is one ingredient of the list that the menu has.
type selected struct {
	line        int32
	index       menu.Index
	units       int64      // see item
	pinnedGroup menu.Index // the only group it may count for; None for any (policy M4)
	flat        bool       // its own ingredients are in the same list
	inOpenGroup bool       // an open group contains it
	tooDeep     bool       // its own groups are beyond the depth limit
}

// groupTable is the table for counting one list of ingredients: the open groups and the choices.
type groupTable struct {
	groups   []openGroup
	slots    []groupSlot // parallel to groups
	schemes  []openScheme
	choices  []selected
	eligible []int32 // backing array of selection.eligible

	selections []selection
	flow       assigner
}

// checkGroups checks one list of ingredients against its schemes (policies M1 to M6).
func (c *validation) checkGroups(n int32, scheme menu.Index, above []menu.Index) {
	l := &c.order.lines[n]
	if scheme == menu.None {
		if l.first != none {
			c.refuse(n, l.list, violation.DishTakesNoIngredients, nil)
		}
		return
	}
	t := &c.groups
	t.reset()
	for child := l.first; child != none; child = c.order.lines[child].next {
		t.choose(child, &c.items[child], c.items[child].units, c.order.lines[child].first == none)
	}
	c.countGroups(n, scheme, above)
}

// checkFlat checks a dish again as it will be sent: with nested ingredients in one flat list (policy M5). For
// ordinary menus, an order that is valid nested is valid flat; with cycles of schemes it may not be.
func (c *validation) checkFlat(n int32, scheme menu.Index) {
	c.groups.reset()
	c.flatten(n)
	c.countGroups(n, scheme, nil)
}

func (c *validation) flatten(n int32) {
	for child := c.order.lines[n].first; child != none; child = c.order.lines[child].next {
		c.groups.choose(child, &c.items[child], c.items[child].per, true)
		c.flatten(child)
	}
}

func (t *groupTable) reset() {
	t.groups, t.slots, t.schemes, t.choices = t.groups[:0], t.slots[:0], t.schemes[:0], t.choices[:0]
	t.eligible = t.eligible[:0]
}

// choose adds an ingredient to the table, unless the menu does not have it.
func (t *groupTable) choose(line int32, it *item, units int64, flat bool) {
	if it.index != menu.None {
		t.choices = append(t.choices, selected{
			line:        line,
			index:       it.index,
			units:       units,
			pinnedGroup: menu.None,
			flat:        flat,
		})
	}
}

// countGroups counts the choices for the groups of the scheme of line n.
func (c *validation) countGroups(n int32, scheme menu.Index, above []menu.Index) {
	t := &c.groups
	l := &c.order.lines[n]
	t.open(c.Catalogue, openScheme{scheme: scheme, owner: menu.None, parent: -1, depth: l.depth + 1, times: 1}, l.truncated)
	if !c.markReached(n, above) || !t.flow.assign(t.slots, c.selections(n), &c.work) {
		c.refuseList(n, violation.LimitExceeded, violation.Params{"limit": assignmentWork}, violation.LimitOfSteps+c.itemName(n))
		return
	}
	c.reportGroups(n)
}

// open adds the groups of a scheme.
func (t *groupTable) open(catalogue *menu.Catalogue, b openScheme, unknown bool) {
	t.schemes = append(t.schemes, b)
	for _, limit := range catalogue.Limits(b.scheme) {
		d := groupSlot{max: noMaximum}
		if !unknown {
			d.min = int64(limit.Min) * b.times
		}
		if !unknown && limit.Max != menu.Unlimited {
			d.max = int64(limit.Max) * b.times
		}
		t.slots = append(t.slots, d)
		t.groups = append(t.groups, openGroup{group: limit.Group, scheme: len(t.schemes) - 1, unknown: unknown})
	}
}

// markReached marks the choices that are in an open group, and opens the groups of choices that
// have their own scheme. It returns false if the order's work is used up.
func (c *validation) markReached(n int32, above []menu.Index) bool {
	t := &c.groups
	for o := 0; o < len(t.groups); o++ { // t.groups grows in the loop
		if c.work -= len(t.choices); c.work < 0 {
			return false
		}
		for i := range t.choices {
			ch := &t.choices[i]
			if !hasGroup(c.Catalogue.GroupsOf(ch.index), t.groups[o].group) {
				continue
			}
			ch.inOpenGroup = true
			if own := c.Catalogue.IngredientScheme(ch.index); own != menu.None && ch.flat {
				c.openNestedScheme(n, ch, own, t.groups[o].scheme, above)
			}
		}
	}
	for i := range t.choices {
		if ch := &t.choices[i]; ch.tooDeep && !t.hasOpenGroups(ch.index) {
			c.refuseLine(ch.line, violation.TooDeep, nil, c.itemName(ch.line))
		}
	}
	return true
}

// hasGroup reports whether the sorted groups of an ingredient contain a group.
func hasGroup(groups []menu.Index, group menu.Index) bool {
	if len(groups) == 1 {
		return groups[0] == group
	}
	_, found := slices.BinarySearch(groups, group)
	return found
}

// openNestedScheme opens the groups of a chosen ingredient whose own ingredients are in the same
// list. It does so once, with the limits multiplied by the quantity (policy M5).
func (c *validation) openNestedScheme(n int32, ch *selected, scheme menu.Index, from int, above []menu.Index) {
	t := &c.groups
	if t.hasOpenGroups(ch.index) || slices.Contains(above, scheme) {
		return
	}
	for at := from; at >= 0; at = t.schemes[at].parent {
		if t.schemes[at].scheme == scheme {
			return // stop at a cycle of schemes
		}
	}
	depth := t.schemes[from].depth + 1
	if depth > c.levels() {
		ch.tooDeep = slices.ContainsFunc(c.Catalogue.Limits(scheme), func(l menu.Limit) bool { return l.Min > 0 })
		return
	}
	units, unknown := int64(0), c.order.lines[n].truncated
	for i := range t.choices {
		other := &t.choices[i]
		if other.index != ch.index || !other.flat {
			continue
		}
		units += max(other.units, 0)
		unknown = unknown || other.units <= 0 || c.order.lines[other.line].truncated
	}
	t.open(c.Catalogue, openScheme{scheme: scheme, owner: ch.index, parent: from, depth: depth, times: max(units, 1)}, unknown)
}

func (t *groupTable) hasOpenGroups(owner menu.Index) bool {
	return slices.ContainsFunc(t.schemes, func(b openScheme) bool { return b.owner == owner })
}

// selections returns the choices to count, and rejects those that are in no open group. A choice
// with an unknown quantity makes its groups unknown, so that they are not checked.
func (c *validation) selections(n int32) []selection {
	t := &c.groups
	t.selections = t.selections[:0]
	for i := range t.choices {
		ch := &t.choices[i]
		if !ch.inOpenGroup {
			ingredient := c.Catalogue.Ingredients().At(ch.index)
			c.refuseLine(ch.line, violation.IngredientNotAllowed,
				violation.Params{"id": ingredient.ID(), "dish": c.dishID(n)}, ingredient.Name())
			continue
		}
		c.pinGroup(ch)
		units := ch.units
		start := len(t.eligible)
		groups := c.Catalogue.GroupsOf(ch.index)
		for o := range t.groups {
			offered := &t.groups[o]
			if !hasGroup(groups, offered.group) || (ch.pinnedGroup != menu.None && ch.pinnedGroup != offered.group) {
				continue
			}
			if units == unreadable {
				offered.unknown = true
				t.slots[o].min, t.slots[o].max = 0, noMaximum
				continue
			}
			t.eligible = append(t.eligible, int32(o))
		}
		if units > 0 { // implies that eligible is not empty
			t.selections = append(t.selections, selection{units: units, eligible: t.eligible[start:len(t.eligible):len(t.eligible)]})
		}
	}
	return t.selections
}

// pinGroup reads a choice's groupId (policy M4). If it is not an open group of the ingredient,
// pinGroup adds a violation, and the ingredient counts for any group.
func (c *validation) pinGroup(ch *selected) {
	pinned := &c.order.lines[ch.line].group
	if pinned.state != readable || pinned.text == "" {
		return
	}
	g, ok := c.Catalogue.GroupByID(pinned.text)
	if ok && hasGroup(c.Catalogue.GroupsOf(ch.index), g) &&
		slices.ContainsFunc(c.groups.groups, func(o openGroup) bool { return o.group == g }) {
		ch.pinnedGroup = g
		return
	}
	c.refuse(ch.line, pinned.position, violation.GroupPinInvalid, violation.Params{"groupId": strings.Clone(pinned.text)})
}

// reportGroups adds violations for groups outside their limits (policies M1 to M3), in scheme order. The groups of a part
// are reported at its own line, or at the list if the order is flat (policy M13).
func (c *validation) reportGroups(n int32) {
	t := &c.groups
	for i, d := range t.slots {
		if t.groups[i].unknown || d.distance() == 0 {
			continue
		}
		from := &t.schemes[t.groups[i].scheme]
		at := linesOf(c, n, from.owner)
		switch {
		case at == nil:
			at = []int32{n}
		case d.count > 0: // the ingredients in this list are those of the first parts
			at = at[len(at)-1:]
		default: // each part lacks its own
			d.min /= from.times
			if d.max != noMaximum {
				d.max /= from.times
			}
		}
		for _, line := range at {
			reportGroup(c, line, from.owner, t.groups[i].group, d)
		}
	}
}

// linesOf returns the lines of a part whose groups are counted in the list of line n. It returns nil if the order is flat:
// no part has ingredients, and a line of the list of n can only count for a part.
func linesOf(c *validation, n int32, part menu.Index) (lines []int32) {
	t, all := &c.groups, c.order.lines
	nested := false
	for i := int(c.order.dishOf(n)) + 1; i < len(all) && all[i].parent != none; i++ {
		nested = nested || all[i].first != none
	}
	ofList := func(slot int32) bool { return t.schemes[t.groups[slot].scheme].owner == menu.None }
	flat := slices.ContainsFunc(t.selections, func(s selection) bool { return !slices.ContainsFunc(s.eligible, ofList) })
	for i := range t.choices {
		if ch := &t.choices[i]; ch.index == part && ch.flat && (nested || !flat) {
			lines = append(lines, ch.line)
		}
	}
	return lines
}

// reportGroup adds a violation for a group at the ingredients of line n. part has the group; None if the line has it.
func reportGroup(c *validation, n int32, part, index menu.Index, d groupSlot) {
	group, code := &c.Catalogue.Groups()[index], violation.GroupMin
	if d.count > d.min {
		code = violation.GroupMax
	}
	params := violation.Params{
		"group": group.ID,
		"name":  group.Name,
		"min":   d.min,
		"max":   any(nil),
		"count": d.count,
	}
	if d.max != noMaximum {
		params["max"] = d.max
	}
	if part == menu.None && c.order.lines[n].parent != none {
		part = c.items[n].index
	}
	if part != menu.None {
		ingredient := c.Catalogue.Ingredients().At(part)
		params["parent"] = violation.Params{"id": ingredient.ID(), "name": ingredient.Name()}
	}
	c.refuseList(n, code, params, group.Name)
}

// refuseList adds a violation for the ingredients of a line, which may be missing.
func (c *validation) refuseList(n int32, code violation.Code, params violation.Params, subject string) {
	l := &c.order.lines[n]
	c.violations.Add(l.list.posOr(l.end), member(c.order.linePath(n), l.list.nameOr("ingredients")), code, params, subject)
}

// itemName returns the menu's name of a line; it is empty if the menu has none.
func (c *validation) itemName(n int32) string {
	if i := c.items[n].index; i != menu.None {
		return c.itemsOf(n).At(i).Name()
	}
	return ""
}

// dishID returns the menu's id of the dish that contains line n.
func (c *validation) dishID(n int32) string {
	n = c.order.dishOf(n)
	if i := c.items[n].index; i != menu.None {
		return c.Catalogue.Products().At(i).ID()
	}
	return strings.Clone(c.order.lines[n].id.text)
}
