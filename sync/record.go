package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/tracing"
	"larder/sync/runlog"
)

// recordLimit bounds the writing of a run's last record, which happens even
// when the run was ended.
const recordLimit = 3 * time.Second

// reasonRuns is how many records of rejection reasons are kept a connection.
const reasonRuns = 20

// finish records a finished run, even one whose context has ended. fault is what
// it failed of.
func (r *Runner) finish(ctx context.Context, p *pipelineRun, fault error, note versionNote) error {
	t, run := p.target, p.run
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	written, err := r.writeFinal(ctx, run, note)
	if errors.Is(err, cache.ErrNoCatalogue) { // Redis has lost it since the run began
		run.Outcome, run.Error = runlog.OutcomeFailed, fmt.Sprintf("confirm version %d: Redis does not have it any more", run.Version)
		written, err = r.writeFinal(ctx, run, versionNote{})
	}
	if err == nil && !written {
		return nil // declared lost, and logged so then
	}
	away := r.recordRun(t, run, fault)
	p.logRun(kindOf(fault), away || errors.Is(fault, redisdb.ErrUnavailable) || errors.Is(fault, context.Canceled))
	if !t.isReasons {
		r.observer.RunFinished(*run)
	}
	return err
}

// writeFinal writes the last record of a run, with what it says of the current
// version, and releases its lease. A run that was declared lost meanwhile keeps
// that record; then it is false. Errors: cache.ErrNoCatalogue, and nothing is
// done, where what was confirmed is not there; redisdb.ErrUnavailable.
func (r *Runner) writeFinal(ctx context.Context, run *runlog.Run, note versionNote) (bool, error) {
	end, err := r.runs.Ending(run)
	if err != nil {
		return false, err
	}
	confirmed, ahead := "", ""
	if at := note.confirmedAt; !at.IsZero() {
		confirmed, ahead = at.Format(menu.TimeFormat), at.Add(cache.ClockSlack).Format(menu.TimeFormat)
	}
	id := run.Restaurant
	answer, err := finishScript.Run(ctx, r.redis,
		[]string{r.keys.Lease(id), r.keys.Fence(id), r.keys.Runs(id), r.keys.RunLog(id), r.keys.Current(id)},
		run.ID, end.Record, end.Kept, end.IDTime, end.Channel, end.Published,
		confirmed, string(note.outcome), ahead, end.Folds).Int()
	switch {
	case err != nil:
		return false, unavailable(ctx, "record run "+run.ID, err)
	case answer == 2:
		return false, fmt.Errorf("sync: record run %s: %w", run.ID, cache.ErrNoCatalogue)
	default:
		return answer == 1, nil
	}
}

// versionNote is what a run's end says of the current version.
type versionNote struct {
	confirmedAt time.Time      // zero: it was not confirmed
	outcome     runlog.Outcome // empty: nothing is noted
}

// versionNote is what the run has found out of the current version, beside what a
// publish has written with it.
func (p *pipelineRun) versionNote() versionNote {
	switch outcome := p.run.Outcome; {
	case p.target.isReasons, p.run.Rollback != nil:
		return versionNote{}
	case outcome == runlog.OutcomeFailed, outcome == runlog.OutcomeQuarantined:
		return versionNote{outcome: outcome}
	case !p.confirmedAt.IsZero():
		return versionNote{outcome: outcome, confirmedAt: p.confirmedAt}
	default:
		return versionNote{}
	}
}

// fallbackText says what readers have while a run fails.
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

func (r *Runner) skip(t *target, reason SkipReason) {
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

// traceRun ends the span of a run with what came of it.
func traceRun(span tracing.Span, run *runlog.Run) {
	span.Text("larder.restaurant", string(run.Restaurant))
	span.Text("larder.run", run.ID)
	span.Text("larder.trigger", string(run.Trigger))
	span.Text("larder.outcome", string(run.Outcome))
	if run.Outcome == runlog.OutcomeFailed {
		span.Fail(string(run.Outcome))
	}
	span.End()
}
