package menu

import (
	"math/bits"
	"strings"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
)

// numbers is a cache of decimals, because most prices occur several times. It has a fixed size; a
// new number replaces another one in its slot.
type numbers []cachedNumber

// cachedNumber is a decimal and the number it was created from.
type cachedNumber struct {
	units  int64
	places int32
	value  decimal.Decimal
}

// The table has one slot per bytesANumber bytes of the text, within these limits.
const (
	bytesANumber = 512
	leastNumbers = 64
	mostNumbers  = 8192
)

func newNumbers(size int) numbers {
	places := min(max(size/bytesANumber, leastNumbers), mostNumbers)
	return make(numbers, 1<<bits.Len(uint(places-1)))
}

func (all numbers) of(n jsontext.Number) decimal.Decimal {
	units, places, ok := n.Units()
	if !ok {
		return n.Decimal()
	}
	const spread = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	mixed := (uint64(units)*31 + uint64(places)) * spread
	at := &all[mixed>>(65-bits.Len(uint(len(all))))]
	if at.units != units || at.places != places || at.value == (decimal.Decimal{}) {
		*at = cachedNumber{units: units, places: places, value: n.Decimal()}
	}
	return at.value
}

// decimal consumes a number or numeric string (policy W5).
func (d *decoder) decimal() (decimal.Decimal, jsontext.NumberState) {
	n, state := d.Number()
	if state != jsontext.NumberOK {
		return decimal.Decimal{}, state
	}
	return d.numbers.of(n), jsontext.NumberOK
}

func (d *decoder) sharedUnit(unit string) string {
	if unit == "" {
		return ""
	}
	own, ok := d.units[unit]
	if !ok {
		own = strings.Clone(unit) // not a part of the large text
		d.units[own] = own
	}
	return own
}

func (d *decoder) sharedMeasure(m Measure) *Measure {
	own, ok := d.measures[m]
	if !ok {
		own = &m
		d.measures[m] = own
	}
	return own
}
