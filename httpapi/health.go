package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/sync/runlog"
)

const (
	pingTimeout = time.Second
	// startGrace is the time after which one catalogue is enough to be ready.
	startGrace = 30 * time.Second
	// triedAtOnce limits how many restaurants without a catalogue one probe looks up.
	triedAtOnce = 100
)

// livez answers 200: the process is running.
func livez(c *gin.Context) {
	respond.JSONText(c, http.StatusOK, []byte(`{"status":"ok"}`))
}

// health reports whether larder has what it needs to serve. Once ready, it stays ready until it drains.
type health struct {
	deps     Deps
	auth     *auth.Auth
	started  time.Time
	draining atomic.Bool

	mu       sync.Mutex
	isReady  bool
	answered bool // Redis has answered at least once
	tried    map[menu.RestaurantID]bool

	listing  sync.Mutex // guards the fields below
	listedAt time.Time
	listed   []directory.Restaurant // at listedAt: those without a menu whose last sync failed
	refused  string                 // at listedAt: the first restaurant without a menu whose fetched one is quarantined, and why
	missing  int                    // at listedAt: number of restaurants without a menu
	formerAt time.Time
	former   map[string]component // at formerAt

	counting   sync.Mutex // guards the fields below
	counted    catalogues
	validUntil time.Time // of counted
}

// readinessView is the response of /readyz.
type readinessView struct {
	Status     string      `json:"status"` // ok, degraded or unready
	Components *components `json:"parts,omitempty"`
}

// readyz answers 200 if larder has what it needs to serve. It answers 503 before that, without
// any catalogue, and while larder drains. ?verbose lists the components.
func (h *health) readyz(c *gin.Context) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), pingTimeout)
	defer cancel()
	found := h.inspect(ctx)
	complete := h.startComplete(ctx, found)
	found.key = h.auth.SigningKeyError() // which startComplete may have read
	current := readinessView{Status: "ok"}
	status := http.StatusOK
	switch {
	case h.draining.Load() || !complete:
		current.Status, status = "unready", http.StatusServiceUnavailable
	case found.degraded(h.auth.TakesOrders()):
		current.Status = "degraded"
	}
	if verbose, given := c.GetQuery("verbose"); given && verbose != "false" && verbose != "0" {
		current.Components = h.componentsOf(ctx, found)
	}
	return respond.JSON(c, status, current)
}

// readinessReport is the result of one probe.
type readinessReport struct {
	catalogues

	redis   error                 // why Redis does not answer
	refused *redisdb.RefusedError // why Redis rejects writes
	key     error                 // why the signing keys cannot be read
	journal component
	tokens  bool // a connection has no token and its token endpoint gives none
}

// degraded reports whether any component has a problem. The journal counts only if orders may be placed.
func (f readinessReport) degraded(orders bool) bool {
	return f.redis != nil || f.refused != nil || f.key != nil || f.tokens || orders && !f.journal.OK ||
		len(f.missing)+len(f.failed)+len(f.foreign) > 0
}

// served returns the number of restaurants with a catalogue.
func (f readinessReport) served() int { return len(f.all) - len(f.missing) }

// inspect checks Redis and the served catalogues. The catalogues are in memory, so the number of
// calls to Redis does not depend on the number of restaurants.
func (h *health) inspect(ctx context.Context) readinessReport {
	found := readinessReport{catalogues: h.catalogues(), redis: h.deps.Redis.Ping(ctx)}
	if refused, ok := errors.AsType[*redisdb.RefusedError](found.redis); ok {
		found.redis, found.refused = nil, refused
	} else if found.redis == nil {
		// Not asked of Redis for each probe: that would let anyone cause writes.
		found.refused = h.deps.Scheduler.RedisRefusesWrites()
	}
	found.journal = h.journalComponent(ctx, found)
	for _, connection := range h.deps.Connections {
		found.tokens = found.tokens || !connection.Token().OK
	}
	return found
}

// startComplete reports whether the start is complete. At least one restaurant must have a catalogue,
// if any is configured. In addition, either startGrace has passed, or Redis has answered once, every
// restaurant without a catalogue has a finished run, and the signing key is in memory (policy H2).
func (h *health) startComplete(ctx context.Context, found readinessReport) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered = h.answered || found.redis == nil || found.served() > 0 // catalogues come from Redis
	if h.isReady {
		return true
	}
	if found.served() == 0 && len(found.all) > 0 {
		return false
	}
	late := h.deps.Clock().Sub(h.started) >= startGrace
	h.isReady = late && found.served() > 0 || h.answered && h.allTried(ctx, found) && h.auth.HasSigningKey(ctx)
	return h.isReady
}

// allTried reports whether every restaurant without a catalogue has a finished run. The caller holds the lock.
func (h *health) allTried(ctx context.Context, found readinessReport) bool {
	looked := 0
	all := true
	for _, restaurant := range found.missing {
		if h.tried[restaurant.ID] {
			continue
		}
		if looked++; looked > triedAtOnce {
			return false
		}
		runs, _, err := h.deps.Runner.Log().List(ctx, runlog.Filter{Restaurant: restaurant.ID, Limit: 1})
		tried := err == nil && len(runs) > 0 && runs[0].Finished()
		h.tried[restaurant.ID] = tried
		all = all && tried
	}
	return all
}

// component is the state of one dependency.
type component struct {
	OK    bool                `json:"ok"`
	Msg   string              `json:"msg"`
	Token upstream.TokenState `json:"token,omitempty"` // of a connection
}

// components are the components that /readyz?verbose lists.
type components struct {
	Redis       component            `json:"redis"`
	Journal     component            `json:"journal"`
	Catalogues  component            `json:"catalogues"`
	Connections map[string]component `json:"connections"`
	Former      map[string]component `json:"formerConnections,omitempty"`
}

// componentsOf returns the state of every component.
func (h *health) componentsOf(ctx context.Context, found readinessReport) *components {
	p := &components{
		Redis:       component{OK: true},
		Journal:     found.journal,
		Catalogues:  component{OK: true},
		Connections: make(map[string]component, len(h.deps.Connections)),
	}
	switch {
	case found.redis != nil:
		p.Redis = component{Msg: redisdb.SafeText(found.redis)}
	case found.refused != nil:
		p.Redis = component{Msg: redisdb.SafeText(found.refused)}
	case found.key != nil:
		p.Redis = component{Msg: "the signing keys cannot be read, so tokens are rejected, or revocations not noticed: Redis " +
			redisdb.RefusedText(h.deps.Redis.Prefix(), found.key)}
	case h.deps.Redis.Embedded():
		p.Redis.Msg = "embedded: all data is in memory and is lost when larder stops"
	}
	if len(found.missing) > 0 {
		p.Catalogues = component{Msg: fmt.Sprintf("no menu yet for %d of %s: %s",
			len(found.missing), countOf(len(found.all), "restaurant"), firstOf(found.missing))}
	}
	if found.redis == nil {
		p.Former = h.formerComponents(ctx)
	}
	failed, refused := h.failed(ctx, found)
	if refused != "" {
		p.Catalogues.Msg += "; quarantined: " + refused
	}
	foreign := byConnection(found.foreign)
	for _, connection := range h.deps.Connections {
		token := connection.Token()
		one := component{OK: token.OK, Token: token.State}
		var texts []string
		if token.Msg != "" {
			texts = append(texts, token.Msg)
		}
		if some := failed[connection.Name]; len(some) > 0 {
			texts = append(texts, fmt.Sprintf("the last sync of %s failed: %s", countOf(len(some), "restaurant"), firstOf(some)))
			one.OK = false
		}
		if some := foreign[connection.Name]; len(some) > 0 {
			texts = append(texts, fmt.Sprintf("no menu of this service yet, so orders are rejected, for %s: %s",
				countOf(len(some), "restaurant"), firstOf(some)))
			one.OK = false
		}
		one.Msg = strings.Join(texts, "; ")
		p.Connections[connection.Name] = one
	}
	return p
}

// formerComponents returns the state of the orders of the connections that are not configured any more (policy O20). Anybody
// may ask, so it reads them at most once a second (policy H7).
func (h *health) formerComponents(ctx context.Context) map[string]component {
	h.listing.Lock()
	defer h.listing.Unlock()
	now := h.deps.Clock()
	if now.Sub(h.formerAt) < time.Second {
		return h.former
	}
	former, err := h.deps.Journal.Former(ctx, h.deps.Directory.Connections(""))
	if err != nil {
		return h.former
	}
	h.formerAt, h.former = now, map[string]component{}
	for _, connection := range former {
		one := component{Msg: "orders cannot be counted"}
		if count, err := h.deps.UnknownOrders(ctx, connection); err == nil {
			one.OK = count == 0
			one.Msg = fmt.Sprint("the connection is not configured any more; orders with an unknown outcome: ", count)
		} else if format, ok := errors.AsType[*ordering.FormatError](err); ok {
			one.Msg = format.Msg()
		}
		h.former[connection] = one
	}
	return h.former
}

// journalComponent reports whether a new order can be recorded safely (policy O14).
func (h *health) journalComponent(ctx context.Context, found readinessReport) component {
	switch {
	case found.redis != nil:
		return component{Msg: "Redis " + redisdb.SafeText(found.redis)}
	case found.refused != nil && !found.refused.OrdersUnaffected(): // the journal tests its own keys
		return component{Msg: "Redis " + redisdb.SafeText(found.refused)}
	}
	whole := component{OK: true}
	var texts []string // each text once, even if several connections have it
	named := map[string][]string{}
	for _, connection := range h.deps.Connections {
		one := h.journalOf(ctx, connection.Name)
		whole.OK = whole.OK && one.OK
		if one.Msg != "" && named[one.Msg] == nil {
			texts = append(texts, one.Msg)
		}
		named[one.Msg] = append(named[one.Msg], connection.Name)
	}
	for i, text := range texts {
		if len(named[text]) < len(h.deps.Connections) {
			texts[i] = firstNames(named[text]) + ": " + text
		}
	}
	whole.Msg = strings.Join(texts, "; ")
	return whole
}

// journalOf returns the state of the journal of one connection. In a cluster, each connection
// can be on a different master.
func (h *health) journalOf(ctx context.Context, connection string) component {
	err := h.deps.Journal.Ready(ctx, connection)
	health, watched := h.deps.Orders.Health(connection)
	notReady, isNotReady := errors.AsType[*ordering.NotReadyError](err)
	switch {
	case isNotReady:
		return component{Msg: notReady.Msg}
	case err != nil:
		return component{Msg: "Redis " + redisdb.SafeText(err)}
	case !health.PausedAt.IsZero():
		return component{Msg: journalRestored}
	case h.deps.Redis.Embedded():
		return component{OK: true, Msg: "orders are lost when larder stops (ordering.allow_non_durable)"}
	case watched:
		return component{OK: true, Msg: health.Rule()}
	default:
		return component{OK: true}
	}
}

// journalRestored explains why orders are paused (policy O14a).
const journalRestored = "Redis was restored or has lost orders: orders are paused until an operator has looked for what is " +
	"lost (docs/runbook/LarderJournalRestored.md) and accepts that (larder order accept-restore)"

// countOf returns a number with its noun: "1 restaurant", "2 restaurants".
func countOf(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// few is how many names firstOf and firstNames return.
const few = 5

// firstOf returns the names and ids of the first restaurants.
func firstOf(restaurants []directory.Restaurant) string {
	var texts []string
	for _, restaurant := range restaurants[:min(len(restaurants), few+1)] {
		texts = append(texts, restaurant.String())
	}
	return firstNames(texts)
}

// firstNames returns the first names.
func firstNames(names []string) string {
	if len(names) > few {
		names = append(slices.Clone(names[:few]), "…")
	}
	return strings.Join(names, ", ")
}
