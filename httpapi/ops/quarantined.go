package ops

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"larder.local/cache"
	"larder.local/httpapi/respond"
	"larder.local/internal/menu"
	menusync "larder.local/sync"
)

// Quarantined answers GET …/quarantined: the quarantined menu view as the ordering service published it (policy S4a).
func (h *Handlers) Quarantined(c *gin.Context, restaurant menu.RestaurantID) error {
	return h.ofQuarantined(c, restaurant, func(q menusync.QuarantinedMenu) error {
		respond.JSONText(c, http.StatusOK, q.Answer)
		return nil
	})
}

// QuarantinedChanges answers GET …/quarantined/changes: what guests would see change if the menu were forced.
func (h *Handlers) QuarantinedChanges(c *gin.Context, restaurant menu.RestaurantID) error {
	return h.ofQuarantined(c, restaurant, func(q menusync.QuarantinedMenu) error {
		served, err := h.deps.Replica.Catalogue(c.Request.Context(), restaurant)
		var view changesView
		switch {
		case err == nil:
			view = compare(served.Catalogue, q.Catalogue)
			view.From = &served.Version.Version
		case errors.Is(err, cache.ErrNoCatalogue), errors.Is(err, cache.ErrOtherSource):
			view = compare(menu.Compile(&menu.View{}, restaurant, q.Catalogue.Settings()), q.Catalogue)
		default:
			return err
		}
		return respond.JSON(c, http.StatusOK, respond.Result{Result: view})
	})
}

// QuarantinedLint answers GET …/quarantined/lint: the findings of the quarantined menu.
func (h *Handlers) QuarantinedLint(c *gin.Context, restaurant menu.RestaurantID) error {
	return h.ofQuarantined(c, restaurant, func(q menusync.QuarantinedMenu) error {
		return respond.JSON(c, http.StatusOK, respond.Result{Result: describeFindings(q.Catalogue, q.Findings())})
	})
}

func (h *Handlers) ofQuarantined(c *gin.Context, restaurant menu.RestaurantID, answer func(menusync.QuarantinedMenu) error) error {
	if err := h.diffs.Acquire(c.Request.Context(), 1); err != nil {
		return err
	}
	defer h.diffs.Release(1)
	return h.deps.Runner.Quarantined(c.Request.Context(), restaurant, answer)
}
