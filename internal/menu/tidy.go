package menu

import (
	"slices"
	"strings"
)

// tidier writes a value in the canonical form (see Published), whatever stands
// in it: compact, the members of each object sorted, texts escaped alike. The
// value must be JSON.
type tidier struct {
	body    []byte
	at      int
	out     []byte
	names   fieldNames
	members []writtenMember // of the objects around, one behind the other
	room    []byte          // for the sorting of one object
}

// writtenMember is one member of an object, with a comma behind it, by where it
// stands in what is written.
type writtenMember struct {
	name       *fieldName
	start, end int
}

// append appends the value that begins at the offset.
func (t *tidier) append(dst []byte, at int) []byte {
	t.at, t.out = at, dst
	t.value()
	dst, t.out = t.out, nil
	return dst
}

func (t *tidier) value() {
	switch t.body[t.at] {
	case '{':
		t.object()
	case '[':
		t.array()
	case '"':
		t.out = appendLiteral(t.out, t.raw())
	default:
		t.out = append(t.out, t.raw()...)
	}
}

// raw consumes a value that holds no other.
func (t *tidier) raw() []byte {
	start := t.at
	t.at = valueEnd(t.body, start)
	return t.body[start:t.at]
}

// next goes to the next member or element; false at the closing bracket, which
// it passes.
func (t *tidier) next(closing byte) bool {
	t.at = pastSpace(t.body, t.at)
	if t.body[t.at] == ',' {
		t.at = pastSpace(t.body, t.at+1)
	}
	if t.body[t.at] == closing {
		t.at++
		return false
	}
	return true
}

func (t *tidier) array() {
	t.out = append(t.out, '[')
	open := len(t.out)
	for t.at++; t.next(']'); {
		t.value()
		t.out = append(t.out, ',')
	}
	t.out = closed(t.out, open, ']')
}

func (t *tidier) object() {
	t.out = append(t.out, '{')
	open, first := len(t.out), len(t.members)
	for t.at++; t.next('}'); {
		m := writtenMember{name: t.names.of(textOf(t.raw())), start: len(t.out)}
		t.out = append(t.out, m.name.literal...)
		t.at = pastSpace(t.body, pastSpace(t.body, t.at)+1) // the colon
		t.value()
		t.out = append(t.out, ',')
		m.end = len(t.out)
		t.members = append(t.members, m)
	}
	t.sort(open, t.members[first:])
	t.members = t.members[:first]
	t.out = closed(t.out, open, '}')
}

// sort sorts the members of the object whose first one is written at open.
func (t *tidier) sort(open int, members []writtenMember) {
	byFolded := func(a, b writtenMember) int { return strings.Compare(a.name.folded, b.name.folded) }
	if slices.IsSortedFunc(members, byFolded) {
		return
	}
	slices.SortStableFunc(members, byFolded)
	t.room = append(t.room[:0], t.out[open:]...)
	t.out = t.out[:open]
	for _, m := range members {
		t.out = append(t.out, t.room[m.start-open:m.end-open]...)
	}
}
