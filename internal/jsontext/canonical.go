package jsontext

import (
	"bytes"
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

	form     []byte                   // the output, with a comma after each value
	names    map[string]CanonicalName // by the literal in the text
	brackets []canonicalBracket       // the open ones
	members  []canonicalMember        // of all open objects, one after the other
	buffer   []byte                   // for sorting the members of one object
	parted   []byte                   // output of AppendParted
}

// CanonicalName is a member's name: as it is written, without the colon, and folded for sorting.
type CanonicalName struct{ Literal, Folded string }

// canonicalMember is the position of a member in the output, with the comma after it.
type canonicalMember struct {
	folded     string
	start, end int
}

// canonicalBracket is the start of a bracket's content, in the output and in the members.
type canonicalBracket struct{ start, members int }

// maxNames is the maximum number of names that are cached; a menu has about thirty.
const maxNames = 1000

// Reset makes c read another text, without options. It keeps only the buffers, unless they are large.
func (c *Canonical) Reset(text string, maxDepth int) {
	if cap(c.members) > maxNames {
		c.members, c.buffer = nil, nil
	}
	*c = Canonical{Reader: NewReader(text, maxDepth), brackets: c.brackets, members: c.members[:0], buffer: c.buffer}
}

// Record appends all that is read to dst, until Recorded.
func (c *Canonical) Record(dst []byte) {
	if c.form, c.brackets = dst, c.brackets[:0]; c.members == nil {
		c.brackets, c.members = make([]canonicalBracket, 0, 8), make([]canonicalMember, 0, 32)
	}
	c.canonical = c
}

// Recorded returns the output since Record, and ends the recording.
func (c *Canonical) Recorded() []byte {
	c.canonical = nil
	return bytes.TrimSuffix(c.form, []byte{','})
}

// AppendNext appends the next value.
func (c *Canonical) AppendNext(dst []byte) []byte {
	first := len(c.members)
	c.Record(dst)
	c.Skip()
	c.members = c.members[:first]
	return c.Recorded()
}

// AppendParted appends the next value, an object, as two: the members for which part returns true
// to other, and the rest to dst.
func (c *Canonical) AppendParted(dst, other []byte, part func(folded string) bool) (rest, parted []byte) {
	first := len(c.members)
	c.parted = c.parted[:0]
	for range c.Members() {
		name := c.Name(c.RawName())
		start := len(c.parted)
		c.parted = append(c.AppendNext(append(append(c.parted, name.Literal...), ':')), ',')
		c.members = append(c.members, canonicalMember{folded: name.Folded, start: start, end: len(c.parted)})
	}
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

func (c *Canonical) writeScalar(literal string) {
	switch b := literal[0]; {
	case b == '"':
		c.form = appendLiteral(c.form, literal)
	case c.AppendNumber != nil && (b == '-' || b >= '0' && b <= '9'):
		c.form = c.AppendNumber(c.form, literal)
	default:
		c.form = append(c.form, literal...)
	}
	c.form = append(c.form, ',')
}

func (c *Canonical) writeName(literal string) {
	name := c.Name(literal)
	c.members = append(c.members, canonicalMember{folded: name.Folded, start: len(c.form)})
	c.form = append(append(c.form, name.Literal...), ':')
}

func (c *Canonical) writeOpen(bracket byte) {
	c.form = append(c.form, bracket)
	c.brackets = append(c.brackets, canonicalBracket{start: len(c.form), members: len(c.members)})
}

// writeClose ends an object or an array, and sorts the members of an object.
func (c *Canonical) writeClose(bracket byte) {
	last := c.brackets[len(c.brackets)-1]
	c.brackets = c.brackets[:len(c.brackets)-1]
	members := c.members[last.members:]
	for i, end := len(members)-1, len(c.form); i >= 0; i-- {
		members[i].end, end = end, members[i].start
	}
	if sortMembers(members) {
		c.buffer = append(c.buffer[:0], c.form[last.start:]...)
		c.form = c.form[:last.start]
		for _, m := range members {
			c.form = append(c.form, c.buffer[m.start-last.start:m.end-last.start]...)
		}
	}
	c.members = c.members[:last.members]
	c.form = append(closed(c.form, last.start, bracket), ',')
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
