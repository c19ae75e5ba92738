package sync

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	stdsync "sync"
	"time"

	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/upstream"
	"larder/sync/runlog"
)

// recordLimit bounds the writing of a run's last record, which happens even
// when the run was ended.
const recordLimit = 3 * time.Second

// reasonRuns is how many records of rejection reasons are kept a connection.
const reasonRuns = 20

// finish ends a run and records it, even one whose context has ended. fault is what
// it failed of, cause why its context ended.
func (p *pipelineRun) finish(ctx context.Context, fault, cause error) error {
	r, run := p.runner, p.run
	defer p.endSpan()
	run.State, run.FinishedAt = runlog.StateFinished, r.clock().UTC()
	if fault != nil {
		run.Outcome, run.Error = runlog.OutcomeFailed, explain(fault, cause, time.Since(p.began), p.fallbackText())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	confirmedAt, outcome := p.versionNote(cause)
	written, err := r.writeFinal(ctx, run, confirmedAt, outcome)
	if errors.Is(err, cache.ErrNoCatalogue) { // Redis has lost it since the run began
		run.Outcome, run.Error = runlog.OutcomeFailed, fmt.Sprintf("confirm version %d: Redis does not have it any more", run.Version)
		written, err = r.writeFinal(ctx, run, time.Time{}, "")
	}
	if err == nil && !written {
		return nil // declared lost, and logged so then
	}
	away := r.recordHealth(p.target, run, fault)
	p.logRun(kindOf(fault), away || errors.Is(fault, redisdb.ErrUnavailable) || errors.Is(fault, context.Canceled))
	if !p.target.isReasons {
		r.observer.RunFinished(*run)
	}
	return err
}

// writeFinal writes the last record of a run, with what it says of the current
// version, and releases its lease. A run that was declared lost meanwhile keeps
// that record; then it is false. Errors: cache.ErrNoCatalogue, and nothing is
// done, where what was confirmed is not there; redisdb.ErrUnavailable.
func (r *Runner) writeFinal(ctx context.Context, run *runlog.Run, confirmedAt time.Time, outcome runlog.Outcome) (bool, error) {
	end, err := r.runs.Ending(run)
	if err != nil {
		return false, err
	}
	confirmed, ahead := "", ""
	if !confirmedAt.IsZero() {
		confirmed, ahead = menu.FormatTime(confirmedAt), menu.FormatTime(confirmedAt.Add(cache.ClockSlack))
	}
	id := run.Restaurant
	answer, err := finishScript.Run(ctx, r.redis,
		[]string{r.keys.Lease(id), r.keys.Fence(id), r.keys.Runs(id), r.keys.RunLog(id), r.keys.Current(id)},
		run.ID, end.Record, end.Kept, end.IDTime, end.Channel, end.Published,
		confirmed, string(outcome), ahead, end.Folds).Int()
	switch {
	case err != nil:
		return false, redisdb.CallError(ctx, "sync: record run "+run.ID, err)
	case answer == 2:
		return false, fmt.Errorf("sync: record run %s: %w", run.ID, cache.ErrNoCatalogue)
	default:
		return answer == 1, nil
	}
}

// versionNote is what the run has found out of the current version, beside what a
// publish has written with it: when it was confirmed, and an outcome to note with
// it. Both are zero for none.
func (p *pipelineRun) versionNote(cause error) (confirmedAt time.Time, outcome runlog.Outcome) {
	failed := p.run.Outcome == runlog.OutcomeFailed || p.run.Outcome == runlog.OutcomeQuarantined
	switch {
	case p.target.isReasons, p.run.Rollback != nil, errors.Is(cause, errLeaseLost):
		return time.Time{}, ""
	case failed:
		return time.Time{}, p.run.Outcome
	case !p.confirmedAt.IsZero():
		return p.confirmedAt, p.run.Outcome
	default:
		return time.Time{}, ""
	}
}

// fallbackText describes what readers have while a run fails.
func (p *pipelineRun) fallbackText() string {
	switch {
	case p.target.isReasons:
		return "the list kept before stays"
	case p.current.Version == 0:
		return "there is no menu to serve yet"
	default:
		return "the last good menu is served on"
	}
}

// orphaned logs and counts a run that was ended because its holder vanished.
func (r *Runner) orphaned(run runlog.Run) {
	r.log.WithFields(fields(&run, "sync.run_orphaned")).Warn("a run's holder vanished")
	if !isReasons(run.Restaurant) {
		r.observer.RunFinished(run)
	}
}

func (r *Runner) skip(t *Target, reason SkipReason) {
	if !t.isReasons {
		r.observer.TickSkipped(t.ID, reason)
	}
}

// skipped is a run that was not needed. It is not recorded.
func skipped(run runlog.Run) runlog.Run {
	run.State, run.Outcome, run.FinishedAt = runlog.StateFinished, runlog.OutcomeSkipped, run.StartedAt
	return run
}

// logRun logs a run. A target that fails in the same way again and again says so
// once; each of its runs has its record. logged is a failure of more than this
// target, which the log has already.
func (p *pipelineRun) logRun(kind string, logged bool) {
	t, run := p.target, p.run
	if logged {
		p.runner.log.WithFields(fields(run, "sync."+string(run.Outcome))).Debug("menu not updated")
		return
	}
	state := string(run.Outcome) + " " + kind
	before, _ := t.last.Swap(state).(string)
	name, what := "sync."+string(run.Outcome), "menu"
	if run.Outcome == runlog.OutcomeUpdated {
		name = "sync.published"
	}
	switch {
	case t.isReasons:
		name, what = "sync.reasons", "rejection reasons"
	case run.Rollback != nil:
		name, what = "sync.rollback", "older menu"
	}
	entry := p.runner.log.WithFields(fields(run, name))
	switch run.Outcome {
	case runlog.OutcomeUpdated:
		entry.Info(what + " published")
	case runlog.OutcomeFailed, runlog.OutcomeQuarantined:
		if before == state {
			entry.Debug(what + " still not updated")
		} else {
			entry.Warn(what + " not updated")
		}
	case runlog.OutcomeHeld:
		if before == state {
			entry.Debug(what + " still held back")
		} else {
			entry.Info("another menu is published but held back; only its stop lists go through")
		}
	default:
		entry.WithField("same", string(p.same)).Debug(what + " confirmed")
	}
}

// kindOf tells failures of one kind from those of another, whatever numbers
// their texts hold.
func kindOf(err error) string {
	var service *upstream.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &service):
		return fmt.Sprintf("%s %d %s", service.Operation, service.Status, service.Code)
	default:
		for {
			under := errors.Unwrap(err)
			if under == nil {
				return fmt.Sprintf("%T", err)
			}
			err = under
		}
	}
}

func fields(run *runlog.Run, event string) logrus.Fields {
	f := logrus.Fields{
		"event": event, "restaurant": string(run.Restaurant), "run": run.ID, "trigger": string(run.Trigger),
		"outcome": string(run.Outcome), "version": run.Version,
	}
	if run.Finished() {
		f["ms"] = run.FinishedAt.Sub(run.StartedAt).Milliseconds()
	}
	if run.Error != "" {
		f["error"] = run.Error
	}
	if run.Rollback != nil {
		f["to"], f["hold"], f["by"] = run.Rollback.Version, string(run.Rollback.Hold), strings.Join(run.By, ", ")
	}
	if run.Outcome == runlog.OutcomeUpdated {
		f["bytes"], f["products"], f["findings"] = run.Bytes, run.Products, run.Findings
	}
	return f
}

// endSpan ends the span of a run with what came of it.
func (p *pipelineRun) endSpan() {
	p.span.Text("larder.restaurant", string(p.run.Restaurant))
	p.span.Text("larder.run", p.run.ID)
	p.span.Text("larder.trigger", string(p.run.Trigger))
	p.span.Text("larder.outcome", string(p.run.Outcome))
	if p.run.Outcome == runlog.OutcomeFailed {
		p.span.Fail(string(p.run.Outcome))
	}
	p.span.End()
}

// unreachableAfter is after how many failures in a row, of whatever restaurants, a
// connection's ordering service counts as gone; fewer where it has fewer things
// to sync. What fails before is logged as a restaurant's own fault.
const unreachableAfter = 3

// upstreamHealth is how each connection's ordering service was met last, so that one
// that cannot be reached is logged once and not once a restaurant.
type upstreamHealth struct {
	mu stdsync.Mutex
	of map[string]upstreamState
}

type upstreamState struct {
	failures         int // in a row
	unreachableSince time.Time
}

// recordHealth takes the end of a run into the state of its connection, and logs a
// change of that. It reports whether the run failed because the service is away,
// which has been logged.
func (r *Runner) recordHealth(t *Target, run *runlog.Run, fault error) (away bool) {
	gone := isUnreachable(fault)
	if !gone && (run.Steps.Fetch == 0 || errors.Is(fault, context.Canceled)) {
		return false // it says nothing of the service
	}
	now := r.clock()
	menus := r.set.Load().counts[t.Connection]
	entry := r.log.WithFields(logrus.Fields{"connection": t.Connection, "restaurants": menus})
	r.upstreams.mu.Lock()
	defer r.upstreams.mu.Unlock()
	state := r.upstreams.of[t.Connection]
	since := state.unreachableSince
	if !gone {
		r.upstreams.of[t.Connection] = upstreamState{}
		if !since.IsZero() {
			entry.WithFields(logrus.Fields{"event": "upstream.recovered", "seconds": int(now.Sub(since).Seconds())}).
				Info("the ordering service answers again")
		}
		return false
	}
	state.failures++
	if since.IsZero() && state.failures >= min(unreachableAfter, menus+1) {
		state.unreachableSince = now
		entry.WithFields(logrus.Fields{"event": "upstream.unreachable", "error": run.Error}).
			Warn("the ordering service is away: its restaurants go on with their last good menus")
	}
	r.upstreams.of[t.Connection] = state
	return !state.unreachableSince.IsZero()
}

// isUnreachable reports whether a run failed of the ordering service as a whole, and not
// of what it says of one restaurant.
func isUnreachable(fault error) bool {
	if !errors.Is(fault, errService) || errors.Is(fault, context.Canceled) {
		return false
	}
	var service *upstream.Error
	if !errors.As(fault, &service) {
		return false
	}
	switch {
	case service.Operation == upstream.OpToken, service.Status == 0, service.Status >= http.StatusInternalServerError:
		return true
	default:
		return service.Status == http.StatusUnauthorized || service.Status == http.StatusForbidden ||
			service.Status == http.StatusRequestTimeout || service.Status == http.StatusTooManyRequests
	}
}
