package jsontext

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// Number is an exact decimal number. It has the same values, results and exponents as decimal.Decimal, but
// nearly all numbers need no allocation. The zero Number is 0. A Number is immutable.
type Number struct {
	units  int64            // times 10^-places
	places int32            // 0 to MaxPlaces
	wide   *decimal.Decimal // the number, if units and places cannot represent it
}

// NumberOf returns d as a Number.
func NumberOf(d decimal.Decimal) Number {
	if places := -d.Exponent(); places >= 0 && places <= MaxPlaces && d.NumDigits() <= MaxPlaces {
		return Number{units: d.CoefficientInt64(), places: places}
	}
	wide := d // a copy, so that d does not escape in the other cases
	return Number{wide: &wide}
}

// Whole returns a whole number.
func Whole(n int64) Number {
	if n < -maxUnits || n > maxUnits {
		return NumberOf(decimal.NewFromInt(n))
	}
	return Number{units: n}
}

const (
	// MaxPlaces is the number of digits, before and after the decimal point together, that always fit in an int64.
	MaxPlaces = 18
	// maxUnits is the largest number with MaxPlaces digits.
	maxUnits = 1e18 - 1
)

// Decimal returns the number as a decimal.Decimal.
func (n Number) Decimal() decimal.Decimal {
	if n.wide != nil {
		return *n.wide
	}
	return decimal.New(n.units, -n.places)
}

// Units returns the number as units × 10^-places, 0 to MaxPlaces places; ok is false if it does not fit.
func (n Number) Units() (units int64, places int32, ok bool) {
	return n.units, n.places, n.wide == nil
}

// FromUnits is the inverse of Units.
func FromUnits(units int64, places int32) Number { return Number{units: units, places: places} }

// Sign returns -1, 0 or 1.
func (n Number) Sign() int { return n.Cmp(Number{}) }

// IsWhole reports whether the number is an integer.
func (n Number) IsWhole() bool { return n.Cmp(n.Round(0)) == 0 }

// Int64 returns the integer part of a number for which it has at most MaxPlaces digits.
func (n Number) Int64() int64 {
	if n.wide == nil {
		return n.units / powerOf10(n.places)
	}
	return n.wide.IntPart()
}

// Cmp compares by value and returns -1, 0 or 1.
func (n Number) Cmp(m Number) int {
	if a, b, _, ok := level(n, m); ok {
		return cmp.Compare(a, b)
	}
	return n.Decimal().Cmp(m.Decimal())
}

// Add returns n + m.
func (n Number) Add(m Number) Number {
	if a, b, places, ok := level(n, m); ok {
		if sum := a + b; sum >= -maxUnits && sum <= maxUnits { // each is below 10^18: no overflow
			return Number{units: sum, places: places}
		}
	}
	return NumberOf(n.Decimal().Add(m.Decimal()))
}

// Mul returns n × m.
func (n Number) Mul(m Number) Number {
	if n.wide == nil && m.wide == nil && n.places+m.places <= MaxPlaces {
		if product, ok := product(n.units, m.units); ok {
			return Number{units: product, places: n.places + m.places}
		}
	}
	return NumberOf(n.Decimal().Mul(m.Decimal()))
}

// Round rounds half away from zero to at most the given number of places, 0 or more.
func (n Number) Round(places int32) Number {
	if n.wide == nil && n.places <= places || n.wide != nil && -n.wide.Exponent() <= places {
		return n
	}
	return NumberOf(n.Decimal().Round(places))
}

// Append appends the number as JSON, with exact digits and without an exponent: 199.90 becomes 199.9.
func (n Number) Append(dst []byte) []byte {
	if n.wide != nil {
		return append(dst, n.wide.String()...)
	}
	power := powerOf10(n.places)
	whole, fraction := n.units/power, n.units%power
	if n.units < 0 {
		dst = append(dst, '-')
		whole, fraction = -whole, -fraction
	}
	dst = strconv.AppendInt(dst, whole, 10)
	if fraction == 0 {
		return dst
	}
	point := len(dst)
	dst = strconv.AppendInt(dst, power+fraction, 10) // the digit before the fraction, 1, keeps its zeros
	dst[point] = '.'
	return bytes.TrimRight(dst, "0")
}

// level returns both numbers with the same number of places; ok is false if one of them does not fit.
func level(n, m Number) (a, b int64, places int32, ok bool) {
	places = max(n.places, m.places)
	a, aFits := product(n.units, powerOf10(places-n.places))
	b, bFits := product(m.units, powerOf10(places-m.places))
	return a, b, places, aFits && bFits && n.wide == nil && m.wide == nil
}

// product returns a × b; ok is false if the result has more than MaxPlaces digits.
func product(a, b int64) (int64, bool) {
	c := a * b
	if a != 0 && c/a != b || c < -maxUnits || c > maxUnits { // the first condition detects an overflow
		return 0, false
	}
	return c, true
}

// powerOf10 returns 10^n for n up to MaxPlaces, usually 0 or 2.
func powerOf10(n int32) int64 {
	power := int64(1)
	for ; n > 0; n-- {
		power *= 10
	}
	return power
}

// NumberState is the result of parsing a number.
type NumberState uint8

// The results of ParseNumber. NumberComma is a decimal comma, which has its own violation code (policy W5).
const (
	NumberOK NumberState = iota
	NumberNull
	NumberComma
	NumberInvalid
)

// Limits of a number's text and exponent. A number beyond them is rejected before any arithmetic,
// so that "1e999999999" costs nothing.
const (
	maxNumberText = 40
	maxExponent   = 20
)

// ParseNumber parses a decimal number with a decimal point, optionally surrounded by white space.
// An empty text is NumberNull, a decimal comma is NumberComma.
func ParseNumber(text string) (Number, NumberState) {
	if n, ok := parsePlain(text); ok {
		return n, NumberOK
	}
	s := strings.TrimSpace(text)
	switch {
	case s == "":
		return Number{}, NumberNull
	case len(s) > maxNumberText,
		strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.-+eE,", r) }):
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

// parsePlain parses the common form: at most MaxPlaces digits, with an optional sign and decimal point. A text that it
// rejects may still be a number.
func parsePlain(text string) (Number, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	digits := whole + fraction
	if whole == "" || len(digits) > MaxPlaces {
		return Number{}, false
	}
	units, err := strconv.ParseInt(digits, 10, 64)
	return Number{units: units, places: int32(len(fraction))}, err == nil
}
