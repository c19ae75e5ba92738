package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/internal/menu"
	"larder/ordering"
	menusync "larder/sync"
)

const (
	pingTimeout = time.Second
	// startGrace is after how long one catalogue is enough to be ready.
	startGrace = 30 * time.Second
	// triedAtOnce bounds the restaurants without a catalogue that one probe
	// looks up.
	triedAtOnce = 100
)

// The words of /readyz.
const (
	statusOK       = "ok"
	statusDegraded = "degraded"
	statusUnready  = "unready"
)

// livez answers that the process serves.
func livez(c *gin.Context) {
	c.Writer.Header().Set("Cache-Control", "no-store")
	write(c, http.StatusOK, contentJSON, []byte(`{"status":"ok"}`))
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

func newReadiness(clock func() time.Time) *readiness {
	return &readiness{started: clock(), tried: map[menu.RestaurantID]bool{}}
}

// part is one thing that larder stands on.
type part struct {
	OK  bool   `json:"ok"`
	Msg string `json:"msg"`
}

// parts is what /readyz?verbose names.
type parts struct {
	Redis       part            `json:"redis"`
	Journal     part            `json:"journal"`
	Catalogues  part            `json:"catalogues"`
	Connections map[string]part `json:"connections"`
}

// state is the answer of /readyz.
type state struct {
	Status string `json:"status"`
	Parts  *parts `json:"parts,omitempty"`
}

// readyz answers 200 when larder has what it needs to serve, 503 before, with
// no catalogue at all, and while it drains; ?verbose names the parts.
func (s *Server) readyz(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), pingTimeout)
	defer cancel()
	found := s.inspect(ctx)
	current := state{Status: statusOK}
	status := http.StatusOK
	switch {
	case s.readiness.draining.Load() || !s.ready(ctx, found):
		current.Status, status = statusUnready, http.StatusServiceUnavailable
	case found.degraded():
		current.Status = statusDegraded
	}
	if verbose, given := c.GetQuery("verbose"); given && verbose != "false" && verbose != "0" {
		current.Parts = s.parts(ctx, found)
	}
	answer(c, status, current)
}

// inspection is what one probe saw.
type inspection struct {
	redis    error
	all      []menusync.Restaurant
	missing  []menusync.Restaurant // without a catalogue
	versions map[menu.RestaurantID]cache.Version
}

func (f inspection) degraded() bool {
	if f.redis != nil || len(f.missing) > 0 {
		return true
	}
	for _, version := range f.versions {
		if version.LastOutcome == string(menusync.OutcomeFailed) {
			return true
		}
	}
	return false
}

// inspect looks at Redis and at what is served. What is served comes from
// memory, so that a probe costs the same with ten thousand restaurants.
func (s *Server) inspect(ctx context.Context) inspection {
	found := inspection{redis: s.redis.Ping(ctx), all: s.runner.Restaurants()}
	found.versions = make(map[menu.RestaurantID]cache.Version, len(found.all))
	for _, restaurant := range found.all {
		if snapshot, held := s.replica.Peek(restaurant.ID); held {
			found.versions[restaurant.ID] = snapshot.Version
			continue
		}
		found.missing = append(found.missing, restaurant)
	}
	return found
}

// ready tells whether the start is over: Redis has answered once and every
// restaurant has a catalogue or has been tried once, or 30 seconds have passed;
// and there is a catalogue, where any restaurant is configured.
func (s *Server) ready(ctx context.Context, found inspection) bool {
	r := s.readiness
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = r.answered || found.redis == nil
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

// allTried tells whether every restaurant without a catalogue has at least one
// finished run. The caller holds the lock.
func (s *Server) allTried(ctx context.Context, found inspection) bool {
	looked := 0
	all := true
	for _, restaurant := range found.missing {
		if s.readiness.tried[restaurant.ID] {
			continue
		}
		if looked++; looked > triedAtOnce {
			return false
		}
		runs, _, err := s.runner.Runs(ctx, menusync.Filter{Restaurant: restaurant.ID, Limit: 1})
		if err == nil && len(runs) > 0 && runs[0].Finished() {
			s.readiness.tried[restaurant.ID] = true
			continue
		}
		all = false
	}
	return all
}

// parts names everything that larder stands on.
func (s *Server) parts(ctx context.Context, found inspection) *parts {
	p := &parts{
		Redis: part{OK: true}, Journal: part{OK: true}, Catalogues: part{OK: true},
		Connections: make(map[string]part, len(s.connections)),
	}
	switch {
	case found.redis != nil:
		p.Redis = part{Msg: "does not answer: " + found.redis.Error()}
		p.Journal = part{Msg: "Redis does not answer"}
	case s.redis.Embedded():
		p.Redis.Msg = "embedded: everything is in memory and forgotten when larder stops"
		p.Journal = s.journalPart(ctx)
	default:
		p.Journal = s.journalPart(ctx)
	}
	if len(found.missing) > 0 {
		p.Catalogues = part{Msg: fmt.Sprintf("%d of %d restaurants have no menu yet: %s", len(found.missing), len(found.all), someIDs(found.missing))}
	}
	failed := s.failed(ctx, found)
	for _, connection := range s.connections {
		p.Connections[connection.Name] = connectionPart(failed[connection.Name])
	}
	return p
}

// journalPart tells whether a new order could be kept safe (policy O14).
func (s *Server) journalPart(ctx context.Context) part {
	err := s.orders.Ready(ctx)
	var notReady *ordering.NotReadyError
	switch {
	case errors.As(err, &notReady):
		return part{Msg: notReady.Msg}
	case err != nil:
		return part{Msg: "does not answer: " + err.Error()}
	case s.redis.Embedded():
		return part{OK: true, Msg: "orders are forgotten when larder stops (ordering.allow_volatile)"}
	default:
		return part{OK: true}
	}
}

// failed are the restaurants whose last sync failed, by their connections. Of
// those without a menu the last run tells, of a bounded number of them.
func (s *Server) failed(ctx context.Context, found inspection) map[string][]menusync.Restaurant {
	failed := map[string][]menusync.Restaurant{}
	for _, restaurant := range found.all {
		version, has := found.versions[restaurant.ID]
		if has && version.LastOutcome == string(menusync.OutcomeFailed) {
			failed[restaurant.Connection] = append(failed[restaurant.Connection], restaurant)
		}
	}
	if found.redis != nil {
		return failed
	}
	for _, restaurant := range found.missing[:min(len(found.missing), triedAtOnce)] {
		runs, _, err := s.runner.Runs(ctx, menusync.Filter{Restaurant: restaurant.ID, Limit: 1})
		if err != nil {
			break
		}
		if len(runs) > 0 && runs[0].Outcome == menusync.OutcomeFailed {
			failed[restaurant.Connection] = append(failed[restaurant.Connection], restaurant)
		}
	}
	return failed
}

// connectionPart judges a connection by the last syncs of its restaurants.
func connectionPart(failed []menusync.Restaurant) part {
	if len(failed) == 0 {
		return part{OK: true}
	}
	return part{Msg: fmt.Sprintf("the last sync of %d restaurants failed: %s", len(failed), someIDs(failed))}
}

// someIDs lists a few restaurants.
func someIDs(restaurants []menusync.Restaurant) string {
	const few = 5
	ids := make([]string, 0, few+1)
	for i, restaurant := range restaurants {
		if i == few {
			ids = append(ids, "…")
			break
		}
		ids = append(ids, string(restaurant.ID))
	}
	return strings.Join(ids, ", ")
}
