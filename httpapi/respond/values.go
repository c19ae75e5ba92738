package respond

import (
	"cmp"
	"time"

	"github.com/shopspring/decimal"

	"larder/cache"
	"larder/internal/directory"
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

// TimeOrNull is a time as every answer has it, or null for the zero time.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(menu.FormatTime(t))
}

// Restaurant is a restaurant as the API lists it. What a menu would tell is null
// until there is one.
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

// NewRestaurant returns the row of a restaurant; stale counts where there is a menu. A version of number 0 stands for none.
func NewRestaurant(restaurant directory.Restaurant, version cache.Version, stale bool) Restaurant {
	row := Restaurant{ID: restaurant.ID, Name: restaurant.Name, Connection: restaurant.Connection, Stale: true}
	if version.Version == 0 {
		return row
	}
	row.Name = cmp.Or(row.Name, version.Name)
	row.Version, row.Counts = &version.Version, &version.Counts
	row.SyncedAt, row.CheckedAt = TimeOrNull(version.SyncedAt), TimeOrNull(version.CheckedAt)
	row.Stale, row.Held, row.LastOutcome = stale, version.Held, OrNull(version.LastOutcome)
	return row
}
