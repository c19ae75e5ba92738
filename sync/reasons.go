package sync

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/upstream"
	"larder/sync/runlog"
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
)

// RefreshReasons fetches a connection's rejection reasons, because the service refused a rejection or a
// client's request contradicts the cached list. Concurrent calls share one fetch, and there is at most
// one every five seconds (policy S5a). It reports whether it has fetched.
func (r *Runner) RefreshReasons(ctx context.Context, connection string) bool {
	_, err, _ := r.reasonsAsked.Do(connection, func() (any, error) {
		now := r.clock()
		last, _ := r.reasonsAt.Load(connection)
		if at, _ := last.(time.Time); now.Sub(at) < refreshReasonsEvery && !now.Before(at) {
			return nil, ErrBusy
		}
		r.reasonsAt.Store(connection, now)
		return nil, r.fetchReasons(ctx, connection)
	})
	return err == nil
}

// fetchReasons fetches a connection's rejection reasons. If another run is fetching them, it waits and then fetches.
func (r *Runner) fetchReasons(ctx context.Context, connection string) error {
	all := r.set.Load().reasons
	at := slices.IndexFunc(all, func(t *Target) bool { return t.Connection == connection })
	if at < 0 {
		return &UnknownRestaurantError{ID: cache.DefaultMenu(connection) + reasonsSuffix}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshReasonsWithin)
	defer cancel()
	w := Work{Target: all[at], Trigger: runlog.TriggerManual, run: new(r.newRun(all[at], runlog.TriggerManual))}
	run, err := r.onceWhenFree(ctx, ctx, w)
	if err == nil && (run.Outcome == runlog.OutcomeFailed || run.Outcome == runlog.OutcomeWaiting) {
		return errService
	}
	return err
}

// syncReasons saves the rejection reasons that the service lists. If it does not respond, the saved ones stay. After 404
// twice in a row there are none (policy W17).
func (p *pipelineRun) syncReasons(ctx context.Context) error {
	began := time.Now()
	err := p.runner.breakers[p.target.Connection].admit(p.target, false, p.runner.clock())
	var reasons []upstream.Reason
	if err == nil {
		reasons, err = p.target.source.RejectionReasons(ctx)
	}
	p.run.Steps.Fetch = since(began)
	before, _, readErr := p.target.store.Reasons(ctx, p.target.Connection)
	if readErr != nil && !errors.Is(readErr, cache.ErrNoReasons) {
		return redisdb.CallError(ctx, "sync: read the rejection reasons", readErr)
	}
	failed, _ := errors.AsType[*upstream.Error](err)
	var missing int64
	_, waits := errors.AsType[*waitingError](err)
	if !waits && !errors.Is(err, upstream.ErrBusy) && (failed == nil || failed.Operation != upstream.OpToken) { // it was asked
		found := failed == nil || failed.Status != http.StatusNotFound
		var countErr error
		if missing, countErr = cache.ReasonsNotFound(ctx, p.target.store, p.target.Connection, found); countErr != nil {
			return redisdb.CallError(ctx, "sync: count the responses without rejection reasons", countErr)
		}
	}
	if err != nil && missing < 2 {
		return fmt.Errorf("%w: %w", errService,
			&stepError{doing: "fetch the rejection reasons of connection " + p.target.Connection, err: err})
	}
	if reasons == nil {
		reasons = []upstream.Reason{}
	}
	list, err := json.Marshal(reasons)
	if err != nil {
		return err
	}
	began = time.Now()
	if err := p.target.store.SaveReasons(ctx, p.target.Connection, list); err != nil {
		return redisdb.CallError(ctx, "sync: save the rejection reasons", err)
	}
	p.run.Steps.Publish = since(began)
	p.run.Bytes, p.run.Outcome = len(list), runlog.OutcomeUpdated
	if bytes.Equal(before, list) {
		p.run.Outcome = runlog.OutcomeUnchanged
	}
	return nil
}
