package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/internal/jsontext"
	"larder/internal/menu"
	menusync "larder/sync"
)

const maxWait = 60 * time.Second // of ?wait=

// syncRestaurant answers POST /v1/ops/restaurants/{restaurant}/sync: starts or
// joins a manual run (policy S8); ?wait=30s answers with the finished one.
func (s *Server) syncRestaurant(c *gin.Context) {
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
	force, err := forced(c)
	if err != nil {
		fail(c, err)
		return
	}
	who, _ := callerOf(c)
	run, err := s.runner.Start(c.Request.Context(), restaurant, menusync.Request{
		Trigger: menusync.TriggerManual, By: who.Client, Force: force,
	})
	if err == nil {
		did := deed{Action: actionSync, Connection: orNull(s.connectionFor(restaurant)), Restaurant: &restaurant, Run: &run.ID}
		if force {
			did.Action = actionForce
		}
		s.note(c, did)
	}
	s.answerRun(c, run, err, wait)
}

// answerRun answers with a run that was started or joined, once it has finished
// or wait is over.
func (s *Server) answerRun(c *gin.Context, run menusync.Run, err error, wait time.Duration) {
	if err == nil && wait > 0 && !run.Finished() {
		run, err = s.waitFor(c.Request.Context(), run, wait)
	}
	if err != nil {
		fail(c, err)
		return
	}
	status := http.StatusAccepted
	if wait > 0 && run.Finished() {
		status = http.StatusOK
	}
	c.Header("Location", "/v1/ops/runs/"+run.ID)
	answer(c, status, result{run})
}

// synced finds what the path names: a restaurant, or a connection's own menu
// as "@connection".
func (s *Server) synced(c *gin.Context) (menu.RestaurantID, error) {
	who, _ := callerOf(c)
	id := menu.RestaurantID(param(c, "restaurant"))
	if connection, own := s.connectionOf(id); own && who.sees(connection) && s.runner.Keeps(id) {
		return id, nil
	}
	restaurant, err := s.restaurant(c)
	return restaurant.ID, err
}

// waitFor waits for a run, and gives it as it stands when the time is over.
func (s *Server) waitFor(ctx context.Context, run menusync.Run, wait time.Duration) (menusync.Run, error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	finished, err := s.runner.Wait(waiting, run.Restaurant, run.ID)
	if err == nil {
		return finished, nil
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		if finished.ID != "" {
			return finished, nil
		}
		return run, nil
	}
	return run, err
}

// waitTime reads ?wait=: a duration as 30s, or whole seconds.
func waitTime(c *gin.Context) (time.Duration, error) {
	text, given := c.GetQuery("wait")
	if !given {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if n, atoi := strconv.Atoi(text); atoi == nil && n <= int(maxWait/time.Second) {
		wait, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || wait < 0 || wait > maxWait {
		return 0, invalid("wait", "is a duration of at most 60s, as 30s")
	}
	return wait, nil
}

// forced reads the optional body {"force": true}.
func forced(c *gin.Context) (bool, error) {
	if c.Request.ContentLength == 0 {
		return false, nil
	}
	body, err := jsonBody(c)
	if err != nil {
		return false, err
	}
	reader := jsontext.NewReader(string(body), maxDepth)
	object := reader.Kind() == jsontext.KindObject
	var wrong error
	force := false
	for name := range reader.Members() {
		if name != "force" {
			wrong = invalid(name, "is not known here; the body is {\"force\": true} or none")
			continue
		}
		value, ok := reader.Bool()
		if !ok {
			wrong = invalid("force", "is true or false")
		}
		force = value
	}
	if err := reader.Err(); err != nil {
		return false, err
	}
	if !object {
		wrong = invalid("body", "is {\"force\": true} or none")
	}
	return force, wrong
}

// lint answers GET /v1/ops/restaurants/{restaurant}/lint.
func (s *Server) lint(c *gin.Context) {
	restaurant, err := s.synced(c)
	if err != nil {
		fail(c, err)
		return
	}
	findings, err := s.runner.Findings(c.Request.Context(), restaurant)
	if err != nil {
		fail(c, err)
		return
	}
	answer(c, http.StatusOK, result{s.named(restaurant, findings)})
}

// run answers GET /v1/ops/runs/{run}.
func (s *Server) run(c *gin.Context) {
	who, _ := callerOf(c)
	run, err := s.runner.Run(c.Request.Context(), param(c, "run"))
	if err == nil && !s.seesRun(who, run) {
		err = menusync.ErrUnknownRun
	}
	if err != nil {
		fail(c, err)
		return
	}
	answer(c, http.StatusOK, result{run})
}

// listRuns answers GET /v1/ops/runs, the newest first; ?restaurant= and
// ?outcome= choose.
func (s *Server) listRuns(c *gin.Context) {
	filter, err := s.runFilter(c)
	if err != nil {
		fail(c, err)
		return
	}
	runs, next, err := s.runner.Runs(c.Request.Context(), filter)
	if err != nil {
		fail(c, err)
		return
	}
	who, _ := callerOf(c)
	list := page[menusync.Run]{Result: make([]menusync.Run, 0, len(runs)), Next: nextPage(next)}
	for _, run := range runs {
		if s.seesRun(who, run) { // a page of a client with one connection may be short
			list.Result = append(list.Result, run)
		}
	}
	answer(c, http.StatusOK, list)
}

func (s *Server) runFilter(c *gin.Context) (menusync.Filter, error) {
	filter := menusync.Filter{Outcome: menusync.Outcome(c.Query("outcome"))}
	switch filter.Outcome {
	case "", menusync.OutcomeUpdated, menusync.OutcomeUnchanged, menusync.OutcomeQuarantined,
		menusync.OutcomeHeld, menusync.OutcomeFailed, menusync.OutcomeSkipped:
	default:
		return filter, invalid("outcome", "is updated, unchanged, quarantined, held, failed or skipped")
	}
	var err error
	if filter.Limit, err = pageSize(c); err != nil {
		return filter, err
	}
	if filter.Cursor, err = cursor(c); err != nil {
		return filter, err
	}
	if id, given := c.GetQuery("restaurant"); given {
		who, _ := callerOf(c)
		filter.Restaurant = menu.RestaurantID(id)
		if !s.seesMenu(who, filter.Restaurant) {
			return filter, s.unknownRestaurant(who)
		}
	}
	return filter, nil
}

// seesRun tells whether the caller may know of a run.
func (s *Server) seesRun(who caller, run menusync.Run) bool { return s.seesMenu(who, run.Restaurant) }

// seesMenu tells whether the caller may know of what is synced under an id: a
// restaurant, or a connection's own menu.
func (s *Server) seesMenu(who caller, id menu.RestaurantID) bool {
	if restaurant, known := s.runner.Known(id); known {
		return who.sees(restaurant.Connection)
	}
	if connection, own := s.connectionOf(id); own {
		return who.sees(connection)
	}
	return who.Connection == "" // a restaurant that was configured once
}

// connectionOf gives the connection whose own menu, or whose rejection reasons,
// are synced under an id.
func (s *Server) connectionOf(id menu.RestaurantID) (name string, own bool) {
	for _, connection := range s.connections {
		menuID := string(cache.DefaultMenu(connection.Name))
		if rest, found := strings.CutPrefix(string(id), menuID); found && (rest == "" || rest[0] == '/') {
			return connection.Name, true
		}
	}
	return "", false
}
