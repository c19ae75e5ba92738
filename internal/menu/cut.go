package menu

import (
	"bytes"
	"slices"
	"strings"
)

// cut makes the Published of a view, which must come from Check: one walk over
// its bytes, O(size).
func cut(view []byte) Published {
	c := &cutter{body: view, out: make([]byte, 0, len(view)), names: make(map[string]*memberName)}
	c.value(roleView)
	return Published{Content: bytes.Clone(c.out), Stops: c.stops.encode()}
}

// role is what a value is to the cutter.
type role uint8

const (
	rolePlain   role = iota
	roleView         // the menu view
	roleList         // its products or ingredients
	roleElement      // an element of such a list
)

// cutter is the state of one cut.
type cutter struct {
	body []byte
	at   int
	out  []byte

	stops stopTable
	taken []byte   // the members cut out of the current element, each behind a comma
	cuts  []member // where they stand in taken

	members []member // of the objects around, one behind the other
	room    []byte   // for the sorting of one object

	depth int
	names map[string]*memberName
	last  [][]*memberName // by depth: the names of the object before
}

// member is one member of an object, written at [start:end] with a comma
// behind it. Elements are those that its value added to the stop values.
type member struct {
	name         *memberName
	start, end   int
	first, after int // elements
}

// memberName is a member's name as sent, as written and as folded.
type memberName struct {
	raw, literal []byte
	folded       string
}

func (c *cutter) space() {
	c.at = pastSpace(c.body, c.at)
}

func (c *cutter) value(r role) {
	switch c.body[c.at] {
	case '{':
		c.depth++
		c.object(r)
		c.depth--
	case '[':
		c.depth++
		c.array(r)
		c.depth--
	case '"':
		end := stringEnd(c.body, c.at)
		c.out = appendLiteral(c.out, c.body[c.at:end])
		c.at = end
	default:
		end := valueEnd(c.body, c.at)
		c.out = append(c.out, c.body[c.at:end]...)
		c.at = end
	}
}

func (c *cutter) array(r role) {
	inner := rolePlain
	if r == roleList {
		inner = roleElement
	}
	c.out = append(c.out, '[')
	open := len(c.out)
	for c.at++; ; {
		c.space()
		if c.body[c.at] == ']' {
			break
		}
		if c.body[c.at] == ',' {
			c.at++
			continue
		}
		c.value(inner)
		c.out = append(c.out, ',')
	}
	c.close(open, ']')
}

// close ends an object or array over the comma behind its last member.
func (c *cutter) close(open int, bracket byte) {
	c.at++
	if len(c.out) > open {
		c.out = c.out[:len(c.out)-1]
	}
	c.out = append(c.out, bracket)
}

func (c *cutter) object(r role) {
	c.out = append(c.out, '{')
	open, base := len(c.out), len(c.members)
	sorted := true
	n := 0
	for c.at++; ; {
		c.space()
		if c.body[c.at] == '}' {
			break
		}
		if c.body[c.at] == ',' {
			c.at++
			continue
		}
		m := c.member(r, n)
		n++
		if r == roleElement && stopField(m.name.folded) {
			c.take(m)
			continue
		}
		if k := len(c.members); k > base && c.members[k-1].name != m.name && c.members[k-1].name.folded > m.name.folded {
			sorted = false
		}
		c.members = append(c.members, m)
	}
	members := c.members[base:]
	if !sorted {
		c.arrange(open, members)
	}
	switch r {
	case roleView:
		c.arrangeStops(members)
	case roleElement:
		c.endElement()
	default:
	}
	c.members = c.members[:base]
	c.close(open, '}')
}

// member writes the n-th member of an object with a comma behind it.
func (c *cutter) member(r role, n int) member {
	m := member{name: c.name(n), start: len(c.out), first: len(c.stops.of)}
	c.out = append(append(c.out, m.name.literal...), ':')
	c.space()
	c.at++ // the colon
	c.space()
	inner := rolePlain
	if r == roleView && stoppable(m.name.folded) {
		inner = roleList
	}
	c.value(inner)
	c.out = append(c.out, ',')
	m.end, m.after = len(c.out), len(c.stops.of)
	return m
}

// name consumes a member's name. Objects of a list mostly have the same names
// in the same order: the n-th of the object before is tried first.
func (c *cutter) name(n int) *memberName {
	end := stringEnd(c.body, c.at)
	raw := c.body[c.at:end]
	c.at = end
	for len(c.last) <= c.depth {
		c.last = append(c.last, nil)
	}
	before := c.last[c.depth]
	if n < len(before) && bytes.Equal(before[n].raw, raw) {
		return before[n]
	}
	name, ok := c.names[string(raw)]
	if !ok {
		name = &memberName{raw: raw, literal: appendLiteral(nil, raw), folded: FoldName(unquote(raw))}
		if len(c.names) < maxNames {
			c.names[string(raw)] = name
		}
	}
	switch {
	case n < len(before):
		before[n] = name
	case n == len(before) && n < maxNames:
		c.last[c.depth] = append(before, name)
	}
	return name
}

func byFolded(a, b member) int {
	if a.name == b.name {
		return 0
	}
	return strings.Compare(a.name.folded, b.name.folded)
}

// arrange sorts the members of the object whose first one is written at open.
func (c *cutter) arrange(open int, members []member) {
	slices.SortStableFunc(members, byFolded)
	c.room = append(c.room[:0], c.out[open:]...)
	c.out = c.out[:open]
	for _, m := range members {
		c.out = append(c.out, c.room[m.start-open:m.end-open]...)
	}
}

// take moves the member that was written last out of the view.
func (c *cutter) take(m member) {
	start := len(c.taken)
	c.taken = append(c.taken, c.out[m.start:m.end]...)
	c.out = c.out[:m.start]
	c.cuts = append(c.cuts, member{name: m.name, start: start, end: len(c.taken)})
}

// endElement notes what was taken out of the element that ends.
func (c *cutter) endElement() {
	slices.SortStableFunc(c.cuts, byFolded)
	c.room = append(c.room[:0], '{')
	for _, m := range c.cuts {
		c.room = append(c.room, c.taken[m.start:m.end]...)
	}
	if n := len(c.room); n > 1 {
		c.room = c.room[:n-1]
	}
	c.room = append(c.room, '}')
	c.stops.add(c.room)
	c.taken, c.cuts = c.taken[:0], c.cuts[:0]
}

// arrangeStops brings the elements of the stop values into the order that the
// view's lists have after sorting.
func (c *cutter) arrangeStops(members []member) {
	of := make([]int32, 0, len(c.stops.of))
	for _, m := range members {
		of = append(of, c.stops.of[m.first:m.after]...)
	}
	c.stops.of = of
}
