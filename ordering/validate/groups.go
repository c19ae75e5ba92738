package validate

import (
	"slices"

	"larder.local/internal/menu"
	"larder.local/ordering/violation"
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
	*item

	count       int64      // units per unit of the line that has the list; see item.units
	pinnedGroup menu.Index // the only group it may count for; None for any (policy M4)
	flat        bool       // its own ingredients are in the same list
	inOpenGroup bool       // an open group contains it
	tooDeep     bool       // its own groups are beyond the depth limit
}

// groupTable is the table for counting one list of ingredients: the open groups and the choices. Its memory is used for
// all lists of an order.
type groupTable struct {
	line     *item        // the line that has the list
	above    []menu.Index // the schemes that contain the line
	groups   []openGroup
	slots    []groupSlot // parallel to groups
	schemes  []openScheme
	choices  []selected
	eligible []int32 // backing array of selection.eligible

	selections []selection
	flow       assigner
}

// checkGroups checks the ingredients of a line, and theirs, against their schemes (policies M1 to M6). scheme is the
// line's scheme, and above are the schemes that contain the line.
func (c *check) checkGroups(it *item, scheme menu.Index, above []menu.Index) {
	switch {
	case it.index == menu.None:
	case scheme != menu.None:
		t := c.newTable(it, above)
		for i := range it.inner {
			part := &it.inner[i]
			t.choose(part, part.units, len(part.inner) == 0)
		}
		c.countGroups(scheme)
	case len(it.inner) > 0:
		c.refuse(it, it.ingredients.pos, violation.DishTakesNoIngredients, nil)
	}
	if !it.nested() {
		return
	}
	inside := append(slices.Clip(above), scheme)
	for i := range it.inner {
		part := &it.inner[i]
		if len(part.inner) == 0 {
			continue
		}
		own := menu.None
		if part.index != menu.None {
			own = c.Catalogue.IngredientScheme(part.index)
		}
		if slices.Contains(inside, own) { // stop at a cycle of schemes (policy M5)
			own = menu.None
		}
		c.checkGroups(part, own, inside)
	}
}

// checkFlat checks a dish again as it will be sent: with nested ingredients in one flat list (policy M5). For
// ordinary menus, an order that is valid nested is valid flat; with cycles of schemes it may not be.
func (c *check) checkFlat(dish *item, scheme menu.Index) {
	c.newTable(dish, nil).flatten(dish)
	c.countGroups(scheme)
}

func (t *groupTable) flatten(it *item) {
	for i := range it.inner {
		t.choose(&it.inner[i], it.inner[i].per, true)
		t.flatten(&it.inner[i])
	}
}

// newTable starts the table of another list.
func (c *check) newTable(line *item, above []menu.Index) *groupTable {
	t := &c.groups
	t.line, t.above = line, above
	t.groups, t.slots, t.schemes, t.choices = t.groups[:0], t.slots[:0], t.schemes[:0], t.choices[:0]
	t.eligible, t.selections = t.eligible[:0], t.selections[:0]
	return t
}

// choose adds an ingredient to the table, unless the menu does not have it.
func (t *groupTable) choose(it *item, count int64, flat bool) {
	if it.index != menu.None {
		t.choices = append(t.choices, selected{item: it, count: count, pinnedGroup: menu.None, flat: flat})
	}
}

// countGroups counts the choices for the groups of the scheme of the line.
func (c *check) countGroups(scheme menu.Index) {
	t := &c.groups
	it := t.line
	if c.work < 0 { // reported
		return
	}
	own := openScheme{scheme: scheme, owner: menu.None, parent: -1, depth: len(t.above) + 1, times: 1}
	t.open(c.Catalogue, own, it.ingredients.truncated)
	if !c.markReached() || !t.flow.assign(t.slots, c.selections(), &c.work) {
		c.refuseList(it, violation.LimitExceeded, violation.Params{"limit": workLimit}, violation.LimitOfSteps+it.title())
		return
	}
	c.reportGroups()
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
func (c *check) markReached() bool {
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
				c.openNestedScheme(ch, own, t.groups[o].scheme)
			}
		}
	}
	for i := range t.choices {
		if ch := &t.choices[i]; ch.tooDeep && !t.hasOpenGroups(ch.index) {
			c.refuse(ch.item, ch.pos, violation.TooDeep, nil)
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
func (c *check) openNestedScheme(ch *selected, scheme menu.Index, from int) {
	t := &c.groups
	if t.hasOpenGroups(ch.index) || slices.Contains(t.above, scheme) {
		return
	}
	for at := from; at >= 0; at = t.schemes[at].parent {
		if t.schemes[at].scheme == scheme {
			return // stop at a cycle of schemes
		}
	}
	depth := t.schemes[from].depth + 1
	if depth > levelsOf(c.Catalogue) {
		ch.tooDeep = slices.ContainsFunc(c.Catalogue.Limits(scheme), func(l menu.Limit) bool { return l.Min > 0 })
		return
	}
	units, unknown := int64(0), t.line.ingredients.truncated
	for i := range t.choices {
		other := &t.choices[i]
		if other.index != ch.index || !other.flat {
			continue
		}
		units += max(other.count, 0)
		unknown = unknown || other.count <= 0 || other.ingredients.truncated
	}
	t.open(c.Catalogue, openScheme{scheme: scheme, owner: ch.index, parent: from, depth: depth, times: max(units, 1)}, unknown)
}

func (t *groupTable) hasOpenGroups(owner menu.Index) bool {
	return slices.ContainsFunc(t.schemes, func(b openScheme) bool { return b.owner == owner })
}

// selections returns the choices to count, and rejects those that are in no open group. A choice
// with an unknown quantity makes its groups unknown, so that they are not checked.
func (c *check) selections() []selection {
	t := &c.groups
	for i := range t.choices {
		ch := &t.choices[i]
		if !ch.inOpenGroup {
			params := violation.Params{"id": ch.entry().ID(), "dish": dishID(t.line.dish())}
			c.refuse(ch.item, ch.pos, violation.IngredientNotAllowed, params)
			continue
		}
		c.pinGroup(ch)
		start := len(t.eligible)
		groups := c.Catalogue.GroupsOf(ch.index)
		for o := range t.groups {
			offered := &t.groups[o]
			if !hasGroup(groups, offered.group) || (ch.pinnedGroup != menu.None && ch.pinnedGroup != offered.group) {
				continue
			}
			if ch.count == unreadable {
				offered.unknown = true
				t.slots[o].min, t.slots[o].max = 0, noMaximum
				continue
			}
			t.eligible = append(t.eligible, int32(o))
		}
		if ch.count > 0 { // implies that eligible is not empty
			t.selections = append(t.selections, selection{units: ch.count, eligible: t.eligible[start:len(t.eligible):len(t.eligible)]})
		}
	}
	return t.selections
}

// pinGroup reads a choice's groupId (policy M4). If it is not an open group of the ingredient,
// pinGroup adds a violation, and the ingredient counts for any group.
func (c *check) pinGroup(ch *selected) {
	pinned := &ch.group
	if pinned.state != readable || pinned.text == "" {
		return
	}
	g, ok := c.Catalogue.GroupByID(pinned.text)
	if ok && hasGroup(c.Catalogue.GroupsOf(ch.index), g) &&
		slices.ContainsFunc(c.groups.groups, func(o openGroup) bool { return o.group == g }) {
		ch.pinnedGroup = g
		return
	}
	c.refuse(ch.item, pinned.pos, violation.GroupPinInvalid, violation.Params{"groupId": pinned.text})
}

// reportGroups adds violations for groups outside their limits (policies M1 to M3), in scheme order. The groups of a part
// are reported at its own line, or at the list if the order is flat (policy M13).
func (c *check) reportGroups() {
	t := &c.groups
	for i, d := range t.slots {
		if t.groups[i].unknown || d.distance() == 0 {
			continue
		}
		from := &t.schemes[t.groups[i].scheme]
		at := t.linesOf(from.owner)
		switch {
		case at == nil:
			at = []*item{t.line}
		case d.count > 0: // the ingredients in this list are those of the first parts
			at = at[len(at)-1:]
		default: // each part lacks its own
			d.min /= from.times
			if d.max != noMaximum {
				d.max /= from.times
			}
		}
		for _, it := range at {
			c.reportGroup(it, from.owner, t.groups[i].group, d)
		}
	}
}

// linesOf returns the lines of a part whose groups are counted in the list. It returns nil if the order is flat:
// no part has ingredients, and a line of the list can only count for a part.
func (t *groupTable) linesOf(part menu.Index) (lines []*item) {
	nested := t.line.dish().nested()
	ofList := func(slot int32) bool { return t.schemes[t.groups[slot].scheme].owner == menu.None }
	flat := slices.ContainsFunc(t.selections, func(s selection) bool { return !slices.ContainsFunc(s.eligible, ofList) })
	for i := range t.choices {
		if ch := &t.choices[i]; ch.index == part && ch.flat && (nested || !flat) {
			lines = append(lines, ch.item)
		}
	}
	return lines
}

// reportGroup adds a violation for a group at the ingredients of a line. part has the group; None if the line has it.
func (c *check) reportGroup(it *item, part, index menu.Index, d groupSlot) {
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
	if part == menu.None && it.parent != nil {
		part = it.index
	}
	if part != menu.None {
		ingredient := c.Catalogue.Ingredients().At(part)
		params["parent"] = violation.Params{"id": ingredient.ID(), "name": ingredient.Name()}
	}
	c.refuseList(it, code, params, group.Name)
}

// refuseList adds a violation for the ingredients of a line, which may be missing.
func (c *check) refuseList(it *item, code violation.Code, params violation.Params, subject string) {
	c.add(it.placeOf(it.ingredients.pos, "ingredients"), code, params, subject)
}

// dishID returns the menu's id of a dish, or the one that the client sent.
func dishID(dish *item) string {
	if dish.index == menu.None {
		return dish.id.text
	}
	return dish.entry().ID()
}
