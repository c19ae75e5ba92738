package validate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"larder.local/internal/jsontext"
	"larder.local/ordering/violation"
)

// place is where a violation is in the body.
type place struct {
	pos int32 // violations are listed in this order
	// The JSON Pointer is that of the value which starts, or of the object which ends, at this offset, with the member
	// after it.
	value  int32
	member string // empty, or with a slash
}

// at returns the place of the value that starts at an offset.
func at(pos int32) place { return place{pos: pos, value: pos} }

// atMember returns the place of a member that the value at an offset, or the object that ends there, does not have.
func atMember(pos int32, name string) place { return place{pos: pos, value: pos, member: "/" + name} }

// note is a violation before it is listed.
type note struct {
	place

	code    violation.Code
	params  violation.Params
	subject string // a name for the message that is not a param; it may be empty
}

// notes collects the violations of one body.
type notes struct {
	text     string // the body
	language string // of the messages
	// limit is the maximum number of violations to keep; 0 means no limit. A body is always decoded to its end, and its
	// first violations are enough.
	limit int
	all   []note
}

func (n *notes) add(where place, code violation.Code, params violation.Params, subject string) {
	if n.limit == 0 || len(n.all) < n.limit {
		n.all = append(n.all, note{where, code, params, subject})
	}
}

// missing adds a violation for a mandatory member. field is its name in the interface.
func (n *notes) missing(where place, field string) {
	n.add(where, violation.FieldRequired, violation.Params{"field": field}, "")
}

// Violations returns the first violations in the order of the body, and whether there are more (policy H7).
func (n *notes) Violations() (list []violation.Violation, more bool) {
	if len(n.all) == 0 {
		return nil, false
	}
	slices.SortStableFunc(n.all, func(a, b note) int { return cmp.Compare(a.pos, b.pos) })
	listed := n.all[:min(len(n.all), violation.Max)]
	pointers := make(map[int32]string, len(listed))
	for _, one := range listed {
		pointers[one.value] = ""
	}
	reader := jsontext.NewReader(n.text, maxBodyDepth)
	findPointers(&reader, nil, pointers)
	for _, one := range listed {
		pointer := pointers[one.value] + one.member
		list = append(list, violation.NewAbout(one.subject, pointer, one.code, one.params, n.language))
	}
	return list, len(n.all) > violation.Max
}

// pointerEscapes escapes a name for a JSON Pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1") //nolint:gochecknoglobals // constant

// findPointers sets the JSON Pointers of the next value, which has the given one, and of the values in it. The keys are
// the offsets of the values, and of the ends of objects.
func findPointers(r *jsontext.Reader, pointer []byte, pointers map[int32]string) {
	set := func() {
		if _, wanted := pointers[int32(r.Offset())]; wanted {
			pointers[int32(r.Offset())] = string(pointer)
		}
	}
	set()
	switch r.Kind() {
	case jsontext.KindObject:
		for name := range r.Members() {
			findPointers(r, append(append(pointer, '/'), pointerEscapes.Replace(name)...), pointers)
		}
		set()
	case jsontext.KindArray:
		for i := range r.Elements() {
			findPointers(r, strconv.AppendInt(append(pointer, '/'), int64(i), 10), pointers)
		}
	default:
		r.Skip()
	}
}
