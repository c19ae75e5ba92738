package httpapi

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

// menuHandlers answer reads of menus, products, restaurants and rejection reasons.
type menuHandlers struct {
	replica            *replica.Replica
	directory          *directory.Directory
	stale              func(version cache.Version) bool
	metrics            *metrics.Metrics
	clock              func() time.Time
	openMenu           bool
	publicCacheControl string       // Cache-Control of open menu reads
	lastModifiedSeen   atomic.Int64 // Unix milliseconds: a time that is over
}

// menuDeps is what the handlers work with.
type menuDeps struct {
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

// newMenuHandlers makes the handlers.
func newMenuHandlers(deps menuDeps) *menuHandlers {
	return &menuHandlers{
		replica: deps.Replica, directory: deps.Directory, stale: deps.Stale, metrics: deps.Metrics, clock: deps.Clock, openMenu: deps.OpenMenu,
		publicCacheControl: publicCacheControl(deps.MaxAge, deps.StaleWhileRevalidate, deps.StaleIfError),
	}
}

// view answers a read of the menu view of the caller's connection, as published:
// that of the restaurant named, or by policy O1a.
func (h *menuHandlers) view(c *gin.Context, restaurant string) error {
	return h.serveRead(c, &menuRead{kind: readView, restaurant: restaurant})
}

// publicCacheControl is the Cache-Control of open reads; what is zero is left out,
// but for the first.
func publicCacheControl(maxAge, staleWhileRevalidate, staleIfError time.Duration) string {
	value := "public, max-age=" + respond.Seconds(maxAge)
	if staleWhileRevalidate > 0 {
		value += ", stale-while-revalidate=" + respond.Seconds(staleWhileRevalidate)
	}
	if staleIfError > 0 {
		value += ", stale-if-error=" + respond.Seconds(staleIfError)
	}
	return value
}
