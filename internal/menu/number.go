package menu

import (
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// NumberState says what a Reader found where a number belongs.
type NumberState uint8

// The states of a number. NumberComma is a decimal comma, which is refused
// with a code of its own (policy W5).
const (
	NumberOK NumberState = iota
	NumberNull
	NumberComma
	NumberInvalid
)

// Bounds of a number's text: longer ones, and exponents beyond, are refused
// before any arithmetic, so that "1e999999999" costs nothing.
const (
	maxNumberText = 40
	maxExponent   = 20
)

// ParseDecimal reads a decimal number with a full stop, white space around it
// allowed. An empty text is NumberNull; a decimal comma is NumberComma.
func ParseDecimal(text string) (decimal.Decimal, NumberState) {
	if n, ok := parsePlain(text); ok {
		return n.Decimal(), NumberOK
	}
	return parseOther(text)
}

// parseOther is ParseDecimal for what is not plain.
func parseOther(text string) (decimal.Decimal, NumberState) {
	s := strings.TrimSpace(text)
	if s == "" {
		return decimal.Decimal{}, NumberNull
	}
	if len(s) > maxNumberText {
		return decimal.Decimal{}, NumberInvalid
	}
	comma := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '.', c == '-', c == '+', c == 'e', c == 'E':
		case c == ',':
			comma = true
		default:
			return decimal.Decimal{}, NumberInvalid
		}
	}
	if comma {
		return decimal.Decimal{}, NumberComma
	}
	if e := strings.IndexAny(s, "eE"); e >= 0 && len(strings.TrimLeft(s[e+1:], "+-0")) > 2 {
		return decimal.Decimal{}, NumberInvalid
	}
	d, err := decimal.NewFromString(s)
	if err != nil || d.Exponent() > maxExponent || d.Exponent() < -maxNumberText {
		return decimal.Decimal{}, NumberInvalid
	}
	return d, NumberOK
}

// ParseNumber is ParseDecimal for a Number.
func ParseNumber(text string) (Number, NumberState) {
	if n, ok := parsePlain(text); ok {
		return n, NumberOK
	}
	d, state := parseOther(text)
	if state != NumberOK {
		return Number{}, state
	}
	return NumberOf(d), NumberOK
}

// plainDigits is how many digits always fit an int64.
const plainDigits = 18

// parsePlain reads what nearly every number is: at most 18 digits, with a sign
// and a full stop between them or without.
func parsePlain[T string | []byte](text T) (Number, bool) {
	i := 0
	if len(text) > 0 && text[0] == '-' {
		i = 1
	}
	digits, places := len(text)-i, int32(0)
	units, stop := int64(0), -1
	for k := i; k < len(text); k++ {
		switch c := text[k]; {
		case c >= '0' && c <= '9':
			if digits > plainDigits+1 {
				return Number{}, false
			}
			units = units*10 + int64(c-'0')
		case c == '.' && stop < 0 && k > i && k+1 < len(text):
			stop = k
			digits--
			places = int32(len(text) - 1 - k) //nolint:gosec // few digits follow
		default:
			return Number{}, false
		}
	}
	if digits < 1 || digits > plainDigits {
		return Number{}, false
	}
	if i == 1 {
		units = -units
	}
	return Number{units: units, places: places}, true
}

// AppendDecimal appends d as a JSON number with exact digits and no exponent:
// 199.90 becomes 199.9.
func AppendDecimal(dst []byte, d decimal.Decimal) []byte {
	places := -int(d.Exponent())
	if places < 0 || places > plainDigits || d.NumDigits() > plainDigits {
		return append(dst, d.String()...)
	}
	return appendPlain(dst, d.CoefficientInt64(), places)
}

// appendPlain appends units × 10^-places, at most 18 digits.
func appendPlain(dst []byte, units int64, places int) []byte {
	if units < 0 {
		dst = append(dst, '-')
		units = -units
	}
	for ; places > 0 && units%10 == 0; places-- {
		units /= 10
	}
	var room [plainDigits + 1]byte
	digits := strconv.AppendInt(room[:0], units, 10)
	whole := len(digits) - places
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[:whole]...)
	}
	if places == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits[whole:]...)
}
