package menu

import (
	"math/bits"
	"strings"

	"github.com/shopspring/decimal"
)

// numbers keeps the decimals of a text, so that one that comes again, as most
// prices do, is not made again. It forgets some of them: each has one place in
// a table that does not grow.
type numbers []kept

// kept is a decimal and what it was made of.
type kept struct {
	units  int64
	places int32
	value  decimal.Decimal
}

// The table has a place for each so many bytes of the text, within bounds.
const (
	bytesANumber = 512
	leastNumbers = 64
	mostNumbers  = 8192
)

func newNumbers(size int) numbers {
	places := min(max(size/bytesANumber, leastNumbers), mostNumbers)
	return make(numbers, 1<<bits.Len(uint(places-1)))
}

// of gives the decimal of a plain number.
func (all numbers) of(n Number) decimal.Decimal {
	if n.wide != nil {
		return n.Decimal()
	}
	const spread = 0x9E3779B97F4A7C15                         // 2^64 by the golden ratio
	mixed := (uint64(n.units)*31 + uint64(n.places)) * spread //nolint:gosec // bits, no amounts
	at := &all[mixed>>(65-bits.Len(uint(len(all))))]
	if at.units != n.units || at.places != n.places || at.value == (decimal.Decimal{}) {
		*at = kept{units: n.units, places: n.places, value: n.Decimal()}
	}
	return at.value
}

// decimal consumes a number or numeric string (policy W5).
func (d *decoder) decimal(kind Kind) (decimal.Decimal, NumberState) {
	switch kind {
	case KindNumber:
		if n, ok := d.plainNumber(); ok {
			return d.numbers.of(n), NumberOK
		}
		return ParseDecimal(d.Raw())
	case KindString:
		text, _ := d.Text()
		return ParseDecimal(text)
	case KindNull, KindNone:
		d.Skip()
		return decimal.Decimal{}, NumberNull
	default:
		d.Skip()
		return decimal.Decimal{}, NumberInvalid
	}
}

// unit gives the one text of a unit that all measures use.
func (d *decoder) unit(unit string) string {
	if unit == "" {
		return ""
	}
	own, ok := d.units[unit]
	if !ok {
		own = strings.Clone(unit) // no part of the text, which is large
		d.units[own] = own
	}
	return own
}

// oneOf gives the one measure that all use that say the same.
func (d *decoder) oneOf(m Measure) *Measure {
	own, ok := d.measures[m]
	if !ok {
		own = &m
		d.measures[m] = own
	}
	return own
}
