package ordering

import (
	"strconv"
	"strings"

	"larder/internal/jsontext"
	"larder/ordering/validate"
)

// canonical returns the one form that all bodies that say the same have in
// common (policy O7): members sorted, no white space, strings with the same
// escapes, numbers by value. Two spellings of one field in an object stay in
// their order, for the last one counts. The error is a *jsontext.SyntaxError.
func canonical(body []byte) ([]byte, error) {
	text, err := jsontext.Check(jsontext.String(body), validate.MaxBodyDepth)
	if err != nil {
		return nil, err
	}
	return jsontext.AppendCanonical(make([]byte, 0, len(text)), text, appendCanonicalNumber), nil
}

// maxExponentDigits bounds the exponents that are computed: a number with a
// longer one stays as it stands.
const maxExponentDigits = 9

// appendCanonicalNumber appends a JSON number by its value: digits without
// zeros at either end, and the exponent where it is not 0. O(len), whatever
// the exponent.
func appendCanonicalNumber(dst []byte, number string) []byte {
	mantissa, power := number, ""
	if e := strings.IndexAny(number, "eE"); e >= 0 {
		mantissa, power = number[:e], number[e+1:]
	}
	unsigned := strings.TrimPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := whole + fraction
	significant := strings.TrimRight(digits, "0")
	exponent := len(digits) - len(significant) - len(fraction)
	significant = strings.TrimLeft(significant, "0")
	if significant == "" {
		return append(dst, '0')
	}
	if len(strings.TrimLeft(power, "+-0")) > maxExponentDigits {
		return append(dst, number...)
	}
	n, _ := strconv.Atoi(power) // 0 where there is none
	exponent += n
	if len(unsigned) < len(mantissa) {
		dst = append(dst, '-')
	}
	dst = append(dst, significant...)
	if exponent != 0 {
		dst = strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	}
	return dst
}
