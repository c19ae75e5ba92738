package validate

import (
	"cmp"
	"slices"
	"strings"

	"larder.local/ordering/violation"
)

// checkSpellings adds a violation for each field that an object has with different values, in several spellings or in
// one (policy O19). It is called after the object, which starts at an offset, and reads it again.
func checkSpellings[T any](d *decoder, fields *fieldTable[T], start int) {
	values, spelt, reported := map[int]string{}, map[int]string{}, map[int]bool{}
	first := int32(0) // position of the first repeated member
	again := canonicalOf(d.Source()[start:d.Offset()])
	for name := range again.Members() {
		field, pos := fields.find(name), int32(start+again.Offset())
		if field == unknownField || fields.mayRepeat(field) {
			continue
		}
		value := string(again.AppendNext(nil))
		isNull := value == "null"
		switch fields.fields[field].kind {
		case wantID:
			value = strings.Trim(value, `"`) // 7 and "7" are equal (policy W4)
		case wantNumber, wantWhole: // and so are 2 and "2.0" (policy W12)
			value = string(appendCanonicalNumber(nil, strings.Trim(value, `" `)))
		default:
		}
		if spelt[field] != "" {
			first = cmp.Or(first, pos)
		}
		switch before, given := values[field]; {
		case isNull:
			spelt[field] = cmp.Or(spelt[field], name)
		case !given:
			values[field], spelt[field] = value, name
		case value != before && !reported[field]:
			reported[field] = true
			both := strings.Join(slices.Compact([]string{spelt[field], name}), ", ")
			where := place{pos: first, value: int32(start), member: "/" + pointerEscapes.Replace(name)}
			d.add(where, violation.LimitExceeded, violation.Params{"limit": 1}, violation.LimitOfValues+"("+both+")")
		}
	}
}
