package respond

import (
	"cmp"

	"github.com/shopspring/decimal"

	"larder/cache"
	"larder/internal/directory"
	"larder/internal/jsontext"
	"larder/internal/menu"
)

// HeaderMenuVersion is the header with the menu version of a response.
const HeaderMenuVersion = "Larder-Menu-Version"

// Number is a number with its exact digits, or null.
type Number decimal.NullDecimal

// MarshalJSON writes the number without quotes and exponent.
func (e Number) MarshalJSON() ([]byte, error) {
	if !e.Valid {
		return []byte("null"), nil
	}
	return jsontext.NumberOf(e.Decimal).Append(nil), nil
}

// OrNull returns a pointer to the value, or nil for the zero value.
func OrNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

// Restaurant is a restaurant in the API's lists. The fields of its menu are null until there is one.
type Restaurant struct {
	ID          menu.RestaurantID `json:"id"`
	Name        string            `json:"name"`
	Connection  string            `json:"connection"`
	Version     *int64            `json:"version"`
	Counts      *menu.Counts      `json:"counts"`
	SyncedAt    *string           `json:"syncedAt"`
	CheckedAt   *string           `json:"checkedAt"`
	Stale       bool              `json:"stale"`
	Held        bool              `json:"held"`
	LastOutcome *string           `json:"lastOutcome"`
}

// NewRestaurant returns the row of a restaurant. stale applies only if there is a menu. Version
// 0 means that there is no menu.
func NewRestaurant(restaurant directory.Restaurant, version cache.Version, stale bool) Restaurant {
	row := Restaurant{
		ID:         restaurant.ID,
		Name:       restaurant.Name,
		Connection: restaurant.Connection,
		Stale:      true,
	}
	if version.Version == 0 {
		return row
	}
	row.Name = cmp.Or(row.Name, version.Name)
	row.Version, row.Counts = &version.Version, &version.Counts
	row.SyncedAt, row.CheckedAt = menu.TimeOrNull(version.SyncedAt), menu.TimeOrNull(version.CheckedAt)
	row.Stale, row.Held, row.LastOutcome = stale, version.Held, OrNull(version.LastOutcome)
	return row
}
