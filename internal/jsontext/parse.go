package jsontext

import (
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
	switch {
	case s == "":
		return Number{}, NumberNull
	case len(s) > maxNumberText, strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.-+eE,", r) }):
		return Number{}, NumberInvalid
	case strings.Contains(s, ","):
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

// parsePlain reads what nearly every number is: at most MaxPlaces digits, with a
// sign and a full stop between them or without.
func parsePlain(text string) (Number, bool) {
	unsigned := strings.TrimPrefix(text, "-")
	digits, places := len(unsigned), 0
	if digits > MaxPlaces+1 {
		return Number{}, false
	}
	units := int64(0)
	for i := range len(unsigned) {
		switch c := unsigned[i]; {
		case c >= '0' && c <= '9':
			units = units*10 + int64(c-'0')
		case c == '.' && places == 0 && i > 0:
			digits--
			places = digits - i // 0 where nothing follows
			if places == 0 {
				return Number{}, false
			}
		default:
			return Number{}, false
		}
	}
	if digits < 1 || digits > MaxPlaces {
		return Number{}, false
	}
	if len(unsigned) < len(text) {
		units = -units
	}
	return Number{units: units, places: int32(places)}, true
}
