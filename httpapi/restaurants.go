package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/internal/menu"
	menusync "larder/sync"
)

// statusTimeout bounds how long a list, of restaurants or of reasons, waits for
// Redis before it answers from memory.
const statusTimeout = time.Second

// restaurantRow is a restaurant as the API lists it. What a menu would tell is null
// until there is one.
type restaurantRow struct {
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

// listRestaurants answers GET /v1/restaurants, by id; ?q= are words that occur
// in the id or the name. It answers from memory (policy H7): what another
// instance has published or checked is seen after cache.poll at the latest.
func (s *Server) listRestaurants(c *gin.Context) error {
	who, _ := callerOf(c)
	want, err := restaurantsWanted(c)
	if err != nil {
		return err
	}
	chosen, next := s.restaurantIndex().page(who, want, nil)
	list := page[restaurantRow]{Result: make([]restaurantRow, len(chosen)), Next: nextPage(next)}
	for i, restaurant := range chosen {
		version, _ := s.replica.Version(restaurant.ID)
		list.Result[i] = s.row(restaurant, version)
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.answerHashed(c, body)
}

// wantedRestaurants is the page of restaurants that a request asks for.
type wantedRestaurants struct {
	words string // that occur in the id or the name
	after string // the last id of the page before
	limit int
}

// restaurantsWanted reads ?q=, ?cursor= and ?limit=.
func restaurantsWanted(c *gin.Context) (want wantedRestaurants, err error) {
	if want.limit, want.after, err = pageOf(c); err != nil {
		return want, err
	}
	want.words, err = searchText(c)
	return want, err
}

// versions are what Redis knows of the restaurants and, where it does not
// answer or has lost what this instance serves, that (policies S5, S2a).
func (s *Server) versions(ctx context.Context, restaurants []menusync.Restaurant) map[menu.RestaurantID]cache.Version {
	ids := make([]menu.RestaurantID, len(restaurants))
	for i := range restaurants {
		ids[i] = restaurants[i].ID
	}
	versions := make(map[menu.RestaurantID]cache.Version, len(ids))
	if !s.runner.RedisDown() { // else each list would wait in vain
		ctx, cancel := context.WithTimeout(ctx, statusTimeout)
		defer cancel()
		if found, err := s.store.Currents(ctx, ids); err == nil {
			versions = found
		}
	}
	for _, id := range ids {
		stored := versions[id]
		if version, known := s.replica.Version(id); known && version.Version > stored.Version {
			version.Floor = max(version.Floor, stored.Floor)
			versions[id] = version
		}
	}
	return versions
}

// row returns the row of a restaurant. A version of number 0 stands for none.
func (s *Server) row(restaurant menusync.Restaurant, version cache.Version) restaurantRow {
	row := restaurantRow{ID: restaurant.ID, Name: restaurant.Name, Connection: restaurant.Connection, Stale: true}
	if version.Version == 0 {
		return row
	}
	row.Name = cmp.Or(row.Name, version.Name)
	row.Version, row.Counts = &version.Version, &version.Counts
	row.SyncedAt, row.CheckedAt = orNull(menu.FormatTime(version.SyncedAt)), orNull(menu.FormatTime(version.CheckedAt))
	row.Stale, row.Held, row.LastOutcome = s.runner.Stale(version), version.Held, orNull(version.LastOutcome)
	return row
}
