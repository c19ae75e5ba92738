package ops

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/audit"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

const maxWait = 60 * time.Second // of ?wait=

// Sync answers POST /v1/ops/restaurants/{restaurant}/sync. It starts or joins a manual run
// (policy S8). With ?wait=30s, it waits for the run to finish.
func (h *Handlers) Sync(c *gin.Context, restaurant menu.RestaurantID) error {
	wait, err := waitTime(c, 0)
	if err != nil {
		return err
	}
	force, err := forced(c)
	if err != nil {
		return err
	}
	who := auth.CallerOf(c)
	if force && !auth.Holds(who.Scopes, auth.ScopeOps) {
		return auth.Lacks("the token", auth.ScopeOps)
	}
	run, err := h.deps.Scheduler.Start(c.Request.Context(), restaurant, menusync.Request{By: who.Client, Force: force})
	if err == nil {
		did := audit.Entry{Action: audit.Sync, Restaurant: &restaurant, Run: &run.ID}
		if force {
			did.Action = audit.Force
		}
		h.deps.Audit.Add(c, did)
	}
	return h.answerRun(c, run, err, wait)
}

// SyncAll answers POST /v1/ops/sync. It starts a sync of every restaurant that the caller may
// see, each joined or forced as in policy S8. It does not wait for them.
func (h *Handlers) SyncAll(c *gin.Context) error {
	force, err := forced(c)
	if err != nil {
		return err
	}
	who := auth.CallerOf(c)
	batch, err := h.deps.Scheduler.StartBatch(c.Request.Context(), runlog.Batch{
		Connection: who.Connection, By: who.Client, Force: force,
	})
	if err != nil {
		return err
	}
	did := audit.Entry{Action: audit.SyncAll, Batch: &batch.ID}
	if force {
		did.Action = audit.ForceAll
	}
	h.deps.Audit.Add(c, did)
	c.Header("Location", "/v1/ops/sync/"+batch.ID)
	return respond.JSON(c, http.StatusAccepted, respond.Result{Result: struct {
		Batch string `json:"batch"`
		Total int    `json:"total"`
	}{batch.ID, batch.Total}})
}

// Batch answers GET /v1/ops/sync/{batch}, for clients that have missed events.
func (h *Handlers) Batch(c *gin.Context) error {
	batch, err := h.deps.Runner.Log().Batch(c.Request.Context(), respond.Param(c, "batch"))
	if err == nil && !auth.CallerOf(c).Sees(batch.Connection) {
		err = runlog.ErrUnknownBatch
	}
	return respond.Answer(c, batch, err)
}

// answerRun answers with a run when it has finished or the wait is over.
func (h *Handlers) answerRun(c *gin.Context, run runlog.Run, err error, wait time.Duration) error {
	if err == nil && wait > 0 && !run.Finished() {
		run, err = h.waitFor(c.Request.Context(), run, wait)
	}
	if err != nil {
		return err
	}
	status := http.StatusAccepted
	if wait > 0 && run.Finished() {
		status = http.StatusOK
	}
	c.Header("Location", "/v1/ops/runs/"+run.ID)
	return respond.JSON(c, status, respond.Result{Result: run})
}

// waitFor waits for a run. After the wait it returns the unfinished run.
func (h *Handlers) waitFor(ctx context.Context, run runlog.Run, wait time.Duration) (runlog.Run, error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	last, err := h.deps.Runner.Wait(waiting, run.Restaurant, run.ID)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	if last.ID == "" {
		last = run
	}
	return last, err
}

// waitTime reads ?wait=, a duration such as 30s or whole seconds. The default is standard.
func waitTime(c *gin.Context, standard time.Duration) (time.Duration, error) {
	text, given := c.GetQuery("wait")
	if !given {
		return standard, nil
	}
	wait, err := time.ParseDuration(text)
	if n, atoi := strconv.Atoi(text); atoi == nil && n <= int(maxWait/time.Second) {
		wait, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || wait < 0 || wait > maxWait {
		return 0, respond.InvalidParameter("wait", "must be a duration of at most 60s, such as 30s")
	}
	return wait, nil
}

// forced reads the optional body {"force": true}.
func forced(c *gin.Context) (force bool, err error) {
	if c.Request.ContentLength == 0 {
		return false, nil
	}
	err = respond.ReadFields(c, `{"force": true} or empty`, map[string]func(*jsontext.Reader) bool{
		"force": func(r *jsontext.Reader) (ok bool) { force, ok = r.Bool(); return ok },
	})
	return force, err
}

// Lint answers GET /v1/ops/restaurants/{restaurant}/lint.
func (h *Handlers) Lint(c *gin.Context, restaurant menu.RestaurantID) error {
	findings, err := h.deps.Runner.Findings(c.Request.Context(), restaurant)
	var served *menu.Catalogue
	if snapshot, ok := h.deps.Replica.Cached(restaurant); ok {
		served = snapshot.Catalogue
	}
	return respond.Answer(c, describeFindings(served, findings), err)
}

// Run answers GET /v1/ops/runs/{run}.
func (h *Handlers) Run(c *gin.Context) error {
	run, err := h.deps.Runner.Log().Find(c.Request.Context(), respond.Param(c, "run"))
	if err == nil && !h.deps.Directory.SeesMenu(auth.CallerOf(c).Viewer(), run.Restaurant) {
		err = runlog.ErrUnknownRun
	}
	return respond.Answer(c, run, err)
}

// Runs answers GET /v1/ops/runs, newest first. ?restaurant= and ?outcome= filter.
func (h *Handlers) Runs(c *gin.Context) error {
	who := auth.CallerOf(c)
	outcome, err := respond.OneOf(c, "outcome", []runlog.Outcome{
		runlog.OutcomeUpdated, runlog.OutcomeUnchanged, runlog.OutcomeQuarantined,
		runlog.OutcomeHeld, runlog.OutcomeFailed, runlog.OutcomeWaiting, runlog.OutcomeSkipped,
	})
	limit, cursor, wrong := respond.PageOf(c)
	if err = cmp.Or(err, wrong); err != nil {
		return err
	}
	restaurant := menu.RestaurantID(c.Query("restaurant"))
	filter := runlog.Filter{Outcome: outcome, Restaurant: restaurant, Limit: limit, Cursor: cursor}
	if _, given := c.GetQuery("restaurant"); given && !h.deps.Directory.SeesMenu(who.Viewer(), filter.Restaurant) {
		return respond.RestaurantNotFound(h.deps.Directory.Following(who.Viewer(), filter.Restaurant))
	}
	runs, next, err := h.deps.Runner.Log().List(c.Request.Context(), filter)
	if err != nil {
		return err
	}
	list := respond.Page[runlog.Run]{Result: make([]runlog.Run, 0, len(runs)), Next: respond.NextPage(next)}
	for _, run := range runs {
		if h.deps.Directory.SeesMenu(who.Viewer(), run.Restaurant) { // so pages can be short for a client of one connection
			list.Result = append(list.Result, run)
		}
	}
	return respond.JSON(c, http.StatusOK, list)
}
