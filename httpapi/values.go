package httpapi

import (
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
	"larder/internal/menu"
)

// exact is a number with its exact digits, or null.
type exact decimal.NullDecimal

// MarshalJSON writes the number without quotes and without an exponent.
func (e exact) MarshalJSON() ([]byte, error) {
	if !e.Valid {
		return []byte("null"), nil
	}
	return jsontext.NumberOf(e.Decimal).Append(nil), nil
}

// orNull is a value, or null for what is not there.
func orNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

// formatTime writes a time as every answer has it.
func formatTime(t time.Time) string { return t.UTC().Format(menu.TimeFormat) }
