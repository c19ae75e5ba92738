package sync

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	"larder.local/sync/runlog"
)

// reasonsSuffix makes the id for the lease and records of a connection's rejection
// reasons. A connection's name contains no '/'.
const reasonsSuffix = "/reasons"

// isReasons reports whether an id is that of a connection's rejection reasons. Their runs are not listed.
func isReasons(id menu.RestaurantID) bool { return strings.HasSuffix(string(id), reasonsSuffix) }

const (
	// refreshReasonsEvery limits how often clients can trigger a fetch of rejection
	// reasons. refreshReasonsWithin is how long they wait for it.
	refreshReasonsEvery  = 5 * time.Second
	refreshReasonsWithin = 3 * time.Second
	// maxReasonsBytes limits the list that is stored: every reader gets it.
	maxReasonsBytes = 64 << 10
)

// RefreshReasons fetches a connection's rejection reasons, because the service refused a rejection or a
// client's request contradicts the cached list. Concurrent calls share one fetch, and there is at most
// one every five seconds (policy S5a). It reports whether it has fetched.
func (r *Runner) RefreshReasons(ctx context.Context, connection string) bool {
	_, err, _ := r.reasonsAsked.Do(connection, func() (any, error) {
		t, now := r.set.Load().reasons[connection], r.deps.Clock()
		if t == nil || now.Sub(t.refreshed) < refreshReasonsEvery && !now.Before(t.refreshed) {
			return nil, ErrBusy
		}
		t.refreshed = now
		return nil, r.fetchReasons(ctx, t)
	})
	return err == nil
}

// fetchReasons fetches a connection's rejection reasons. If another run is fetching them, it waits and then fetches.
func (r *Runner) fetchReasons(ctx context.Context, t *Target) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshReasonsWithin)
	defer cancel()
	run, err := whenFree(ctx, refreshReasonsWithin, func() (runlog.Run, error) {
		return r.syncReasons(ctx, t, runlog.TriggerManual, time.Time{})
	})
	if err == nil && (run.Outcome == runlog.OutcomeFailed || run.Outcome == runlog.OutcomeWaiting) {
		return errService
	}
	return err
}

func (s *Scheduler) tickReasons(t *Target) {
	if s.health.isUp() {
		s.pushReasons(t, runlog.TriggerCron, t.schedule.last(s.deps.Clock()))
	}
}

// pushReasons queues a fetch of rejection reasons. Without a tick, they are not fetched if they have missed none.
func (s *Scheduler) pushReasons(t *Target, why runlog.Trigger, tick time.Time) {
	s.queue.pushScheduled(Work{Target: t, Priority: bySchedule, Run: func(ctx context.Context) {
		defer t.pending.Store(false)
		if tick.IsZero() {
			_, checked, err := t.store.Reasons(ctx, t.Connection)
			if err == nil && !t.schedule.missed(1, checked, s.deps.Clock()) {
				return
			}
		}
		_, err := s.syncReasons(ctx, t, why, tick)
		s.logDeferred(t, err)
	}})
}

// syncReasons executes one run of a connection's rejection reasons. Errors as once, and errTaken.
func (r *Runner) syncReasons(ctx context.Context, t *Target, why runlog.Trigger, tick time.Time) (runlog.Run, error) {
	p := &pipelineRun{runner: r, target: t, run: r.newRun(t, why, "")}
	if err := p.acquire(ctx, tick, forceNone); err != nil {
		return p.run, err
	}
	err := p.underLease(ctx, p.saveReasons, func(ctx context.Context, fault, cause error) error {
		p.end(fault, cause, "the previous list stays")
		written, err := p.writeFinal(ctx, time.Time{}, "")
		if written || err != nil {
			p.log(fault, "sync.reasons", "rejection reasons")
		}
		return err
	})
	return p.run, err
}

// saveReasons saves the rejection reasons that the service lists. If it does not respond, the saved ones stay. After 404
// twice in a row there are none (policy W17).
func (p *pipelineRun) saveReasons(ctx context.Context) error {
	t, run, began := p.target, &p.run, time.Now()
	err := p.runner.breakers[t.Connection].admit(t, false, p.runner.deps.Clock())
	var reasons []upstream.Reason
	if err == nil {
		reasons, err = t.source.RejectionReasons(ctx)
	}
	run.Steps.Fetch = since(began)
	before, _, readErr := t.store.Reasons(ctx, t.Connection)
	if readErr != nil && !errors.Is(readErr, cache.ErrNoReasons) && !errors.Is(readErr, cache.ErrCorrupt) { // which are replaced
		return redisdb.CallError(ctx, "sync: read the rejection reasons", readErr)
	}
	service, ofService := errors.AsType[*upstream.Error](err)
	noToken := ofService && service.Operation == upstream.OpToken
	var missing int64
	if !noToken && !errors.As(err, new(*waitingError)) && !errors.Is(err, upstream.ErrBusy) { // it was asked
		found := !ofService || service.Status != http.StatusNotFound
		var countErr error
		if missing, countErr = cache.ReasonsNotFound(ctx, t.store, t.Connection, found); countErr != nil {
			return redisdb.CallError(ctx, "sync: count the responses without rejection reasons", countErr)
		}
	}
	if err != nil && missing < 2 {
		return fmt.Errorf("%w: %w", errService,
			&stepError{doing: "fetch the rejection reasons of connection " + t.Connection, err: err})
	}
	list, err := json.Marshal(append([]upstream.Reason{}, reasons...)) // [] without any
	if err != nil {
		return err
	}
	if len(list) > maxReasonsBytes {
		cause := fmt.Errorf("they have %d bytes, the limit is %d (policy W15): %w", len(list), maxReasonsBytes, upstream.ErrTooLarge)
		return fmt.Errorf("%w: %w", errService, &stepError{doing: "save the rejection reasons of connection " + t.Connection, err: cause})
	}
	began = time.Now()
	if err := t.store.SaveReasons(ctx, t.Connection, list); err != nil {
		return redisdb.CallError(ctx, "sync: save the rejection reasons", err)
	}
	run.Steps.Publish = since(began)
	run.Bytes, run.Outcome = len(list), runlog.OutcomeUpdated
	if bytes.Equal(before, list) {
		run.Outcome = runlog.OutcomeUnchanged
	}
	return nil
}
