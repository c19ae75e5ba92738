package httpapi

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/internal/jsontext"
	"larder/internal/menu"
	menusync "larder/sync"
)

// rollbackWait is how long a rollback waits for a run in flight where the
// request has no ?wait=.
const rollbackWait = 10 * time.Second

// versionRow is one version that is kept.
type versionRow struct {
	Version  int64            `json:"version"`
	Name     string           `json:"name"`
	Content  string           `json:"content"`
	SyncedAt string           `json:"syncedAt"`
	Counts   menu.Counts      `json:"counts"`
	Bytes    int              `json:"bytes"`
	Current  bool             `json:"current"`
	Held     bool             `json:"held"`
	Hold     *cache.HoldUntil `json:"hold"` // what ends it; null where nothing is held
}

// listVersions answers GET /v1/ops/restaurants/{restaurant}/versions: the last
// version of each content that is kept, the newest first (policy S7).
func (s *Server) listVersions(c *gin.Context) error {
	restaurant, err := s.syncedMenu(c)
	if err != nil {
		return err
	}
	limit, position, err := pageOf(c)
	if err != nil {
		return err
	}
	before := int64(math.MaxInt64)
	if position != "" {
		if before, err = strconv.ParseInt(position, 10, 64); err != nil || before < 1 {
			return badCursor()
		}
	}
	current, err := s.store.Current(c.Request.Context(), restaurant)
	if err != nil {
		return err
	}
	kept, err := s.store.Versions(c.Request.Context(), restaurant)
	if err != nil {
		return err
	}
	list := page[versionRow]{Result: []versionRow{}}
	for i, version := range kept {
		if version.Version >= before {
			continue
		}
		if len(list.Result) == limit {
			list.Next = nextPage(strconv.FormatInt(list.Result[limit-1].Version, 10))
			break
		}
		row := versionRow{
			Version: version.Version, Name: version.Name, Content: version.Content, SyncedAt: menu.FormatTime(version.SyncedAt),
			Counts: version.Counts, Bytes: version.Bytes,
			// The newest is the current one, be it that it came after the first look.
			Current: i == 0 && version.Version >= current.Version,
		}
		if row.Current && current.Held {
			row.Held, row.Hold = true, &current.Hold.Until
		}
		list.Result = append(list.Result, row)
	}
	return answer(c, http.StatusOK, list)
}

// versionView answers GET …/versions/{version}/view: the menu view as the
// ordering service published it last while this version was current.
func (s *Server) versionView(c *gin.Context) error {
	restaurant, err := s.syncedMenu(c)
	if err != nil {
		return err
	}
	number, err := versionNumber("version", param(c, "version"))
	if err != nil {
		return err
	}
	var view menu.Published
	version, err := s.store.Version(c.Request.Context(), restaurant, number)
	if err == nil {
		view, err = s.store.View(c.Request.Context(), version)
	}
	var body []byte
	if err == nil {
		body, err = view.AppendAnswer(nil)
	}
	if errors.Is(err, cache.ErrNoCatalogue) {
		err = versionNotFound(number)
	}
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	write(c, http.StatusOK, contentJSON, body)
	return nil
}

func versionNotFound(version int64) *problem {
	return &problem{
		code:   CodeVersionNotFound,
		msg:    "version " + strconv.FormatInt(version, 10) + " is not kept; /v1/ops/restaurants/{restaurant}/versions lists those that are",
		params: map[string]any{"version": version},
	}
}

// rollBack answers POST /v1/ops/restaurants/{restaurant}/rollback with the
// finished run (policy S7a). A run in flight is waited for, ?wait= at most.
func (s *Server) rollBack(c *gin.Context) error {
	restaurant, err := s.syncedMenu(c)
	if err != nil {
		return err
	}
	wait, err := waitTime(c, rollbackWait)
	if err != nil {
		return err
	}
	to, err := rollbackOf(c)
	if err != nil {
		return err
	}
	who, _ := callerOf(c)
	run, err := s.runner.Rollback(c.Request.Context(), restaurant, to, who.Client, wait)
	if err != nil {
		return err
	}
	s.audit(c, auditEntry{
		Action: actionRollback, Restaurant: &restaurant, Run: &run.ID, Version: &to.Version, Detail: truncateDetail("hold: " + string(to.Hold)),
	})
	c.Header("Location", "/v1/ops/runs/"+run.ID)
	return answer(c, http.StatusOK, result{run})
}

// rollbackOf reads the body {"version": 40, "hold": "released|next_change"}.
func rollbackOf(c *gin.Context) (menusync.Rollback, error) {
	to := menusync.Rollback{Hold: cache.HoldNextChange}
	body, err := readJSON(c, nil)
	if err != nil {
		return to, err
	}
	version, hold := "", string(to.Hold)
	err = readObject(body, `{"version": 40, "hold": "released|next_change"}`, map[string]func(*jsontext.Reader) bool{
		"version": func(r *jsontext.Reader) bool { version = r.Raw(); return true },
		"hold":    func(r *jsontext.Reader) (ok bool) { hold, ok = r.Text(); return ok },
	})
	if err != nil {
		return to, err
	}
	to.Hold = cache.HoldUntil(hold)
	if to.Hold != cache.HoldReleased && to.Hold != cache.HoldNextChange {
		return to, invalid("hold", "is released or next_change")
	}
	to.Version, err = versionNumber("version", version)
	return to, err
}

// releaseHold answers DELETE /v1/ops/restaurants/{restaurant}/hold: lifts the
// hold at once and syncs, as syncRestaurant answers.
func (s *Server) releaseHold(c *gin.Context) error {
	restaurant, err := s.syncedMenu(c)
	if err != nil {
		return err
	}
	wait, err := waitTime(c, 0)
	if err != nil {
		return err
	}
	who, _ := callerOf(c)
	run, err := s.runner.Release(c.Request.Context(), restaurant, who.Client)
	if err == nil {
		s.audit(c, auditEntry{Action: actionRelease, Restaurant: &restaurant, Run: &run.ID})
	}
	return s.answerRun(c, run, err, wait)
}
