package respond

import (
	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
)

// HeaderMenuVersion is the header with the menu version of a response.
const HeaderMenuVersion = "Larder-Menu-Version"

// Number is a number with its exact digits, or null.
type Number decimal.NullDecimal

// Append appends the number without quotes and exponent.
func (e Number) Append(dst []byte) []byte {
	if !e.Valid {
		return append(dst, "null"...)
	}
	return jsontext.NumberOf(e.Decimal).Append(dst)
}

// MarshalJSON implements json.Marshaler.
func (e Number) MarshalJSON() ([]byte, error) { return e.Append(nil), nil }

// OrNull returns a pointer to the value, or nil for the zero value.
func OrNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}
