package ops

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/cache"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/sync/runlog"
)

// freshness is the age of a menu compared with its schedule. Without a menu, the ages are null.
type freshness struct {
	Schedule string `json:"schedule"`
	TimeZone string `json:"timeZone"`
	// AgeSeconds is the time since the ordering service confirmed the menu.
	AgeSeconds *float64 `json:"ageSeconds"`
	// EverySeconds is the time between two runs. StaleSeconds is the age from which the menu is
	// stale. Both are null if the schedule has fewer than two future runs.
	EverySeconds *float64 `json:"everySeconds"`
	StaleSeconds *float64 `json:"staleSeconds"`
	NextAt       *string  `json:"nextAt"`
}

// opsRestaurantRow is a restaurant in the operators' list. The fields of its menu are null until there is one.
type opsRestaurantRow struct {
	ID          menu.RestaurantID `json:"id"`
	Name        string            `json:"name"`
	Connection  string            `json:"connection"`
	Version     *int64            `json:"version"`
	Counts      *menu.Counts      `json:"counts"`
	SyncedAt    *string           `json:"syncedAt"`
	CheckedAt   *string           `json:"checkedAt"`
	Stale       bool              `json:"stale"`
	Held        bool              `json:"held"`
	LastOutcome *string           `json:"lastOutcome"`
	States      []state           `json:"states"`
	Freshness   freshness         `json:"freshness"`
}

// Restaurants answers GET /v1/ops/restaurants, sorted by id. ?q= searches in ids and names;
// ?connection= and ?state= filter.
//
// The state filter uses this instance's memory, which is up to cache.poll old. The rows themselves are read from Redis.
func (h *Handlers) Restaurants(c *gin.Context) error {
	want, err := visible.Query(c)
	state, wrong := respond.OneOf(c, "state", filters())
	if err = cmp.Or(err, wrong); err != nil {
		return err
	}
	connection, oneConnection := c.GetQuery("connection")
	from := h.deps.Directory.Index()
	var now stateSummary
	if state != "" {
		now = h.stateSummary()
		from = now.of
	}
	all := from.Entries()
	chosen, next := from.Page(auth.CallerOf(c).Viewer(), want, func(at int) bool {
		return (!oneConnection || all[at].Connection == connection) && (state == "" || matches(now.all[at], state))
	})
	versions := h.currentVersions(c.Request.Context(), chosen)
	list := respond.Page[opsRestaurantRow]{Result: make([]opsRestaurantRow, len(chosen)), Next: respond.NextPage(next)}
	for i, restaurant := range chosen {
		list.Result[i] = h.opsRow(restaurant, versions[restaurant.ID])
	}
	return respond.JSON(c, http.StatusOK, list)
}

// opsRow returns the row of one restaurant.
func (h *Handlers) opsRow(restaurant directory.Restaurant, version cache.Version) opsRestaurantRow {
	row := opsRestaurantRow{
		ID: restaurant.ID, Name: cmp.Or(restaurant.Name, version.Name), Connection: restaurant.Connection,
		Version: respond.OrNull(version.Version), SyncedAt: menu.TimeOrNull(version.SyncedAt), CheckedAt: menu.TimeOrNull(version.CheckedAt),
		Stale: h.deps.Runner.Stale(version), Held: version.Held, LastOutcome: respond.OrNull(version.LastOutcome),
		States: h.statesOf(version), Freshness: h.freshness(restaurant.ID, version),
	}
	if version.Version != 0 {
		row.Counts = &version.Counts
	}
	return row
}

func (h *Handlers) freshness(id menu.RestaurantID, version cache.Version) freshness {
	plan, _ := h.deps.Runner.Plan(id)
	f := freshness{Schedule: plan.Schedule, TimeZone: plan.TimeZone, NextAt: menu.TimeOrNull(plan.Next)}
	if plan.Every > 0 {
		f.EverySeconds, f.StaleSeconds = new(plan.Every.Seconds()), new((time.Duration(plan.StaleAfter) * plan.Every).Seconds())
	}
	if version.Version != 0 {
		f.AgeSeconds = new(max(0, h.deps.Clock().Sub(version.CheckedAt).Seconds()))
	}
	return f
}

// opsRestaurantView is one restaurant with its last run.
type opsRestaurantView struct {
	opsRestaurantRow
	// Phone and Address are from the configuration, or null.
	Phone   *string `json:"phone"`
	Address *string `json:"address"`
	Content *string `json:"content"`
	// Hold is the end of the hold; null without a hold.
	Hold *cache.HoldUntil `json:"hold"`
	// LastRun is the newest run, finished or not; null if no record exists.
	LastRun *runlog.Run `json:"lastRun"`
}

// Restaurant answers GET /v1/ops/restaurants/{restaurant}.
func (h *Handlers) Restaurant(c *gin.Context, id menu.RestaurantID) error {
	restaurant, known := h.deps.Directory.Restaurant(id)
	if !known { // a connection's default menu
		connection, _ := h.deps.Directory.ConnectionOf(id)
		restaurant = directory.Restaurant{ID: id, Connection: connection}
	}
	version := h.currentVersions(c.Request.Context(), []directory.Restaurant{restaurant})[id]
	view := opsRestaurantView{
		opsRestaurantRow: h.opsRow(restaurant, version),
		Content:          respond.OrNull(version.Content),
		Phone:            respond.OrNull(cmp.Or(restaurant.Phone, restaurant.GuestPhone)),
		Address:          respond.OrNull(restaurant.Address),
	}
	if version.Held {
		view.Hold = &version.Hold.Until
	}
	runs, _, err := h.deps.Runner.Log().List(c.Request.Context(), runlog.Filter{Restaurant: id, Limit: 1})
	if len(runs) > 0 {
		view.LastRun = &runs[0]
	}
	return respond.Answer(c, view, err)
}

// versionsTimeout limits how long a list waits for Redis before it is answered from memory.
const versionsTimeout = time.Second

// currentVersions returns the versions in Redis. If Redis does not answer, or has lost what this
// instance serves, it returns the served versions (policies S5, S2a).
func (h *Handlers) currentVersions(ctx context.Context, restaurants []directory.Restaurant) map[menu.RestaurantID]cache.Version {
	ids := make([]menu.RestaurantID, len(restaurants))
	for i := range restaurants {
		ids[i] = restaurants[i].ID
	}
	versions := make(map[menu.RestaurantID]cache.Version, len(ids))
	if !h.deps.Scheduler.RedisDown() { // otherwise each list would wait for a timeout
		ctx, cancel := context.WithTimeout(ctx, versionsTimeout)
		defer cancel()
		if found, err := h.deps.Store.Find(ctx, ids); err == nil {
			for id, stored := range found {
				if stored.Err == nil {
					versions[id] = stored.Version
				}
			}
		}
	}
	for _, id := range ids {
		stored := versions[id]
		if version, known := h.deps.Replica.Version(id); known && version.Version > stored.Version {
			version.Floor = max(version.Floor, stored.Floor)
			versions[id] = version
		}
	}
	return versions
}
