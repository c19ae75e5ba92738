package jsontext

import (
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// NumberState is what was found where a number is expected.
type NumberState uint8

// The states of a number. NumberComma is a decimal comma, which has a code of
// its own (policy W5).
const (
	NumberOK NumberState = iota
	NumberNull
	NumberComma
	NumberInvalid
)

// Bounds of a number's text: longer ones and greater exponents are rejected
// before any arithmetic, so that "1e999999999" costs nothing.
const (
	maxNumberText = 40
	maxExponent   = 20
)

// ParseNumber reads a decimal number with a decimal point; white space around it
// is allowed. An empty text is NumberNull, a decimal comma is NumberComma.
func ParseNumber(text string) (Number, NumberState) {
	if n, ok := parsePlain(text); ok {
		return n, NumberOK
	}
	s := strings.TrimSpace(text)
	if s == "" {
		return Number{}, NumberNull
	}
	if len(s) > maxNumberText {
		return Number{}, NumberInvalid
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.-+eE,", r) }) {
		return Number{}, NumberInvalid
	}
	if strings.Contains(s, ",") {
		return Number{}, NumberComma
	}
	if e := strings.IndexAny(s, "eE"); e >= 0 && len(strings.TrimLeft(s[e+1:], "+-0")) > 2 {
		return Number{}, NumberInvalid
	}
	d, err := decimal.NewFromString(s)
	if err != nil || d.Exponent() > maxExponent || d.Exponent() < -maxNumberText {
		return Number{}, NumberInvalid
	}
	return NumberOf(d), NumberOK
}

// MaxPlaces is how many digits always fit an int64, before and behind the decimal
// point together.
const MaxPlaces = 18

// parsePlain reads what nearly every number is: at most 18 digits, with a sign
// and a full stop between them or without.
func parsePlain(text string) (Number, bool) {
	i := 0
	if len(text) > 0 && text[0] == '-' {
		i = 1
	}
	digits, places := len(text)-i, int32(0)
	units, stop := int64(0), -1
	for k := i; k < len(text); k++ {
		switch c := text[k]; {
		case c >= '0' && c <= '9':
			if digits > MaxPlaces+1 {
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
	if digits < 1 || digits > MaxPlaces {
		return Number{}, false
	}
	if i == 1 {
		units = -units
	}
	return Number{units: units, places: places}, true
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
	var buffer [MaxPlaces + 1]byte
	digits := strconv.AppendInt(buffer[:0], units, 10)
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
