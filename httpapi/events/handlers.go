package events

import (
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache/replica"
	"larder/httpapi/auth"
	"larder/httpapi/metrics"
	"larder/internal/directory"
	menusync "larder/sync"
)

// Handlers answer the two routes of server-sent events.
type Handlers struct {
	cfg        Config
	drainDelay time.Duration
	streams    *streams
	auth       *auth.Auth
	directory  *directory.Directory
	runner     *menusync.Runner
	metrics    *metrics.Metrics
	clock      func() time.Time
}

// Deps is what the handlers work with.
type Deps struct {
	Config Config
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

// New makes the handlers; no stream is open.
func New(deps Deps) *Handlers {
	return &Handlers{
		cfg: deps.Config, drainDelay: deps.DrainDelay, streams: newStreams(deps.Config, deps.Replica), auth: deps.Auth,
		directory: deps.Directory, runner: deps.Runner, metrics: deps.Metrics, clock: deps.Clock,
	}
}

// End ends every stream, and lets no other begin.
func (h *Handlers) End() { h.streams.end() }

// Open counts the streams, for the metrics.
func (h *Handlers) Open() (menus, ops int) { return h.streams.open() }

// IsStream reports whether the answer of a request is a stream.
func IsStream(c *gin.Context) bool { return c.GetBool(keyStream) }
