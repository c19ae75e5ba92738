package menu

import (
	"slices"
	"sync"
)

// draft is what is stored of a view, written while the view is read (see
// Published). The decoder notes where each member's value stands; when an object
// ends, its members are written in their order, most of them as they stand in
// the body. Only a value that is not written there as it is stored is looked at
// again, by a tidier.
//
// A nil draft writes nothing. What a draft holds means nothing where the Cursor
// has an error.
type draft struct {
	body  []byte // that the Cursor reads
	out   []byte // the lists and objects that are written
	room  []byte // for what is cut out of one element
	tidy  tidier
	open  []piece // the members of the objects that are open
	stops stopTable

	content []byte // of the view, when it has ended
}

// drafts leave their room to the next ones.
var drafts = sync.Pool{New: func() any { return new(draft) }} //nolint:gochecknoglobals // room alone, of no state

// begin takes the draft for another body.
func (f *draft) begin(body []byte, names fieldNames) {
	if f == nil {
		return
	}
	*f = draft{
		body: body, out: slices.Grow(f.out[:0], len(body)), room: f.room[:0], open: f.open[:0],
		tidy: tidier{body: body, names: names, members: f.tidy.members[:0], room: f.tidy.room[:0]},
	}
}

// end gives what was written and leaves the room.
func (f *draft) end() Published {
	p := Published{Content: f.content, Stops: f.stops.encode()}
	f.body, f.content, f.stops, f.tidy.body, f.tidy.names = nil, nil, stopTable{}, nil, nil
	clear(f.open[:cap(f.open)])
	drafts.Put(f)
	return p
}

// piece is one member of an object that is open.
type piece struct {
	name       *fieldName
	start, end int // of the value
	where      place
	stops      int // how many elements have been parted from their stop values by its end
}

// place is where a piece stands.
type place uint8

const (
	inBody  place = iota
	asNamed       // in the body, name and colon included
	written       // in out
)

// spot is where a value begins.
type spot struct {
	name  int // of its name, in the body
	value int // in the body
	out   int // in the draft, for what is written of it
}

// here is the spot of the value that is next.
func (d *decoder) here() spot {
	d.untidy = false
	s := spot{name: d.named, value: d.at}
	if d.draft != nil {
		s.out = len(d.draft.out)
	}
	return s
}

// noteMember notes the member whose value was read last.
func (d *decoder) noteMember(name *fieldName, at spot) {
	f := d.draft
	if f == nil || d.broken {
		return
	}
	if d.untidy && len(f.out) == at.out {
		f.out = f.tidy.append(f.out, at.value)
	}
	n := len(f.open)
	f.open = slices.Grow(f.open, 1)[:n+1]
	p := &f.open[n] // set where it stands: there are thousands
	p.name, p.stops = name, len(f.stops.of)
	switch {
	case len(f.out) > at.out:
		p.start, p.end, p.where = at.out, len(f.out), written
	case name.tidy && at.value == at.name+len(name.head):
		p.start, p.end, p.where = at.name, d.at, asNamed
	default:
		p.start, p.end, p.where = at.value, d.at, inBody
	}
}

// openList begins a list whose elements are noted one by one.
func (d *decoder) openList() (at int) {
	d.Open()
	if f := d.draft; f != nil {
		f.out = append(f.out, '[')
		at = len(f.out)
	}
	return at
}

// noteElement notes the element that was read last.
func (d *decoder) noteElement(at spot) {
	f := d.draft
	switch {
	case f == nil || d.broken:
		return
	case len(f.out) > at.out: // an object, which has written itself
	case d.untidy:
		f.out = f.tidy.append(f.out, at.value)
	default:
		f.out = append(f.out, f.body[at.value:d.at]...)
	}
	f.out = append(f.out, ',')
}

func (d *decoder) closeList(at int) {
	if f := d.draft; f != nil {
		f.out = closed(f.out, at, ']')
	}
}

// closed puts the closing bracket over the comma behind the last of what begins
// at open.
func closed(out []byte, open int, bracket byte) []byte {
	if len(out) > open {
		out = out[:len(out)-1]
	}
	return append(out, bracket)
}

// object is what an open object begins with.
type object struct {
	first int // of its members, in open
	out   int // what is written of them
}

// openObject goes into an object, whose members are noted one by one.
func (d *decoder) openObject() object {
	d.Open()
	if f := d.draft; f != nil {
		return object{first: len(f.open), out: len(f.out)}
	}
	return object{}
}

// closeObject writes the object, over what was written of its members.
func (d *decoder) closeObject(o object, before *members) {
	f := d.draft
	if f == nil || d.broken {
		return
	}
	all := f.open[o.first:]
	kept, cut := before.arrange(all)
	if before.role == roleView {
		f.closeView(all, kept)
		return
	}
	begin := len(f.out)
	f.out = append(f.out, '{')
	for _, i := range kept {
		f.out = f.append(f.out, &all[i])
	}
	f.out = closed(f.out, begin+1, '}')
	if before.role == roleStoppable {
		f.room = append(f.room[:0], '{')
		for _, i := range cut {
			f.room = f.append(f.room, &all[i])
		}
		f.room = closed(f.room, 1, '}')
		f.stops.add(f.room)
	}
	if begin > o.out {
		f.out = f.out[:o.out+copy(f.out[o.out:], f.out[begin:])]
	}
	f.open = f.open[:o.first]
}

// append writes a member with a comma behind it.
func (f *draft) append(dst []byte, p *piece) []byte {
	from := f.body
	if p.where == written {
		from = f.out
	}
	if p.where != asNamed {
		dst = append(dst, p.name.literal...)
	}
	return append(append(dst, from[p.start:p.end]...), ',')
}

// closeView writes the content, and puts the elements of the stop values in the
// order of the lists.
func (f *draft) closeView(all []piece, order []int) {
	size := len("{}")
	for _, p := range all {
		size += len(p.name.literal) + p.end - p.start + len(",")
	}
	content := append(make([]byte, 0, size), '{')
	of := make([]int32, 0, len(f.stops.of))
	for _, i := range order {
		content = f.append(content, &all[i])
		first := 0
		if i > 0 {
			first = all[i-1].stops
		}
		of = append(of, f.stops.of[first:all[i].stops]...)
	}
	f.content, f.stops.of = closed(content, 1, '}'), of
}
