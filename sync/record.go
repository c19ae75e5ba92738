package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
	"larder.local/sync/runlog"
)

// recordLimit limits the time to write a run's final record, which is written even if the run was cancelled.
const recordLimit = 3 * time.Second

// reasonRuns is the number of run records kept for each connection's rejection reasons.
const reasonRuns = 20

// finish finishes a run of a menu and records it, even if its context has ended. fault is why
// it failed, cause why its context ended.
func (p *pipelineRun) finish(ctx context.Context, e ending, fault, cause error) error {
	r, run := p.runner, p.run
	fallback := "the last good menu is still served"
	if e.current.Version == 0 {
		fallback = "there is no menu of this service yet"
	}
	r.end(run, p.lease, fault, cause, fallback)
	confirmedAt, outcome := e.versionNote(run, cause)
	written, err := r.writeFinal(ctx, p.target, run, confirmedAt, outcome)
	if errors.Is(err, cache.ErrNoCatalogue) { // Redis has lost it since the run began
		run.Outcome, run.Error = runlog.OutcomeFailed, fmt.Sprintf("confirm version %d: Redis has lost it", run.Version)
		written, err = r.writeFinal(ctx, p.target, run, time.Time{}, "")
	}
	if err == nil && !written {
		return nil // declared lost, and logged then
	}
	event, what := "sync."+string(run.Outcome), "menu"
	switch {
	case run.Rollback != nil:
		event, what = "sync.rollback", "older menu"
	case run.Outcome == runlog.OutcomeUpdated:
		event = "sync.published"
	}
	r.logRun(p.target, run, fault, event, what, e.same)
	r.refreshes.finished(run, r.deps.Clock())
	r.deps.Observer.RunFinished(*run)
	return err
}

// end sets the outcome of a run that has failed, and the time of its end. fallback describes what readers get.
func (r *Runner) end(run *runlog.Run, held lease, fault, cause error, fallback string) {
	run.State, run.FinishedAt = runlog.StateFinished, r.deps.Clock().UTC()
	if fault == nil {
		return
	}
	run.Outcome, run.Error = runlog.OutcomeFailed, explain(fault, cause, time.Since(held.asked), fallback)
	if errors.As(fault, new(*waitingError)) {
		run.Outcome = runlog.OutcomeWaiting
	}
}

// writeFinal writes the final record of a run, updates the current version, and releases the lease. It
// returns false if the run was declared lost meanwhile; that record stays. If the confirmed version
// does not exist, it changes nothing. Errors: cache.ErrNoCatalogue, redisdb.ErrUnavailable.
func (r *Runner) writeFinal(
	ctx context.Context, t *Target, run *runlog.Run, confirmedAt time.Time, outcome runlog.Outcome,
) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	end, err := r.runs.Ending(run)
	if err != nil {
		return false, err
	}
	confirmed, ahead := "", ""
	if !confirmedAt.IsZero() {
		confirmed, ahead = menu.FormatTime(confirmedAt), menu.FormatTime(confirmedAt.Add(cache.ClockSlack))
	}
	id, keys := run.Restaurant, t.keys
	answer, err := finishScript.Run(ctx, r.redis,
		[]string{keys.Lease(id), keys.Fence(id), keys.Runs(id), keys.RunLog(id), keys.Current(id), keys.Published(id)},
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

// versionNote returns what the run found about the current version: when it was confirmed, and the
// outcome to save with it. Both are zero if publish has saved them or nothing was found.
func (e *ending) versionNote(run *runlog.Run, cause error) (confirmedAt time.Time, outcome runlog.Outcome) {
	failed := run.Outcome == runlog.OutcomeFailed || run.Outcome == runlog.OutcomeQuarantined
	switch {
	case run.Rollback != nil, errors.Is(cause, errLeaseLost):
		return time.Time{}, ""
	case failed, run.Outcome == runlog.OutcomeWaiting && e.current.LastOutcome != string(runlog.OutcomeFailed) &&
		e.current.LastOutcome != string(runlog.OutcomeQuarantined): // which are still true
		return time.Time{}, run.Outcome
	case e.same != "":
		return e.fetchedAt, run.Outcome
	default:
		return time.Time{}, ""
	}
}

// orphaned logs and counts a run that failed because its holder vanished.
func (r *Runner) orphaned(run runlog.Run) {
	r.deps.Log.WithFields(fields(&run, "sync.run_orphaned")).Warn("the instance that held the run vanished")
	if !isReasons(run.Restaurant) {
		r.deps.Observer.RunFinished(run)
	}
}

// skipped returns a run that was not needed. It is not recorded.
func skipped(run runlog.Run) runlog.Run {
	run.State, run.Outcome, run.FinishedAt = runlog.StateFinished, runlog.OutcomeSkipped, run.StartedAt
	return run
}

// logRun logs a run of what, with its event. Repeated failures of one kind are logged once per target; each run has its
// record. A failure that affects more targets is in the log already.
func (r *Runner) logRun(t *Target, run *runlog.Run, fault error, event, what string, same sameness) {
	service, ofService := errors.AsType[*upstream.Error](fault)
	if r.BreakerState(t.Connection) != "closed" || ofService && service.Operation == upstream.OpToken ||
		errors.Is(fault, redisdb.ErrUnavailable) || errors.Is(fault, context.Canceled) {
		r.deps.Log.WithFields(fields(run, "sync."+string(run.Outcome))).Debug("menu not updated")
		return
	}
	state := string(run.Outcome) + " " + kindOf(fault)
	before, _ := t.last.Swap(state).(string)
	entry := r.deps.Log.WithFields(fields(run, event))
	switch run.Outcome {
	case runlog.OutcomeUpdated:
		entry.Info(what + " published")
	case runlog.OutcomeFailed, runlog.OutcomeQuarantined:
		if before == state {
			entry.Debug(what + " still not updated")
		} else {
			entry.Warn(what + " not updated")
		}
	case runlog.OutcomeWaiting:
		t.last.Store(before)
		entry.Debug(what + " not asked for")
	case runlog.OutcomeHeld:
		if before == state {
			entry.Debug(what + " still held back")
		} else {
			entry.Info("the fetched menu is held back; only its stop lists are published")
		}
	default:
		entry.WithField("same", string(same)).Debug(what + " confirmed")
	}
}

// kindOf returns a text that is equal for failures of one kind, even if their messages contain different numbers.
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
		"event":      event,
		"restaurant": string(run.Restaurant),
		"run":        run.ID,
		"trigger":    string(run.Trigger),
		"outcome":    string(run.Outcome),
		"version":    run.Version,
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

func endSpan(span tracing.Span, run *runlog.Run) {
	span.Text("larder.restaurant", string(run.Restaurant))
	span.Text("larder.run", run.ID)
	span.Text("larder.trigger", string(run.Trigger))
	span.Text("larder.outcome", string(run.Outcome))
	if run.Outcome == runlog.OutcomeFailed {
		span.Fail(string(run.Outcome))
	}
	span.End()
}
