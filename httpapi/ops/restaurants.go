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
	// LastRunAt is when the last run failed or confirmed the menu, or null. Cause is why it failed, was quarantined or did
	// not ask; else null.
	LastRunAt *string   `json:"lastRunAt"`
	Cause     *string   `json:"cause"`
	Freshness freshness `json:"freshness"`
}

// Restaurants answers GET /v1/ops/restaurants, sorted by name or ?sort=. ?q= searches in ids and names;
// ?connection= and ?state= filter.
//
// The filter and the order use this instance's memory, which is up to cache.poll old. The rows are read from Redis.
func (h *Handlers) Restaurants(c *gin.Context) error {
	want, err := visible.Query(c)
	state, wrong := respond.OneOf(c, "state", filters())
	order, unknown := respond.OneOf(c, "sort", []string{"name", "state", "age", "last-run"})
	if err = cmp.Or(err, wrong, unknown); err != nil {
		return err
	}
	connection, oneConnection := c.GetQuery("connection")
	from := h.sorted(c.Request.Context(), order)
	all := from.Entries()
	chosen, next := from.Page(auth.CallerOf(c).Viewer(), want, func(at int) bool {
		return (!oneConnection || all[at].Connection == connection) && (state == "" || matches(h.servedStates(all[at].ID), state))
	})
	versions := h.currentVersions(c.Request.Context(), chosen)
	runs := h.failedRuns(c.Request.Context(), chosen, versions)
	list := respond.Page[opsRestaurantRow]{Result: make([]opsRestaurantRow, len(chosen)), Next: respond.NextPage(next)}
	for i, restaurant := range chosen {
		list.Result[i] = h.opsRow(restaurant, versions[restaurant.ID], runs[restaurant.ID])
	}
	return respond.JSON(c, http.StatusOK, list)
}

// sorted returns the restaurants in an order: by name, or the most urgent state, the oldest menu or the latest run first.
// A run that found no problem has confirmed the menu; others are known if they are among the latest of all restaurants.
func (h *Handlers) sorted(ctx context.Context, order string) *directory.Index {
	checkedAt := func(id menu.RestaurantID) int64 {
		version, _ := h.deps.Replica.Version(id)
		return version.CheckedAt.UnixMilli() // the zero time is before all others
	}
	switch index := h.deps.Directory.Index(); order {
	case "state":
		return index.SortedBy(func(id menu.RestaurantID) int64 { return urgency(h.servedStates(id)) })
	case "age":
		return index.SortedBy(checkedAt)
	case "last-run":
		var requested map[menu.RestaurantID]time.Time
		if !h.deps.Scheduler.RedisDown() {
			requested, _ = h.deps.Runner.Log().Requested(ctx) // without Redis, only confirmations are known
		}
		return index.SortedBy(func(id menu.RestaurantID) int64 { return -max(checkedAt(id), requested[id].UnixMilli()) })
	default:
		return index
	}
}

// opsRow returns the row of one restaurant. failed is that of failedRuns, or zero.
func (h *Handlers) opsRow(restaurant directory.Restaurant, version cache.Version, failed runlog.Run) opsRestaurantRow {
	at := failed.FinishedAt
	if version.CheckedAt.After(at) {
		at = version.CheckedAt
	}
	row := opsRestaurantRow{
		ID: restaurant.ID, Name: cmp.Or(restaurant.Name, version.Name), Connection: restaurant.Connection,
		Version: respond.OrNull(version.Version), SyncedAt: menu.TimeOrNull(version.SyncedAt), CheckedAt: menu.TimeOrNull(version.CheckedAt),
		Stale: h.deps.Runner.Stale(version), Held: version.Held, LastOutcome: respond.OrNull(version.LastOutcome),
		States: h.statesOf(version), Freshness: h.freshness(restaurant.ID, version), LastRunAt: menu.TimeOrNull(at),
	}
	if !failed.FinishedAt.Before(version.CheckedAt) {
		row.Cause = respond.OrNull(failed.Error)
	}
	if version.Version != 0 {
		row.Counts = &version.Counts
		if served, _ := h.deps.Replica.Cached(restaurant.ID); served != nil && served.Version.Version == version.Version {
			row.Counts = new(served.Catalogue.Counts()) // without what operators have marked as sold out
		}
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
	// Availability is what operators have said, as this instance last read it.
	Availability availabilityView `json:"availability"`
}

// Restaurant answers GET /v1/ops/restaurants/{restaurant}.
func (h *Handlers) Restaurant(c *gin.Context, id menu.RestaurantID) error {
	restaurant, known := h.deps.Directory.Restaurant(id)
	if !known { // a connection's default menu
		connection, _ := h.deps.Directory.ConnectionOf(id)
		restaurant = directory.Restaurant{ID: id, Connection: connection}
	}
	one := []directory.Restaurant{restaurant}
	versions := h.currentVersions(c.Request.Context(), one)
	version, failed := versions[id], h.failedRuns(c.Request.Context(), one, versions)
	view := opsRestaurantView{
		opsRestaurantRow: h.opsRow(restaurant, version, failed[id]),
		Content:          respond.OrNull(version.Content),
		Phone:            respond.OrNull(cmp.Or(restaurant.Phone, restaurant.GuestPhone)),
		Address:          respond.OrNull(restaurant.Address),
		Availability:     h.deps.availabilityOf(id),
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

// failedRuns returns the last runs of those restaurants that an operator should know about; none if Redis does not answer.
func (h *Handlers) failedRuns(
	ctx context.Context, restaurants []directory.Restaurant, versions map[menu.RestaurantID]cache.Version,
) map[menu.RestaurantID]runlog.Run {
	var ids []menu.RestaurantID
	for i := range restaurants {
		if id := restaurants[i].ID; urgency(h.statesOf(versions[id])) < urgency([]state{stateHeld}) {
			ids = append(ids, id)
		}
	}
	failed := make(map[menu.RestaurantID]runlog.Run, len(ids))
	if len(ids) == 0 || h.deps.Scheduler.RedisDown() {
		return failed
	}
	ctx, cancel := context.WithTimeout(ctx, versionsTimeout)
	defer cancel()
	if last, err := h.deps.Runner.Log().Last(ctx, ids); err == nil {
		for i, id := range ids {
			failed[id] = last[i]
		}
	}
	return failed
}

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
