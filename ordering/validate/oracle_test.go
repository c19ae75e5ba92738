package validate_test

import (
	"fmt"
	"slices"

	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// The oracle validates the ingredients of one dish literally by policies M1 to M6, and
// tries every assignment. Its menus have no cycles, and its orders contain only known
// ingredients in whole quantities.

// oracleMenu is a menu of one dish, d, with the scheme s0.
type oracleMenu struct {
	schemes map[string][]menutest.DraftLimit // groups with their limits, in scheme order
	groups  map[string][]string              // members
	parts   map[string]string                // ingredients with their own scheme
	nested  bool                             // the order has nested ingredients (policy M13)
}

// oracleLine is an ingredient of an order.
type oracleLine struct {
	id    string
	units int
	pin   string
	in    []oracleLine // its nested ingredients
	path  string       // in the dish
}

// openGroup is a group that applies to a list of ingredients.
type openGroup struct {
	id       string
	min, max int // max -1: no maximum
	count    int
	of       string // the ingredient that has the group; "" if the list has it
	times    int    // min and max are multiplied by it
}

func (g *openGroup) off() int {
	off := max(g.min-g.count, 0)
	if g.max >= 0 {
		off += max(g.count-g.max, 0)
	}
	return off
}

// checkDish returns the violations of the dish with their paths, in any order.
func (m *oracleMenu) checkDish(lines []oracleLine) (found []string) {
	m.nested = slices.ContainsFunc(lines, func(l oracleLine) bool { return len(l.in) > 0 })
	setPaths("", lines)
	found = m.checkList("", "s0", lines)
	if m.nested && len(found) == 0 { // and flat, as it is sent
		found = m.checkGroups("", "s0", flatten(lines, 1), func(int) bool { return true })
	}
	return found
}

func setPaths(path string, lines []oracleLine) {
	for i := range lines {
		lines[i].path = fmt.Sprintf("%s/ingredients/%d", path, i)
		setPaths(lines[i].path, lines[i].in)
	}
}

// flatten appends nested ingredients after their parents, with multiplied quantities.
func flatten(lines []oracleLine, times int) (flat []oracleLine) {
	for _, l := range lines {
		flat = append(flat, oracleLine{id: l.id, units: l.units * times, pin: l.pin, path: l.path})
		flat = append(flat, flatten(l.in, l.units*times)...)
	}
	return flat
}

// checkList checks a list against a scheme, then the nested lists.
func (m *oracleMenu) checkList(path, scheme string, lines []oracleLine) (found []string) {
	if scheme == "" {
		if len(lines) > 0 {
			found = append(found, path+"/ingredients dish_takes_no_ingredients")
		}
	} else {
		found = m.checkGroups(path, scheme, lines, func(i int) bool { return len(lines[i].in) == 0 })
	}
	for i, l := range lines {
		if len(l.in) > 0 {
			found = append(found, m.checkList(fmt.Sprintf("%s/ingredients/%d", path, i), m.parts[l.id], l.in)...)
		}
	}
	return found
}

// checkGroups counts one list. flat reports whether the ingredients of a line are in the
// same list.
func (m *oracleMenu) checkGroups(path, scheme string, lines []oracleLine, flat func(i int) bool) (found []string) {
	open, reached := m.open(scheme, lines, flat)
	var selections []oracleSelection
	for i, l := range lines {
		place := fmt.Sprintf("%s/ingredients/%d", path, i)
		if !reached[i] {
			found = append(found, place+" ingredient_not_allowed")
			continue
		}
		may := m.mayCount(open, l.id, "")
		if l.pin != "" {
			if pinned := m.mayCount(open, l.id, l.pin); len(pinned) > 0 {
				may = pinned
			} else {
				found = append(found, place+"/groupId group_pin_invalid")
			}
		}
		selections = append(selections, oracleSelection{l.units, may})
	}
	ofList := func(k int) bool { return open[k].of == "" }
	sentFlat := slices.ContainsFunc(selections, func(s oracleSelection) bool { return !slices.ContainsFunc(s.may, ofList) })
	for _, g := range bestOf(open, selections) {
		code := "group_min"
		switch {
		case g.off() == 0:
			continue
		case g.count > g.min:
			code = "group_max"
		}
		var at []string // the parts that have the group (policy M13)
		for i, l := range lines {
			if (m.nested || !sentFlat) && l.id == g.of && flat(i) {
				at = append(at, l.path)
			}
		}
		switch {
		case at == nil:
			at = []string{path}
		case g.count > 0:
			at = at[len(at)-1:]
		default:
			g.min /= g.times
			if g.max > 0 {
				g.max /= g.times
			}
		}
		for _, part := range at {
			found = append(found, fmt.Sprintf("%s/ingredients %s %s %d-%d: %d", part, code, g.id, g.min, g.max, g.count))
		}
	}
	return found
}

// open returns the groups that apply. These are the groups of the scheme. Each chosen
// ingredient in such a group adds the groups of its own scheme, multiplied by its quantity
// (policy M5).
func (m *oracleMenu) open(scheme string, lines []oracleLine, flat func(i int) bool) (open []openGroup, reached []bool) {
	reached = make([]bool, len(lines))
	unfolded := map[string]bool{}
	add := func(scheme, of string, times int) {
		for _, limit := range m.schemes[scheme] {
			g := openGroup{id: limit.ID, min: limit.Min * times, max: limit.Max * times, of: of, times: times}
			if limit.Max == 0 {
				g.max = -1
			}
			open = append(open, g)
		}
	}
	add(scheme, "", 1)
	for k := 0; k < len(open); k++ {
		for i, l := range lines {
			if !slices.Contains(m.groups[open[k].id], l.id) {
				continue
			}
			reached[i] = true
			if m.parts[l.id] == "" || !flat(i) || unfolded[l.id] {
				continue
			}
			unfolded[l.id] = true
			times := 0
			for j, other := range lines {
				if other.id == l.id && flat(j) {
					times += other.units
				}
			}
			add(m.parts[l.id], l.id, times)
		}
	}
	return open, reached
}

// mayCount returns the groups that an ingredient may count for: only the pinned one, if
// there is a pin.
func (m *oracleMenu) mayCount(open []openGroup, ingredient, pin string) (may []int) {
	for k, g := range open {
		if slices.Contains(m.groups[g.id], ingredient) && (pin == "" || pin == g.id) {
			may = append(may, k)
		}
	}
	return may
}

// oracleSelection is a quantity with its eligible groups.
type oracleSelection struct {
	units int
	may   []int
}

// bestOf tries every assignment and returns the one with the minimal sum of missing and
// excess units. Among equal ones, the one that is nearer at the first groups wins (policy M4).
func bestOf(open []openGroup, selections []oracleSelection) (best []openGroup) {
	try := slices.Clone(open)
	var place func(s, k, left int)
	place = func(s, k, left int) {
		if s == len(selections) {
			if best == nil || nearerGroups(try, best) {
				best = append(best[:0], try...)
			}
			return
		}
		group := &try[selections[s].may[k]]
		last := k == len(selections[s].may)-1
		for units := range left + 1 {
			if last {
				units = left
			}
			group.count += units
			switch {
			case !last && units < left:
				place(s, k+1, left-units)
			case s+1 < len(selections):
				place(s+1, 0, selections[s+1].units)
			default:
				place(s+1, 0, 0)
			}
			group.count -= units
			if last {
				return
			}
		}
	}
	if len(selections) == 0 {
		return try
	}
	place(0, 0, selections[0].units)
	return best
}

// nearerGroups reports whether a is nearer to the limits than b.
func nearerGroups(a, b []openGroup) bool {
	first, sum := 0, 0
	for i := range a {
		d := a[i].off() - b[i].off()
		sum += d
		if first == 0 {
			first = d
		}
	}
	return sum < 0 || (sum == 0 && first < 0)
}

// violationsOf returns the violations of a result in the oracle's format.
func violationsOf(v *validate.Result) (found []string) {
	const dish = "/dishList/0"
	for _, one := range v.Violations {
		text := one.Path[len(dish):] + " " + string(one.Code)
		if one.Code == violation.GroupMin || one.Code == violation.GroupMax {
			limit := one.Params["max"]
			if limit == nil {
				limit = -1
			}
			text += fmt.Sprintf(" %v %v-%v: %v", one.Params["group"], one.Params["min"], limit, one.Params["count"])
		}
		found = append(found, text)
	}
	return found
}
