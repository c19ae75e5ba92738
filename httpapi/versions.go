package httpapi

import (
	"errors"
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
func (s *Server) listVersions(c *gin.Context) {
	restaurant, err := s.synced(c)
	if err != nil {
		fail(c, err)
		return
	}
	limit, err := pageSize(c)
	if err != nil {
		fail(c, err)
		return
	}
	before, err := versionCursor(c)
	if err != nil {
		fail(c, err)
		return
	}
	current, err := s.store.Current(c.Request.Context(), restaurant)
	if err != nil {
		fail(c, err)
		return
	}
	kept, err := s.store.Versions(c.Request.Context(), restaurant)
	if err != nil {
		fail(c, err)
		return
	}
	list := page[versionRow]{Result: []versionRow{}}
	for i, version := range kept {
		if before > 0 && version.Version >= before {
			continue
		}
		if len(list.Result) == limit {
			list.Next = nextPage(strconv.FormatInt(list.Result[limit-1].Version, 10))
			break
		}
		// The newest is the current one, be it that it came after the first look.
		list.Result = append(list.Result, rowOfVersion(version, current, i == 0 && version.Version >= current.Version))
	}
	answer(c, http.StatusOK, list)
}

// versionCursor reads ?cursor= of the versions: the last one of the page before.
func versionCursor(c *gin.Context) (int64, error) {
	position, err := cursor(c)
	if err != nil || position == "" {
		return 0, err
	}
	before, err := strconv.ParseInt(position, 10, 64)
	if err != nil || before < 1 {
		return 0, badCursor()
	}
	return before, nil
}

// rowOfVersion lays one version out; a hold is the current one's.
func rowOfVersion(version, current cache.Version, isCurrent bool) versionRow {
	row := versionRow{
		Version: version.Version, Name: version.Name, Content: version.Content, SyncedAt: formatTime(version.SyncedAt),
		Counts: version.Counts, Bytes: version.Bytes, Current: isCurrent,
	}
	if row.Current && current.Held {
		row.Held, row.Hold = true, &current.Hold.Until
	}
	return row
}

// versionView answers GET …/versions/{version}/view: the menu view as the
// ordering service published it last while this version was current.
func (s *Server) versionView(c *gin.Context) {
	restaurant, err := s.synced(c)
	if err != nil {
		fail(c, err)
		return
	}
	number, err := versionNumber("version", param(c, "version"))
	if err != nil {
		fail(c, err)
		return
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
		fail(c, err)
		return
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	write(c, http.StatusOK, contentJSON, body)
}

func versionNotFound(version int64) *problem {
	return &problem{
		code: CodeVersionNotFound, msg: "version " + strconv.FormatInt(version, 10) + " is not kept; /v1/ops/restaurants/{restaurant}/versions lists those that are",
		params: map[string]any{"version": version},
	}
}

// rollBack answers POST /v1/ops/restaurants/{restaurant}/rollback with the
// finished run (policy S7a). A run in flight is waited for, ?wait= at most.
func (s *Server) rollBack(c *gin.Context) {
	restaurant, err := s.synced(c)
	if err != nil {
		fail(c, err)
		return
	}
	wait, err := waitTime(c)
	if err != nil {
		fail(c, err)
		return
	}
	if _, given := c.GetQuery("wait"); !given {
		wait = rollbackWait
	}
	to, err := rollbackOf(c)
	if err != nil {
		fail(c, err)
		return
	}
	who, _ := callerOf(c)
	run, err := s.runner.Rollback(c.Request.Context(), restaurant, to, who.Client, wait)
	if err != nil {
		fail(c, err)
		return
	}
	s.note(c, deed{
		Action: actionRollback, Connection: orNull(s.connectionFor(restaurant)), Restaurant: &restaurant,
		Run: &run.ID, Version: &to.Version, Detail: cutDetail("hold: " + string(to.Hold)),
	})
	c.Header("Location", "/v1/ops/runs/"+run.ID)
	answer(c, http.StatusOK, result{run})
}

// rollbackOf reads the body {"version": 40, "hold": "released|next_change"}.
func rollbackOf(c *gin.Context) (menusync.Rollback, error) {
	to := menusync.Rollback{Hold: cache.HoldNextChange}
	body, err := jsonBody(c)
	if err != nil {
		return to, err
	}
	version, unknown := "", ""
	reader := jsontext.NewReader(string(body), maxDepth)
	for name := range reader.Members() {
		switch name {
		case "version":
			version = reader.Raw()
		case "hold":
			hold, _ := reader.Text()
			to.Hold = cache.HoldUntil(hold)
		default:
			unknown = name
		}
	}
	if err := reader.Err(); err != nil {
		return to, err
	}
	if unknown != "" {
		return to, invalid(unknown, "is not known here; the body is {\"version\": 40, \"hold\": \"released|next_change\"}")
	}
	if to.Hold != cache.HoldReleased && to.Hold != cache.HoldNextChange {
		return to, invalid("hold", "is released or next_change")
	}
	to.Version, err = versionNumber("version", version)
	return to, err
}

// releaseHold answers DELETE /v1/ops/restaurants/{restaurant}/hold: lifts the
// hold at once and syncs, as syncRestaurant answers.
func (s *Server) releaseHold(c *gin.Context) {
	restaurant, err := s.synced(c)
	if err != nil {
		fail(c, err)
		return
	}
	wait, err := waitTime(c)
	if err != nil {
		fail(c, err)
		return
	}
	who, _ := callerOf(c)
	run, err := s.runner.Release(c.Request.Context(), restaurant, who.Client)
	if err == nil {
		s.note(c, deed{Action: actionRelease, Connection: orNull(s.connectionFor(restaurant)), Restaurant: &restaurant, Run: &run.ID})
	}
	s.answerRun(c, run, err, wait)
}
