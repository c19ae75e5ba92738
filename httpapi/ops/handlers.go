package ops

import (
	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/semaphore"

	"larder.local/cache"
	"larder.local/httpapi/audit"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	menusync "larder.local/sync"
)

// Handlers answer requests about restaurants, syncs and versions.
type Handlers struct {
	Availability Availability

	deps  Deps
	diffs *semaphore.Weighted // the comparisons in progress
}

// Deps are the dependencies of the handlers.
type Deps struct {
	visible.Served

	Store     *cache.Store
	Scheduler *menusync.Scheduler
	Runner    *menusync.Runner // of the Scheduler
	Journal   ordering.Journal
	Paused    func(connection string) bool // whether Redis may have lost orders (policy O14a)
	Tokens    func(connection string) upstream.TokenStatus
	Audit     *audit.Log
	Log       logrus.FieldLogger
}

// New returns the handlers.
func New(deps Deps) *Handlers {
	return &Handlers{Availability{&deps}, deps, semaphore.NewWeighted(maxDiffs)}
}

// OfMenu returns a handler that calls answer with the menu in the path.
func (h *Handlers) OfMenu(answer func(c *gin.Context, restaurant menu.RestaurantID) error) gin.HandlerFunc {
	return respond.Handle(func(c *gin.Context) error {
		restaurant, err := visible.SyncedMenu(c, h.deps.Directory)
		if err != nil {
			return err
		}
		return answer(c, restaurant)
	})
}
