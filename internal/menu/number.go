package menu

import (
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

// AppendDecimal appends d as a JSON number with exact digits and no exponent:
// 199.90 becomes 199.9.
func AppendDecimal(dst []byte, d decimal.Decimal) []byte {
	return append(dst, d.String()...)
}
