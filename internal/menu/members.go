package menu

import (
	"slices"
	"strings"
)

// members are the names of an object's members in the order they came, and how
// a draft writes them: the objects of a list mostly have the same.
type members struct {
	role  role
	names []*fieldName
	known bool  // the two below are of these names
	order []int // of the members that are kept, by folded names, then of those cut out
	kept  int   // how many are
}

// role is what an object is to a draft.
type role uint8

const (
	rolePlain     role = iota
	roleView           // the menu view
	roleStoppable      // a dish or ingredient
)

// member goes to the n-th member of the object that is open, as Member does;
// the name of the object before is tried first, as it stands.
func (d *decoder) member(before *members, n int) (*fieldName, bool) {
	if n < len(before.names) && d.follows(before.names[n].head) {
		return before.names[n], true
	}
	if _, ok := d.Member(); !ok {
		return nil, false
	}
	name := d.names.of(d.text[d.named:pastString(d.text, d.named)])
	before.known = false
	if n < maxNames {
		before.names = append(before.names[:min(n, len(before.names))], name)
	}
	return name, true
}

// arrange gives the order in which an object's members are written: those that
// are kept, by folded names, and those that are cut out of a dish or ingredient
// (policy W7). Those whose names fold alike stay as they came.
func (m *members) arrange(all []piece) (kept, cut []int) {
	if !m.known || len(all) != len(m.names) {
		m.names = m.names[:min(len(all), len(m.names))]
		m.known = len(all) == len(m.names)
		m.sort(all)
	}
	return m.order[:m.kept], m.order[m.kept:]
}

func (m *members) sort(all []piece) {
	m.order, m.kept = m.order[:0], len(all)
	for i := range all {
		m.order = append(m.order, i)
		if m.cuts(all[i].name) {
			m.kept--
		}
	}
	slices.SortStableFunc(m.order, func(i, k int) int {
		a, b := all[i].name, all[k].name
		switch cut := m.cuts(a); {
		case a == b:
			return 0
		case cut == m.cuts(b):
			return strings.Compare(a.folded, b.folded)
		case cut:
			return 1
		default:
			return -1
		}
	})
}

func (m *members) cuts(name *fieldName) bool { return m.role == roleStoppable && name.stops }

// fieldNames are what is known of the names of a text, by how they stand there.
type fieldNames map[string]*fieldName

// of gives what is known of the name that stands in the text as raw, in quotes.
func (all fieldNames) of(raw string) *fieldName {
	if known, ok := all[raw]; ok {
		return known
	}
	name := newFieldName(raw)
	if len(all) < maxNames {
		all[name.head[:len(raw)]] = name
	}
	return name
}

func newFieldName(raw string) *fieldName {
	name := &fieldName{name: unquote([]byte(raw)), head: raw + ":"}
	name.folded = FoldName(name.name)
	name.canonical = documentName(name.folded)
	name.literal = string(appendLiteral(nil, []byte(raw))) + ":"
	name.tidy, name.stops = name.literal == name.head, stopField(name.folded)
	return name
}
