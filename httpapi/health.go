package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/httpapi/respond"
	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/sync/runlog"
)

const (
	pingTimeout = time.Second
	// startGrace is after how long one catalogue is enough to be ready.
	startGrace = 30 * time.Second
	// triedAtOnce bounds the restaurants without a catalogue that one probe
	// looks up.
	triedAtOnce = 100
)

// livez answers that the process serves.
func livez(c *gin.Context) {
	c.Writer.Header().Set("Cache-Control", "no-store")
	respond.Write(c, http.StatusOK, respond.ContentJSON, []byte(`{"status":"ok"}`))
}

// readiness remembers what a start has reached: once ready, larder stays so
// but for a drain.
type readiness struct {
	started  time.Time
	draining atomic.Bool

	mu       sync.Mutex
	ready    bool
	answered bool // Redis has, once
	tried    map[menu.RestaurantID]bool
}

// readinessView is the answer of /readyz.
type readinessView struct {
	Status     string      `json:"status"` // ok, degraded or unready
	Components *components `json:"parts,omitempty"`
}

// readyz answers 200 when larder has what it needs to serve, 503 before, with
// no catalogue at all, and while it drains; ?verbose names the parts.
func (s *Server) readyz(c *gin.Context) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), pingTimeout)
	defer cancel()
	found := s.inspect(ctx)
	current := readinessView{Status: "ok"}
	status := http.StatusOK
	switch {
	case s.readiness.draining.Load() || !s.ready(ctx, found):
		current.Status, status = "unready", http.StatusServiceUnavailable
	case found.degraded(s.auth.TakesOrders()):
		current.Status = "degraded"
	}
	if verbose, given := c.GetQuery("verbose"); given && verbose != "false" && verbose != "0" {
		current.Components = s.componentsOf(ctx, found)
	}
	return respond.JSON(c, status, current)
}

// readinessReport is what one probe saw.
type readinessReport struct {
	redis    error                 // why it does not answer
	refused  *redisdb.RefusedError // why it takes no writes
	journal  component
	all      []directory.Restaurant
	missing  []directory.Restaurant // without a catalogue
	versions map[menu.RestaurantID]cache.Version
}

// degraded reports whether anything is not as it should be; the journal counts
// where anybody may place orders.
func (f readinessReport) degraded(orders bool) bool {
	if f.redis != nil || f.refused != nil || len(f.missing) > 0 || orders && !f.journal.OK {
		return true
	}
	for _, version := range f.versions {
		if version.LastOutcome == string(runlog.OutcomeFailed) {
			return true
		}
	}
	return false
}

// inspect looks at Redis and at what is served. What is served comes from
// memory, so that a probe costs the same with ten thousand restaurants.
func (s *Server) inspect(ctx context.Context) readinessReport {
	found := readinessReport{redis: s.redis.Ping(ctx), all: s.directory.Restaurants()}
	var refused *redisdb.RefusedError
	switch {
	case errors.As(found.redis, &refused):
		found.redis, found.refused = nil, refused
	case found.redis == nil:
		// Not asked of Redis by each probe: that would be a write for anyone.
		found.refused = s.runner.RedisRefusesWrites()
	}
	found.journal = s.journalComponent(ctx, found)
	found.versions = make(map[menu.RestaurantID]cache.Version, len(found.all))
	for _, restaurant := range found.all {
		if version, known := s.replica.Version(restaurant.ID); known {
			found.versions[restaurant.ID] = version
		} else {
			found.missing = append(found.missing, restaurant)
		}
	}
	return found
}

// ready reports whether the start is over: Redis has answered once and every
// restaurant has a catalogue or has been tried once, or 30 seconds have passed;
// and there is a catalogue, where any restaurant is configured.
func (s *Server) ready(ctx context.Context, found readinessReport) bool {
	r := s.readiness
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = r.answered || found.redis == nil || len(found.versions) > 0 // which came from it
	if r.ready {
		return true
	}
	if len(found.versions) == 0 && len(found.all) > 0 {
		return false
	}
	late := s.clock().Sub(r.started) >= startGrace
	r.ready = late && len(found.versions) > 0 || r.answered && s.allTried(ctx, found)
	return r.ready
}

// allTried reports whether every restaurant without a catalogue has at least one
// finished run. The caller holds the lock.
func (s *Server) allTried(ctx context.Context, found readinessReport) bool {
	looked := 0
	all := true
	for _, restaurant := range found.missing {
		if s.readiness.tried[restaurant.ID] {
			continue
		}
		if looked++; looked > triedAtOnce {
			return false
		}
		runs, _, err := s.runner.Log().List(ctx, runlog.Filter{Restaurant: restaurant.ID, Limit: 1})
		tried := err == nil && len(runs) > 0 && runs[0].Finished()
		s.readiness.tried[restaurant.ID] = tried
		all = all && tried
	}
	return all
}
