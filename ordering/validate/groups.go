package validate

import (
	"slices"

	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

// openScheme is a scheme whose groups apply to one list of ingredients. It is the scheme of the dish or ingredient that
// has the list, or of an ingredient chosen flat in the list (policy M5).
type openScheme struct {
	scheme menu.Index
	owner  menu.Index // the chosen ingredient; None for the list's own scheme
	parent int        // the scheme that contains the owner; -1 for none
	depth  int        // level of modifiers, 1 for a dish's own
	times  int64      // the limits are multiplied by it
}

// selected is one ingredient of the list that the menu has.
type selected struct {
	*Line

	count       int64      // units per unit of the line that has the list; see match.units
	pinnedGroup menu.Index // the only group it may count for; None for any (policy M4)
	flat        bool       // its own ingredients are in the same list
	inOpenGroup bool       // an open group contains it
	tooDeep     bool       // its own groups are beyond the depth limit
}

// groupTable is the table for counting one list of ingredients: the groups of the open schemes, and the choices.
type groupTable struct {
	*check

	line    *Line        // the line that has the list
	above   []menu.Index // the schemes that contain the line
	slots   []groupSlot
	schemes []openScheme
	choices []selected

	isIn       []bool // by slot and choice: the slot's group contains the choice
	selections []selection
	eligible   []int32 // of all selections
}

// emptyTable returns the check's table for another list. It reuses the memory of the list before.
func (c *check) emptyTable(it *Line, above []menu.Index) *groupTable {
	t := &c.table
	t.check, t.line, t.above = c, it, above
	t.slots, t.schemes, t.choices, t.isIn = t.slots[:0], t.schemes[:0], t.choices[:0], t.isIn[:0]
	t.selections, t.eligible = t.selections[:0], t.eligible[:0]
	return t
}

// checkGroups checks the ingredients of a line, and theirs, against their schemes (policies M1 to M6). scheme is the
// line's scheme, and above are the schemes that contain the line.
func (c *check) checkGroups(it *Line, scheme menu.Index, above []menu.Index) {
	switch {
	case it.index == menu.None:
	case scheme != menu.None:
		t := c.emptyTable(it, above)
		t.choices = slices.Grow(t.choices, len(it.ingredients.all))
		for i := range it.ingredients.all {
			part := &it.ingredients.all[i]
			t.choose(part, part.units, len(part.ingredients.all) == 0)
		}
		t.countGroups(scheme)
	case len(it.ingredients.all) > 0:
		c.refuse(it, it.ingredients.pos, violation.DishTakesNoIngredients, nil)
	}
	if !it.nested() {
		return
	}
	inside := append(slices.Clip(above), scheme)
	for i := range it.ingredients.all {
		part := &it.ingredients.all[i]
		if len(part.ingredients.all) == 0 {
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
func (c *check) checkFlat(dish *Line, scheme menu.Index) {
	t := c.emptyTable(dish, nil)
	t.flatten(dish)
	t.countGroups(scheme)
}

func (t *groupTable) flatten(it *Line) {
	for i := range it.ingredients.all {
		t.choose(&it.ingredients.all[i], it.ingredients.all[i].per, true)
		t.flatten(&it.ingredients.all[i])
	}
}

// choose adds an ingredient to the table, unless the menu does not have it.
func (t *groupTable) choose(it *Line, count int64, flat bool) {
	if it.index != menu.None {
		t.choices = append(t.choices, selected{Line: it, count: count, pinnedGroup: menu.None, flat: flat})
	}
}

// countGroups counts the choices for the groups of the scheme of the line.
func (t *groupTable) countGroups(scheme menu.Index) {
	if t.work < 0 { // reported
		return
	}
	own := openScheme{scheme: scheme, owner: menu.None, parent: -1, depth: len(t.above) + 1, times: 1}
	t.open(own, t.line.ingredients.truncated)
	if t.markReached() {
		t.selectChoices()
		if t.work >= 0 && assign(t.slots, t.selections, &t.work) {
			t.reportGroups()
			return
		}
	}
	t.refuseList(t.line, violation.LimitExceeded, violation.Params{"limit": workLimit}, violation.LimitOfSteps+t.line.title())
}

// open adds the groups of a scheme. If a quantity in them is unknown, they have no limits.
func (t *groupTable) open(s openScheme, unknown bool) {
	limits := t.Catalogue.Limits(s.scheme)
	t.work -= lookup * len(limits)
	t.schemes, t.slots = append(t.schemes, s), slices.Grow(t.slots, len(limits))
	for _, limit := range limits {
		slot := groupSlot{max: noMaximum, group: limit.Group, scheme: len(t.schemes) - 1, unknown: unknown}
		if !unknown {
			slot.min = int64(limit.Min) * s.times
		}
		if !unknown && limit.Max != menu.Unlimited {
			slot.max = int64(limit.Max) * s.times
		}
		t.slots = append(t.slots, slot)
	}
}

// markReached marks the choices that are in an open group, and opens the groups of choices that
// have their own scheme. It returns false if the order's work is used up.
func (t *groupTable) markReached() bool {
	for o := 0; o < len(t.slots); o++ { // t.slots grows in the loop
		if t.work -= lookup * len(t.choices); t.work < 0 {
			return false
		}
		for i := range t.choices {
			ch := &t.choices[i]
			t.isIn = append(t.isIn, hasGroup(t.Catalogue.GroupsOf(ch.index), t.slots[o].group))
			if !t.isIn[len(t.isIn)-1] {
				continue
			}
			ch.inOpenGroup = true
			if own := t.Catalogue.IngredientScheme(ch.index); own != menu.None && ch.flat {
				t.openNestedScheme(ch, own, t.slots[o].scheme)
			}
		}
	}
	for i := range t.choices {
		if ch := &t.choices[i]; ch.tooDeep && !t.hasOpenGroups(ch.index) {
			t.refuse(ch.Line, ch.pos, violation.TooDeep, nil)
		}
	}
	return true
}

// hasGroup reports whether the sorted groups of an ingredient contain a group.
func hasGroup(groups []menu.Index, group menu.Index) bool {
	_, found := slices.BinarySearch(groups, group)
	return found
}

// openNestedScheme opens the groups of a chosen ingredient whose own ingredients are in the same
// list. It does so once, with the limits multiplied by the quantity (policy M5).
func (t *groupTable) openNestedScheme(ch *selected, scheme menu.Index, from int) {
	if t.hasOpenGroups(ch.index) || slices.Contains(t.above, scheme) {
		return
	}
	for at := from; at >= 0; at = t.schemes[at].parent {
		if t.schemes[at].scheme == scheme {
			return // stop at a cycle of schemes
		}
	}
	depth := t.schemes[from].depth + 1
	if depth > levelsOf(t.Catalogue) {
		ch.tooDeep = slices.ContainsFunc(t.Catalogue.Limits(scheme), func(l menu.Limit) bool { return l.Min > 0 })
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
	t.open(openScheme{scheme: scheme, owner: ch.index, parent: from, depth: depth, times: max(units, 1)}, unknown)
}

func (t *groupTable) hasOpenGroups(owner menu.Index) bool {
	return slices.ContainsFunc(t.schemes, func(b openScheme) bool { return b.owner == owner })
}

// selectChoices sets the selections to count, and rejects the choices that are in no open group. A choice
// with an unknown quantity makes its groups unknown, so that they are not checked.
func (t *groupTable) selectChoices() {
	for i := range t.choices {
		ch := &t.choices[i]
		if !ch.inOpenGroup {
			params := violation.Params{"id": ch.entry().ID(), "dish": dishID(t.line.dish())}
			t.refuse(ch.Line, ch.pos, violation.IngredientNotAllowed, params)
			continue
		}
		t.pinGroup(ch)
		start := len(t.eligible)
		for o := range t.slots {
			slot := &t.slots[o]
			if !t.isIn[o*len(t.choices)+i] || (ch.pinnedGroup != menu.None && ch.pinnedGroup != slot.group) {
				continue
			}
			if ch.count == unreadable {
				slot.unknown, slot.min, slot.max = true, 0, noMaximum
				continue
			}
			t.eligible = append(t.eligible, int32(o))
		}
		if ch.count > 0 { // implies that eligible is not empty
			if t.work -= lookup * (len(t.eligible) - start); t.work < 0 {
				return
			}
			t.selections = append(t.selections, selection{units: ch.count, eligible: slices.Clip(t.eligible[start:])})
		}
	}
}

// pinGroup reads a choice's groupId (policy M4). If it is not an open group of the ingredient,
// pinGroup adds a violation, and the ingredient counts for any group.
func (t *groupTable) pinGroup(ch *selected) {
	pinned := &ch.group
	if pinned.state != readable || pinned.text == "" {
		return
	}
	g, ok := t.Catalogue.GroupByID(pinned.text)
	if ok && hasGroup(t.Catalogue.GroupsOf(ch.index), g) &&
		slices.ContainsFunc(t.slots, func(slot groupSlot) bool { return slot.group == g }) {
		ch.pinnedGroup = g
		return
	}
	t.refuse(ch.Line, pinned.pos, violation.GroupPinInvalid, violation.Params{"groupId": pinned.text})
}

// reportGroups adds violations for groups outside their limits (policies M1 to M3), in scheme order. The groups of a part
// are reported at its own line, or at the list if the order is flat (policy M13).
func (t *groupTable) reportGroups() {
	before := len(t.all)
	for _, slot := range t.slots {
		if len(t.all)-before > violation.Max { // as in checkDishes
			return
		}
		if slot.unknown || slot.distance() == 0 {
			continue
		}
		from := &t.schemes[slot.scheme]
		lines := t.linesOf(from.owner)
		switch {
		case lines == nil:
			lines = []*Line{t.line}
		case slot.count > 0: // the ingredients in this list are those of the first parts
			lines = lines[len(lines)-1:]
		default: // each part lacks its own
			slot.min /= from.times
			if slot.max != noMaximum {
				slot.max /= from.times
			}
		}
		for _, it := range lines {
			t.reportGroup(it, from.owner, slot)
		}
	}
}

// linesOf returns the lines of a part whose groups are counted in the list. It returns nil if the order is flat:
// no part has ingredients, and a line of the list can only count for a part.
func (t *groupTable) linesOf(part menu.Index) (lines []*Line) {
	nested := t.line.dish().nested()
	ofList := func(slot int32) bool { return t.schemes[t.slots[slot].scheme].owner == menu.None }
	flat := slices.ContainsFunc(t.selections, func(s selection) bool { return !slices.ContainsFunc(s.eligible, ofList) })
	for i := range t.choices {
		if ch := &t.choices[i]; ch.index == part && ch.flat && (nested || !flat) {
			lines = append(lines, ch.Line)
		}
	}
	return lines
}

// reportGroup adds a violation for a group at the ingredients of a line. part has the group; None if the line has it.
func (t *groupTable) reportGroup(it *Line, part menu.Index, slot groupSlot) {
	group, code := &t.Catalogue.Groups()[slot.group], violation.GroupMin
	if slot.count > slot.min {
		code = violation.GroupMax
	}
	params := violation.Params{
		"group": group.ID,
		"name":  group.Name,
		"min":   slot.min,
		"max":   any(nil),
		"count": slot.count,
	}
	if slot.max != noMaximum {
		params["max"] = slot.max
	}
	if part == menu.None && it.parent != nil {
		part = it.index
	}
	if part != menu.None {
		ingredient := t.Catalogue.Ingredients().At(part)
		params["parent"] = violation.Params{"id": ingredient.ID(), "name": ingredient.Name()}
	}
	t.refuseList(it, code, params, group.Name)
}

// refuseList adds a violation for the ingredients of a line, which may be missing.
func (c *check) refuseList(it *Line, code violation.Code, params violation.Params, subject string) {
	c.add(it.placeOf(it.ingredients.pos, "ingredients"), code, params, subject)
}

// dishID returns the menu's id of a dish, or the one that the client sent.
func dishID(dish *Line) string {
	if dish.index == menu.None {
		return dish.id.text
	}
	return dish.entry().ID()
}
