package httpapi

import (
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache/replica"
	"larder/httpapi/auth"
	"larder/httpapi/metrics"
	"larder/internal/directory"
	menusync "larder/sync"
)

// eventHandlers answer the two routes of server-sent events.
type eventHandlers struct {
	cfg        EventsConfig
	drainDelay time.Duration
	streams    *streams
	auth       *auth.Auth
	directory  *directory.Directory
	runner     *menusync.Runner
	metrics    *metrics.Metrics
	clock      func() time.Time
}

// eventDeps is what the handlers work with.
type eventDeps struct {
	Config EventsConfig
	// DrainDelay is how long larder still answers after the streams are ended:
	// their readers are told to come back after it.
	DrainDelay time.Duration
	Replica    *replica.Replica
	Auth       *auth.Auth
	Directory  *directory.Directory
	Runner     *menusync.Runner
	Metrics    *metrics.Metrics
	Clock      func() time.Time
}

// newEventHandlers makes the handlers; no stream is open.
func newEventHandlers(deps eventDeps) *eventHandlers {
	return &eventHandlers{
		cfg: deps.Config, drainDelay: deps.DrainDelay, streams: newStreams(deps.Config, deps.Replica), auth: deps.Auth,
		directory: deps.Directory, runner: deps.Runner, metrics: deps.Metrics, clock: deps.Clock,
	}
}

// end ends every stream, and lets no other begin.
func (h *eventHandlers) end() { h.streams.end() }

// open counts the streams, for the metrics.
func (h *eventHandlers) open() (menus, ops int) { return h.streams.open() }

// isStream reports whether the answer of a request is a stream.
func isStream(c *gin.Context) bool { return c.GetBool(keyStream) }
