package ordering

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"larder/internal/menu"
)

// canonical gives the one form that all bodies that say the same have in
// common (policy O7): members sorted, no white space, strings with the same
// escapes, numbers by value. Two spellings of one field in an object stay in
// their order, for the last one counts. The error is a *menu.SyntaxError.
func canonical(body []byte) ([]byte, error) {
	text, err := menu.Check(body, maxBodyDepth)
	if err != nil {
		return nil, err
	}
	c := canonicalizer{menu.NewReader(text)}
	return c.value(make([]byte, 0, len(text))), nil
}

// canonicalizer walks over a body and appends its canonical form.
type canonicalizer struct{ *menu.Reader }

func (c canonicalizer) value(dst []byte) []byte {
	switch c.Kind() {
	case menu.KindObject:
		return c.object(dst)
	case menu.KindArray:
		dst = append(dst, '[')
		c.Array(func(i int) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = c.value(dst)
		})
		return append(dst, ']')
	case menu.KindString:
		text, _ := c.Text()
		return menu.AppendString(dst, text)
	case menu.KindNumber:
		return appendCanonicalNumber(dst, c.Raw())
	default: // true, false, null
		return append(dst, c.Raw()...)
	}
}

// member of an object: where its canonical form stands in the text.
type canonicalMember struct {
	folded     string
	start, end int
}

func (c canonicalizer) object(dst []byte) []byte {
	dst = append(dst, '{')
	first := len(dst)
	var members []canonicalMember
	c.Fields(func(name, folded string) {
		start := len(dst)
		dst = append(menu.AppendString(dst, name), ':')
		dst = append(c.value(dst), ',')
		members = append(members, canonicalMember{folded, start, len(dst)})
	})
	if len(members) == 0 {
		return append(dst, '}')
	}
	byName := func(a, b canonicalMember) int { return strings.Compare(a.folded, b.folded) }
	if !slices.IsSortedFunc(members, byName) {
		slices.SortStableFunc(members, byName)
		read := bytes.Clone(dst[first:])
		dst = dst[:first]
		for _, m := range members {
			dst = append(dst, read[m.start-first:m.end-first]...)
		}
	}
	dst[len(dst)-1] = '}' // in place of the last comma
	return dst
}

// maxExponentDigits bounds the exponents that are reckoned with: a number with
// a longer one stays as it stands.
const maxExponentDigits = 9

// appendCanonicalNumber appends a JSON number by its value: digits without
// zeros at either end, and the exponent where it is not 0. O(len), whatever
// the exponent.
func appendCanonicalNumber(dst, raw []byte) []byte {
	mantissa, power := raw, []byte(nil)
	if e := bytes.IndexAny(raw, "eE"); e >= 0 {
		mantissa, power = raw[:e], raw[e+1:]
	}
	unsigned := bytes.TrimPrefix(mantissa, []byte("-"))
	whole, fraction, _ := bytes.Cut(unsigned, []byte("."))
	digits := slices.Concat(whole, fraction)
	significant := bytes.TrimRight(digits, "0")
	exponent := len(digits) - len(significant) - len(fraction)
	significant = bytes.TrimLeft(significant, "0")
	if len(significant) == 0 {
		return append(dst, '0')
	}
	if zeros := bytes.TrimLeft(power, "+-0"); len(zeros) > maxExponentDigits {
		return append(dst, raw...)
	} else if len(zeros) > 0 {
		n, _ := strconv.Atoi(string(zeros)) // digits, and few
		if power[0] == '-' {
			n = -n
		}
		exponent += n
	}
	if len(unsigned) < len(mantissa) {
		dst = append(dst, '-')
	}
	dst = append(dst, significant...)
	if exponent != 0 {
		dst = strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	}
	return dst
}
