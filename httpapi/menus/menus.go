package menus

import (
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/cache/replica"
	"larder/httpapi/metrics"
	"larder/httpapi/respond"
	"larder/internal/directory"
)

// Handlers answer reads of menus, products, restaurants and rejection reasons.
type Handlers struct {
	deps               Deps
	publicCacheControl string       // Cache-Control of open menu reads
	lastModifiedSeen   atomic.Int64 // Unix milliseconds: a time that is over
}

// Deps is what the handlers work with.
type Deps struct {
	Replica   *replica.Replica
	Directory *directory.Directory
	Stale     func(version cache.Version) bool // whether it was not confirmed for too long (policy S5)
	Metrics   *metrics.Metrics
	Clock     func() time.Time
	OpenMenu  bool // anyone may read menus
	// MaxAge, StaleWhileRevalidate and StaleIfError make up the Cache-Control of
	// open reads (policy H5).
	MaxAge, StaleWhileRevalidate, StaleIfError time.Duration
}

// New makes the handlers.
func New(deps Deps) *Handlers {
	return &Handlers{deps: deps, publicCacheControl: PublicCacheControl(deps.MaxAge, deps.StaleWhileRevalidate, deps.StaleIfError)}
}

// View answers a read of the menu view of the caller's connection, as published:
// that of the restaurant named, or by policy O1a.
func (h *Handlers) View(c *gin.Context, restaurant string) error {
	return h.serveRead(c, &menuRead{kind: readView, restaurant: restaurant})
}

// PublicCacheControl is the Cache-Control of open reads; what is zero is left out,
// but for the first.
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
