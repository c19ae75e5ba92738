package menu

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// cut makes the Published of a view, which must come from Check: one walk over
// its bytes, O(size).
func cut(view []byte) Published {
	d, _ := drafts.Get().(*draft)
	c := &cutter{body: view, out: slices.Grow(d.out[:0], len(view)), room: d.room, names: make(map[string]*memberName)}
	c.value(roleView)
	content := c.out
	if c.unsorted == nil {
		c.unsorted, content = c.out, bytes.Clone(c.out)
	}
	d.out, d.room = c.unsorted, c.room
	drafts.Put(d)
	return Published{Content: content, Stops: c.stops.encode()}
}

// draft is room that one cut leaves to the next: what is kept is no part of it.
type draft struct{ out, room []byte }

var drafts = sync.Pool{New: func() any { return &draft{} }} //nolint:gochecknoglobals // room alone, of no state

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

	unsorted []byte // out as it was before the view's own members were sorted; nil: they came so

	stops stopTable
	taken []byte   // the members cut out of the current element, each behind a comma
	cuts  []member // where they stand in taken

	members []member // of the objects around, one behind the other
	room    []byte   // for the sorting of one object

	depth  int
	names  map[string]*memberName
	shapes []*shape // by depth: that of the object before
}

// shape is the names of an object in the order they came, and how they sort:
// the objects of a list mostly have the same. order is nil where they came
// sorted; it numbers the members that are not cut out.
type shape struct {
	names []*memberName
	role  role
	order []int
	known bool
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
	if c.body[c.at] <= ' ' {
		c.at = pastSpace(c.body, c.at)
	}
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
		c.text()
	default:
		end := valueEnd(c.body, c.at)
		c.out = append(c.out, c.body[c.at:end]...)
		c.at = end
	}
}

// text writes a string, which mostly stands as it is to be written.
func (c *cutter) text() {
	end := pastASCII(c.body, c.at+1)
	if c.body[end] != '"' {
		from := end
		if end = pastPlain(c.body, end); c.body[end] != '"' || !utf8.Valid(c.body[from:end]) {
			end = stringEnd(c.body, c.at)
			c.out = appendLiteral(c.out, c.body[c.at:end])
			c.at = end
			return
		}
	}
	c.out = append(c.out, c.body[c.at:end+1]...)
	c.at = end + 1
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
	before := c.shape(r)
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
		m := c.member(r, before, n)
		n++
		if r == roleElement && stopField(m.name.folded) {
			c.take(m)
			continue
		}
		c.members = append(c.members, m)
	}
	members := c.members[base:]
	order := before.sort(members, n)
	switch r {
	case roleView:
		c.arrangeView(members, order)
	case roleElement:
		c.arrange(open, members, order)
		c.endElement()
	default:
		c.arrange(open, members, order)
	}
	c.members = c.members[:base]
	c.close(open, '}')
}

// shape gives what is known of the object before at this depth, and forgets it
// where that was in another role.
func (c *cutter) shape(r role) *shape {
	for len(c.shapes) <= c.depth {
		c.shapes = append(c.shapes, &shape{})
	}
	s := c.shapes[c.depth]
	if s.role != r {
		*s = shape{role: r}
	}
	return s
}

// member writes the n-th member of an object with a comma behind it.
func (c *cutter) member(r role, before *shape, n int) member {
	m := member{name: c.name(before, n), start: len(c.out), first: len(c.stops.of)}
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

// name consumes the n-th name of an object; that of the object before is tried
// first.
func (c *cutter) name(before *shape, n int) *memberName {
	if n < len(before.names) && bytes.HasPrefix(c.body[c.at:], before.names[n].raw) {
		c.at += len(before.names[n].raw)
		return before.names[n]
	}
	end := stringEnd(c.body, c.at)
	raw := c.body[c.at:end]
	c.at = end
	name, ok := c.names[string(raw)]
	if !ok {
		name = &memberName{raw: raw, literal: appendLiteral(nil, raw), folded: FoldName(unquote(raw))}
		if len(c.names) < maxNames {
			c.names[string(raw)] = name
		}
	}
	before.known = false
	before.names = append(before.names[:min(n, len(before.names))], name)
	return name
}

// sort gives the order of an object's members, of which n came in all; nil
// where they came sorted.
func (s *shape) sort(members []member, n int) []int {
	if s.known && n == len(s.names) {
		return s.order
	}
	s.known, s.names, s.order = true, s.names[:n], nil
	if !slices.IsSortedFunc(members, byFolded) {
		s.order = make([]int, len(members))
		for i := range s.order {
			s.order[i] = i
		}
		slices.SortStableFunc(s.order, func(a, b int) int { return byFolded(members[a], members[b]) })
	}
	return s.order
}

func byFolded(a, b member) int {
	if a.name == b.name {
		return 0
	}
	return strings.Compare(a.name.folded, b.name.folded)
}

// arrange sorts the members of the object whose first one is written at open.
func (c *cutter) arrange(open int, members []member, order []int) {
	if order == nil {
		return
	}
	c.room = append(c.room[:0], c.out[open:]...)
	c.out = c.out[:open]
	for _, i := range order {
		m := members[i]
		c.out = append(c.out, c.room[m.start-open:m.end-open]...)
	}
}

// arrangeView sorts the members of the view, and with them the elements of the
// stop values.
func (c *cutter) arrangeView(members []member, order []int) {
	if order == nil {
		return
	}
	out := append(make([]byte, 0, len(c.out)+1), '{')
	of := make([]int32, 0, len(c.stops.of))
	for _, i := range order {
		m := members[i]
		out = append(out, c.out[m.start:m.end]...)
		of = append(of, c.stops.of[m.first:m.after]...)
	}
	c.out, c.unsorted, c.stops.of = out, c.out, of
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
