package validate

import (
	"cmp"
	"slices"
	"strings"

	"larder.local/internal/jsontext"
	"larder.local/ordering/violation"
)

// spellings notes the fields of one object, to find those that it has twice.
type spellings struct {
	names          *nameTable
	start          int    // of the object in the body
	seen, repeated uint32 // by field
	pos            int32  // of the first repeated member
}

// add notes a field at a position.
func (s *spellings) add(field int, pos int32) {
	if field == lineID && s.names == &lineFields.nameTable {
		return // of two IDs, the menu decides (policy O3)
	}
	if bit := uint32(1) << field; s.seen&bit != 0 {
		s.repeated |= bit
		s.pos = cmp.Or(s.pos, pos)
	}
	s.seen |= 1 << field
}

// checkSpellings adds a violation for each field that the object has with different values, in several spellings or in
// one (policy O19). It is called after the object, and reads it again.
func (d *decoder) checkSpellings(s *spellings) {
	if s.repeated == 0 {
		return
	}
	values, names := map[int]string{}, map[int]string{}
	var again jsontext.Canonical
	again.Reset(d.Source()[s.start:d.Offset()], maxBodyDepth)
	again.AppendNumber = appendCanonicalNumber
	for name := range again.Members() {
		field := s.names.find(name)
		if field == unknownField || s.repeated&(1<<field) == 0 {
			continue
		}
		value := string(again.AppendNext(nil))
		given := value != "null"
		switch kind := s.names.kinds[field]; kind {
		case wantID:
			value = strings.Trim(value, `"`) // 7 and "7" are equal (policy W4)
		case wantNumber, wantWhole: // and so are 2 and "2.0" (policy W12)
			value = string(appendCanonicalNumber(nil, strings.Trim(value, `" `)))
		default:
		}
		switch before, found := values[field]; {
		case given && !found:
			values[field], names[field] = value, name
		case given && value != before:
			s.repeated &^= 1 << field // one violation
			spelt := strings.Join(slices.Compact([]string{names[field], name}), ", ")
			where := place{pos: s.pos, value: int32(s.start), member: "/" + pointerEscapes.Replace(name)}
			d.add(where, violation.LimitExceeded, violation.Params{"limit": 1}, violation.LimitOfValues+"("+spelt+")")
		}
	}
}
