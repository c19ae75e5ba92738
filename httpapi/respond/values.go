package respond

import (
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/menu"
)

// HeaderMenuVersion names the version of the menu that an answer is about.
const HeaderMenuVersion = "Larder-Menu-Version"

// Number is a number with its exact digits, or null.
type Number decimal.NullDecimal

// MarshalJSON writes the number without quotes and without an exponent.
func (e Number) MarshalJSON() ([]byte, error) {
	if !e.Valid {
		return []byte("null"), nil
	}
	return jsontext.NumberOf(e.Decimal).Append(nil), nil
}

// OrNull is a value, or null for what is not there.
func OrNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

// Time writes a time as every answer has it.
func Time(t time.Time) string { return t.UTC().Format(menu.TimeFormat) }
