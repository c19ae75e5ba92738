package respond

import (
	"cmp"

	"larder/cache"
	"larder/internal/directory"
	"larder/internal/menu"
)

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
	row.SyncedAt, row.CheckedAt = OrNull(Time(version.SyncedAt)), OrNull(Time(version.CheckedAt))
	row.Stale, row.Held, row.LastOutcome = stale, version.Held, OrNull(version.LastOutcome)
	return row
}
