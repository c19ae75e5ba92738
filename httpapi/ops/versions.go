package ops

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/cache"
	"larder.local/httpapi/audit"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/sync/runlog"
)

// rollbackWait is how long a rollback waits for a run in progress by default.
const rollbackWait = 10 * time.Second

// versionRow is one version in the history.
type versionRow struct {
	Version  int64            `json:"version"`
	Name     string           `json:"name"`
	Content  string           `json:"content"`
	SyncedAt string           `json:"syncedAt"`
	Counts   menu.Counts      `json:"counts"`
	Bytes    int              `json:"bytes"`
	Current  bool             `json:"current"`
	Held     bool             `json:"held"`
	Hold     *cache.HoldUntil `json:"hold"` // the end of the hold; null without a hold
}

// Versions answers GET /v1/ops/restaurants/{restaurant}/versions: the last version of each kept
// content, newest first (policy S7).
func (h *Handlers) Versions(c *gin.Context, restaurant menu.RestaurantID) error {
	limit, position, err := respond.PageOf(c)
	if err != nil {
		return err
	}
	before := int64(math.MaxInt64)
	if position != "" {
		if before, err = strconv.ParseInt(position, 10, 64); err != nil || before < 1 {
			return respond.BadCursor()
		}
	}
	current, err := h.deps.Store.Current(c.Request.Context(), restaurant)
	if err != nil {
		return err
	}
	kept, err := h.deps.Store.Versions(c.Request.Context(), restaurant)
	if err != nil {
		return err
	}
	list := respond.Page[versionRow]{Result: []versionRow{}}
	for i, version := range kept {
		if version.Version >= before {
			continue
		}
		if len(list.Result) == limit {
			list.Next = respond.NextPage(strconv.FormatInt(list.Result[limit-1].Version, 10))
			break
		}
		row := versionRow{
			Version:  version.Version,
			Name:     version.Name,
			Content:  version.Content,
			SyncedAt: menu.FormatTime(version.SyncedAt),
			Counts:   version.Counts,
			Bytes:    version.Bytes,
			// The newest version is the current one, even if it was published after Current was read.
			Current: i == 0 && version.Version >= current.Version,
		}
		if row.Current && current.Held {
			row.Held, row.Hold = true, &current.Hold.Until
		}
		list.Result = append(list.Result, row)
	}
	return respond.JSON(c, http.StatusOK, list)
}

// VersionView answers GET …/versions/{version}/view: the menu view that the ordering service
// published last while this version was current.
func (h *Handlers) VersionView(c *gin.Context, restaurant menu.RestaurantID) error {
	number, err := respond.VersionNumber("version", respond.Param(c, "version"))
	if err != nil {
		return err
	}
	var view menu.Published
	version, err := h.deps.Store.Version(c.Request.Context(), restaurant, number)
	if err == nil {
		view, err = h.deps.Store.View(c.Request.Context(), version)
	}
	var body []byte
	if err == nil {
		body, err = view.AppendAnswer(nil)
	}
	if errors.Is(err, cache.ErrNoCatalogue) {
		err = respond.VersionNotFound(number)
	}
	if err != nil {
		return err
	}
	respond.JSONText(c, http.StatusOK, body)
	return nil
}

// RollBack answers POST /v1/ops/restaurants/{restaurant}/rollback with the finished run (policy
// S7a). It waits at most ?wait= for a run in progress.
func (h *Handlers) RollBack(c *gin.Context, restaurant menu.RestaurantID) error {
	wait, err := waitTime(c, rollbackWait)
	if err != nil {
		return err
	}
	to, err := rollbackOf(c)
	if err != nil {
		return err
	}
	run, err := h.deps.Runner.Rollback(c.Request.Context(), restaurant, to, auth.CallerOf(c).Client, wait)
	if err != nil {
		return err
	}
	h.deps.Audit.Add(c, audit.Entry{
		Action:     audit.Rollback,
		Restaurant: &restaurant,
		Run:        &run.ID,
		Version:    &to.Version,
		Detail:     audit.Detail("hold: " + string(to.Hold)),
	})
	c.Header("Location", "/v1/ops/runs/"+run.ID)
	return respond.JSON(c, http.StatusOK, respond.Result{Result: run})
}

// rollbackOf reads the body {"version": 40, "hold": "released|next_change"}.
func rollbackOf(c *gin.Context) (runlog.Rollback, error) {
	to := runlog.Rollback{Hold: cache.HoldNextChange}
	version, hold := "", string(to.Hold)
	err := respond.ReadFields(c, `{"version": 40, "hold": "released|next_change"}`, map[string]func(*jsontext.Reader) bool{
		"version": func(r *jsontext.Reader) bool { version = r.Raw(); return true },
		"hold":    func(r *jsontext.Reader) (ok bool) { hold, ok = r.Text(); return ok },
	})
	if err != nil {
		return to, err
	}
	to.Hold = cache.HoldUntil(hold)
	if to.Hold != cache.HoldReleased && to.Hold != cache.HoldNextChange {
		return to, respond.InvalidParameter("hold", "must be released or next_change")
	}
	to.Version, err = respond.VersionNumber("version", version)
	return to, err
}

// ReleaseHold answers DELETE /v1/ops/restaurants/{restaurant}/hold. It ends the hold and starts
// a sync; the response is that of Sync.
func (h *Handlers) ReleaseHold(c *gin.Context, restaurant menu.RestaurantID) error {
	wait, err := waitTime(c, 0)
	if err != nil {
		return err
	}
	run, err := h.deps.Scheduler.Release(c.Request.Context(), restaurant, auth.CallerOf(c).Client)
	if err == nil {
		h.deps.Audit.Add(c, audit.Entry{Action: audit.Release, Restaurant: &restaurant, Run: &run.ID})
	}
	return h.answerRun(c, run, err, wait)
}
