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
func (p *pipelineRun) finish(ctx context.Context, fault, cause error) error {
	r, run := p.runner, &p.run
	fallback := "the last good menu is still served"
	if p.current.Version == 0 {
		fallback = "there is no menu of this service yet"
	}
	p.end(fault, cause, fallback)
	confirmedAt, outcome := p.versionNote(cause)
	written, err := p.writeFinal(ctx, confirmedAt, outcome)
	if errors.Is(err, cache.ErrNoCatalogue) { // Redis has lost it since the run began
		run.Outcome, run.Error = runlog.OutcomeFailed, fmt.Sprintf("confirm version %d: Redis has lost it", run.Version)
		written, err = p.writeFinal(ctx, time.Time{}, "")
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
	p.log(fault, event, what)
	r.refreshes.finished(run, r.deps.Clock())
	r.deps.Observer.RunFinished(*run)
	return err
}

// end sets the outcome of a run that has failed, and the time of its end. fallback describes what readers get.
func (p *pipelineRun) end(fault, cause error, fallback string) {
	run := &p.run
	run.State, run.FinishedAt = runlog.StateFinished, p.runner.deps.Clock().UTC()
	if fault == nil {
		return
	}
	run.Outcome, run.Error = runlog.OutcomeFailed, explain(fault, cause, time.Since(p.lease.asked), fallback)
	if errors.As(fault, new(*waitingError)) {
		run.Outcome = runlog.OutcomeWaiting
	}
}

// writeFinal writes the final record of a run, updates the current version, and releases the lease. It
// returns false if the run was declared lost meanwhile; that record stays. If the confirmed version
// does not exist, it changes nothing. Errors: cache.ErrNoCatalogue, redisdb.ErrUnavailable.
func (p *pipelineRun) writeFinal(ctx context.Context, confirmedAt time.Time, outcome runlog.Outcome) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	confirmed, ahead := "", ""
	if !confirmedAt.IsZero() {
		confirmed, ahead = menu.FormatTime(confirmedAt), menu.FormatTime(confirmedAt.Add(cache.ClockSlack))
	}
	id, keys := p.target.ID, p.target.keys
	answer, err := finishScript.Run(ctx, p.runner.redis,
		[]string{keys.Lease(id), keys.Fence(id), keys.Runs(id), keys.RunLog(id), keys.Current(id), keys.Published(id)},
		append(p.runner.runs.Ending(&p.run), confirmed, string(outcome), ahead)...).Int()
	if err == nil && answer == 2 {
		return false, fmt.Errorf("sync: record run %s: %w", p.run.ID, cache.ErrNoCatalogue)
	}
	return answer == 1, redisdb.CallError(ctx, "sync: record run "+p.run.ID, err)
}

// versionNote returns what the run found about the current version: when it was confirmed, and the
// outcome to save with it. Both are zero if publish has saved them or nothing was found.
func (p *pipelineRun) versionNote(cause error) (confirmedAt time.Time, outcome runlog.Outcome) {
	run, before := &p.run, runlog.Outcome(p.current.LastOutcome)
	switch {
	case run.Rollback != nil, errors.Is(cause, errLeaseLost):
	case failed(run.Outcome), run.Outcome == runlog.OutcomeWaiting && !failed(before): // a failure before it is still true
		outcome = run.Outcome
	case p.same != "":
		confirmedAt, outcome = p.fetchedAt, run.Outcome
	}
	return confirmedAt, outcome
}

// orphaned logs and counts a run that failed because its holder vanished.
func (r *Runner) orphaned(run runlog.Run) {
	r.deps.Log.WithFields(fields(&run, "sync.run_orphaned")).Warn("the instance that held the run vanished")
	if !isReasons(run.Restaurant) {
		r.deps.Observer.RunFinished(run)
	}
}

// log logs a run of what, with its event. Repeated failures of one kind are logged once per target; each run has its
// record. A failure that affects more targets is in the log already.
func (p *pipelineRun) log(fault error, event, what string) {
	r, t, run := p.runner, p.target, &p.run
	service, ofService := errors.AsType[*upstream.Error](fault)
	if r.BreakerState(t.Connection) != "closed" || ofService && service.Operation == upstream.OpToken ||
		errors.Is(fault, redisdb.ErrUnavailable) || errors.Is(fault, context.Canceled) {
		r.deps.Log.WithFields(fields(run, "sync."+string(run.Outcome))).Debug("menu not updated")
		return
	}
	state := string(run.Outcome) + " " + kindOf(fault)
	before, _ := t.last.Swap(state).(string)
	entry := r.deps.Log.WithFields(fields(run, event))
	switch again := before == state; {
	case run.Outcome == runlog.OutcomeUpdated:
		entry.Info(what + " published")
	case failed(run.Outcome) && again:
		entry.Debug(what + " still not updated")
	case failed(run.Outcome):
		entry.Warn(what + " not updated")
	case run.Outcome == runlog.OutcomeWaiting:
		t.last.Store(before)
		entry.Debug(what + " not asked for")
	case run.Outcome == runlog.OutcomeHeld && again:
		entry.Debug(what + " still held back")
	case run.Outcome == runlog.OutcomeHeld:
		entry.Info("the fetched menu is held back; only its stop lists are published")
	default:
		entry.WithField("same", string(p.same)).Debug(what + " confirmed")
	}
}

// failed reports whether an outcome means that the service's menu was not published.
func failed(o runlog.Outcome) bool {
	return o == runlog.OutcomeFailed || o == runlog.OutcomeQuarantined
}

// kindOf returns a text that is equal for failures of one kind, even if their messages contain different numbers.
func kindOf(err error) string {
	if service, ok := errors.AsType[*upstream.Error](err); ok {
		return fmt.Sprintf("%s %d %s", service.Operation, service.Status, service.Code)
	}
	for under := err; under != nil; under = errors.Unwrap(err) {
		err = under
	}
	return fmt.Sprintf("%T", err)
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
