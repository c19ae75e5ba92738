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
	part     func(folded string) bool // see AppendParted, otherwise nil
	parted   []byte                   // the members of the part
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

// Reset makes c read another text, without options.
func (c *Canonical) Reset(text string, maxDepth int) {
	*c = Canonical{Reader: NewReader(text, maxDepth)}
}

// Record appends all that is read to dst, until Recorded.
func (c *Canonical) Record(dst []byte) {
	if c.members == nil {
		c.brackets, c.members = make([]canonicalBracket, 0, 8), make([]canonicalMember, 0, 32)
	}
	c.form, c.brackets, c.members = dst, c.brackets[:0], c.members[:0]
	c.canonical = c
}

// Recorded returns the output since Record, and ends the recording.
func (c *Canonical) Recorded() []byte {
	c.canonical = nil
	return bytes.TrimSuffix(c.form, []byte{','})
}

// AppendNext appends the next value.
func (c *Canonical) AppendNext(dst []byte) []byte {
	c.Record(dst)
	c.Skip()
	return c.Recorded()
}

// AppendParted appends the next value, an object, without the members for which part returns true. It returns them as
// another object, which is valid until the next call.
func (c *Canonical) AppendParted(dst []byte, part func(folded string) bool) (rest, parted []byte) {
	c.part, c.parted = part, append(c.parted[:0], '{')
	rest = c.AppendNext(dst)
	c.part, c.parted = nil, closed(c.parted, len("{"), '}')
	return rest, c.parted
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
	parting := c.part != nil && len(c.brackets) == 0
	if sortMembers(members) || parting {
		c.buffer = append(c.buffer[:0], c.form[last.start:]...)
		c.form = c.form[:last.start]
		for _, m := range members {
			into := &c.form
			if parting && c.part(m.folded) {
				into = &c.parted
			}
			*into = append(*into, c.buffer[m.start-last.start:m.end-last.start]...)
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
