package menus

import (
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"larder.local/cache"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
)

// Handlers answer reads of menus, products, restaurants and rejection reasons.
type Handlers struct {
	deps  Deps
	turns *semaphore.Weighted // to compute lists
}

// lists limits how many lists are computed at once. Thousands that wait for a processor would delay all other
// requests, also those of the liveness probe. A turn ends before the list is sent: a client that does not read must not
// keep it.
const lists = 8

// Deps are the dependencies of the handlers.
type Deps struct {
	visible.Served

	Stale    func(version cache.Version) bool // reports whether it is stale (policy S5)
	Metrics  *metrics.Metrics
	OpenMenu bool // everyone may read menus
	// CacheControl is the Cache-Control of public menu reads (policy H5).
	CacheControl string
}

// New returns the handlers.
func New(deps Deps) *Handlers {
	return &Handlers{deps: deps, turns: semaphore.NewWeighted(lists)}
}

// View answers a read of the menu view of the caller's connection, as published. Policy O1a
// selects the view if restaurant is empty.
func (h *Handlers) View(c *gin.Context, restaurant string) error {
	return h.serveRead(c, &menuRead{kind: readView, restaurant: restaurant})
}

// PublicCacheControl returns the Cache-Control of public reads. Zero values other than maxAge are left out.
func PublicCacheControl(maxAge, staleWhileRevalidate, staleIfError time.Duration) string {
	value := "public, max-age=" + respond.Seconds(maxAge)
	if staleWhileRevalidate > 0 {
		value += ", stale-while-revalidate=" + respond.Seconds(staleWhileRevalidate)
	}
	if staleIfError > 0 {
		value += ", stale-if-error=" + respond.Seconds(staleIfError)
	}
	return value
}
