package jsontext

import (
	"slices"
	"strings"
)

// Canonical is a Reader that also writes the canonical form: compact, the members of each object
// sorted by their folded names (stable for equal folded names), and strings with the escapes of
// AppendString. The output is valid only if Err returns nil at the end.
type Canonical struct {
	Reader

	// AppendNumber appends each number; if it is nil, numbers are not changed.
	AppendNumber func(dst []byte, number string) []byte
	// KnownNames has the forms of frequent names by their literals. Other names are computed once and cached.
	KnownNames map[string]CanonicalName

	names   map[string]CanonicalName // by the literal in the text
	members []canonicalMember        // of all open objects, one after the other
	buffer  []byte                   // for sorting the members of one object
	parted  []byte                   // the result of AppendParted
}

// CanonicalName is a member's name: as it is written, without the colon, and folded for sorting.
type CanonicalName struct{ Literal, Folded string }

// canonicalMember is the position of a member in the output, with the comma after it.
type canonicalMember struct {
	folded     string
	start, end int
}

// maxNames is the maximum number of names that are cached; a menu has about thirty.
const maxNames = 1000

// AppendNext appends the next value.
func (c *Canonical) AppendNext(dst []byte) []byte {
	switch kind := c.Kind(); {
	case kind != KindObject && kind != KindArray:
		return c.appendScalar(dst, c.Raw())
	case c.depthLeft == 0: // otherwise the stack would grow with the text
		c.Skip()
		return append(dst, "null"...)
	case kind == KindObject:
		dst, _ = c.AppendParted(dst, func(string) bool { return false })
		return dst
	}
	dst = append(dst, '[')
	start := len(dst)
	for range c.Elements() {
		dst = append(c.AppendNext(dst), ',')
	}
	return closed(dst, start, ']')
}

func (c *Canonical) appendScalar(dst []byte, literal string) []byte {
	switch {
	case literal == "": // an error
		return dst
	case literal[0] == '"':
		return appendLiteral(dst, literal)
	case c.AppendNumber != nil && (literal[0] == '-' || literal[0] >= '0' && literal[0] <= '9'):
		return c.AppendNumber(dst, literal)
	default:
		return append(dst, literal...)
	}
}

// AppendParted appends the next value, an object, without its members for which part returns true. It returns them as
// another object, which is valid until the next call.
func (c *Canonical) AppendParted(dst []byte, part func(folded string) bool) (rest, parted []byte) {
	dst = append(dst, '{')
	start, first := len(dst), len(c.members)
	for range c.Members() {
		name, from := c.Name(c.RawName()), len(dst)
		dst = append(c.AppendNext(append(append(dst, name.Literal...), ':')), ',')
		c.members = append(c.members, canonicalMember{folded: name.Folded, start: from, end: len(dst)})
	}
	members := c.members[first:]
	byName := func(a, b canonicalMember) int { return strings.Compare(a.folded, b.folded) }
	inOrder := slices.IsSortedFunc(members, byName)
	slices.SortStableFunc(members, byName)
	c.parted = append(c.parted[:0], '{')
	if !inOrder || slices.ContainsFunc(members, func(m canonicalMember) bool { return part(m.folded) }) {
		c.buffer = append(c.buffer[:0], dst[start:]...)
		dst = dst[:start]
		for _, m := range members {
			into := &dst
			if part(m.folded) {
				into = &c.parted
			}
			*into = append(*into, c.buffer[m.start-start:m.end-start]...)
		}
	}
	c.members = c.members[:first]
	c.parted = closed(c.parted, len("{"), '}')
	return closed(dst, start, '}'), c.parted
}

// Name returns the output and sort forms of a name literal.
func (c *Canonical) Name(literal string) CanonicalName {
	if name, ok := c.KnownNames[literal]; ok {
		return name
	}
	if name, ok := c.names[literal]; ok {
		return name
	}
	name := CanonicalName{Literal: literal, Folded: FoldName(unquote(literal, false))}
	if c.buffer = appendLiteral(c.buffer[:0], literal); string(c.buffer) != literal {
		name.Literal = string(c.buffer)
	}
	if c.names == nil {
		c.names = make(map[string]CanonicalName)
	}
	if len(c.names) < maxNames {
		c.names[literal] = name
	}
	return name
}

// closed replaces the comma after the last element since start by the closing bracket.
func closed(dst []byte, start int, bracket byte) []byte {
	if len(dst) > start {
		dst = dst[:len(dst)-1]
	}
	return append(dst, bracket)
}

// AppendCompact appends a well-formed value without white space. number appends each number; if it
// is nil, numbers are not changed.
func AppendCompact(dst []byte, value string, number func(dst []byte, number string) []byte) []byte {
	for i := 0; i < len(value); {
		end := i + 1
		switch b := value[i]; {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
		case b == '"':
			end, _, _ = stringEnd(value, i)
			dst = append(dst, escapeControls(value[i:end])...)
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
