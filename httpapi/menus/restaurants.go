package menus

import (
	"encoding/json"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/httpapi/visible"
)

// Restaurants answers GET /v1/restaurants, by id; ?q= are words that occur
// in the id or the name. It answers from memory (policy H7): what another
// instance has published or checked is seen after cache.poll at the latest.
func (h *Handlers) Restaurants(c *gin.Context) error {
	who, _ := auth.CallerOf(c)
	want, err := visible.Query(c)
	if err != nil {
		return err
	}
	chosen, next := h.directory.Index().Page(who.Viewer(), want, nil)
	list := respond.Page[respond.Restaurant]{Result: make([]respond.Restaurant, len(chosen)), Next: respond.NextPage(next)}
	for i, restaurant := range chosen {
		version, _ := h.replica.Version(restaurant.ID)
		list.Result[i] = respond.NewRestaurant(restaurant, version, h.stale(version))
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return h.answerHashed(c, body)
}
