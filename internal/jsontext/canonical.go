package jsontext

import (
	"slices"
	"strings"
)

// AppendCanonical appends the canonical form of a well-formed value. number
// appends each number; nil: as it is written.
func AppendCanonical(dst []byte, value string, number func(dst []byte, number string) []byte) []byte {
	c := Canonical{Reader: NewReader(value, 0), Number: number}
	return c.AppendNext(dst)
}

// Canonical writes the values that its Reader reads in their canonical form:
// compact, the members of each object sorted by their folded names, those whose
// names fold alike in the order they came, and strings with the escapes of
// AppendString. What was written counts only if Err returns nil at the end.
type Canonical struct {
	Reader

	// Number appends each number; nil: as it is written.
	Number func(dst []byte, number string) []byte

	names   map[string]CanonicalName // by the literal in the text
	members []canonicalMember        // of the objects around, one behind the other
	buffer  []byte                   // for the members of one object, in another order
	parted  []byte                   // of AppendParted
}

// CanonicalName is a member's name as it is written, with a colon behind it, and
// folded, as it is sorted.
type CanonicalName struct{ Literal, Folded string }

// canonicalMember is where a member is written, with the comma behind it.
type canonicalMember struct {
	folded     string
	start, end int
}

// maxNames bounds the names that are remembered: a menu has some thirty.
const maxNames = 1000

// AppendNext appends the next value.
func (c *Canonical) AppendNext(dst []byte) []byte {
	switch c.Kind() {
	case KindObject:
		return c.object(dst)
	case KindArray:
		start := len(dst) + 1
		dst = append(dst, '[')
		for range c.Elements() {
			dst = append(c.AppendNext(dst), ',')
		}
		return closed(dst, start, ']')
	case KindString:
		if literal := c.Raw(); literal != "" {
			return appendLiteral(dst, literal)
		}
		return dst // it is malformed
	case KindNumber:
		literal := c.Raw()
		if c.Number != nil && literal != "" {
			return c.Number(dst, literal)
		}
		return append(dst, literal...)
	case KindNone, KindNull, KindBool: // as they are written
	}
	return append(dst, c.Raw()...)
}

// AppendParted appends the next value, which is an object, as two: the members
// of which part reports true to other, the rest to dst.
func (c *Canonical) AppendParted(dst, other []byte, part func(folded string) bool) (rest, parted []byte) {
	first := len(c.members)
	c.parted = c.appendMembers(c.parted[:0])
	members := c.members[first:]
	sortMembers(members)
	start, otherStart := len(dst)+1, len(other)+1
	dst, other = append(dst, '{'), append(other, '{')
	for _, m := range members {
		if part(m.folded) {
			other = append(other, c.parted[m.start:m.end]...)
		} else {
			dst = append(dst, c.parted[m.start:m.end]...)
		}
	}
	c.members = c.members[:first]
	return closed(dst, start, '}'), closed(other, otherStart, '}')
}

func (c *Canonical) object(dst []byte) []byte {
	first, start := len(c.members), len(dst)+1
	dst = c.appendMembers(append(dst, '{'))
	if members := c.members[first:]; sortMembers(members) {
		c.buffer = append(c.buffer[:0], dst[start:]...)
		dst = dst[:start]
		for _, m := range members {
			dst = append(dst, c.buffer[m.start-start:m.end-start]...)
		}
	}
	c.members = c.members[:first]
	return closed(dst, start, '}')
}

// appendMembers appends the members of the next value, an object, as they come,
// and notes them in c.members.
func (c *Canonical) appendMembers(dst []byte) []byte {
	for range c.Members() {
		name := c.Name(c.RawName())
		m := canonicalMember{folded: name.Folded, start: len(dst)}
		dst = append(dst, name.Literal...)
		dst = append(c.AppendNext(dst), ',')
		m.end = len(dst)
		c.members = append(c.members, m)
	}
	return dst
}

// sortMembers sorts by the folded names and reports whether anything moved.
func sortMembers(members []canonicalMember) bool {
	byName := func(a, b canonicalMember) int { return strings.Compare(a.folded, b.folded) }
	if slices.IsSortedFunc(members, byName) {
		return false
	}
	slices.SortStableFunc(members, byName)
	return true
}

// Name returns how the name that is written as literal is written and sorted.
func (c *Canonical) Name(literal string) CanonicalName {
	if name, ok := c.names[literal]; ok {
		return name
	}
	name := CanonicalName{Literal: string(appendLiteral(nil, literal)) + ":", Folded: FoldName(unquote(literal))}
	if c.names == nil {
		c.names = make(map[string]CanonicalName)
	}
	if len(c.names) < maxNames {
		c.names[literal] = name
	}
	return name
}

// closed puts the closing bracket in place of the comma behind the last of what
// begins at start.
func closed(dst []byte, start int, bracket byte) []byte {
	if len(dst) > start {
		dst = dst[:len(dst)-1]
	}
	return append(dst, bracket)
}

// AppendCompact appends a well-formed value without white space and otherwise as
// it is written. number appends each number; nil: as it is written.
func AppendCompact(dst []byte, value string, number func(dst []byte, number string) []byte) []byte {
	for i := 0; i < len(value); {
		end := i + 1
		switch b := value[i]; {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
		case b == '"':
			end, _ = stringEnd(value, i)
			dst = append(dst, value[i:end]...)
		case number != nil && (b == '-' || b >= '0' && b <= '9'):
			end = numberEnd(value, i)
			dst = number(dst, value[i:end])
		default:
			dst = append(dst, b)
		}
		i = end
	}
	return dst
}
