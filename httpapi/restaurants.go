package httpapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/httpapi/visible"
	"larder/internal/directory"
	"larder/internal/menu"
)

// statusTimeout bounds how long a list, of restaurants or of reasons, waits for
// Redis before it answers from memory.
const statusTimeout = time.Second

// listRestaurants answers GET /v1/restaurants, by id; ?q= are words that occur
// in the id or the name. It answers from memory (policy H7): what another
// instance has published or checked is seen after cache.poll at the latest.
func (s *Server) listRestaurants(c *gin.Context) error {
	who, _ := auth.CallerOf(c)
	want, err := visible.Query(c)
	if err != nil {
		return err
	}
	chosen, next := s.directory.Index().Page(who.Viewer(), want, nil)
	list := respond.Page[respond.Restaurant]{Result: make([]respond.Restaurant, len(chosen)), Next: respond.NextPage(next)}
	for i, restaurant := range chosen {
		version, _ := s.replica.Version(restaurant.ID)
		list.Result[i] = respond.NewRestaurant(restaurant, version, s.runner.Stale(version))
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.answerHashed(c, body)
}

// versions are what Redis knows of the restaurants and, where it does not
// answer or has lost what this instance serves, that (policies S5, S2a).
func (s *Server) versions(ctx context.Context, restaurants []directory.Restaurant) map[menu.RestaurantID]cache.Version {
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
