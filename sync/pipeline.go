package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	stdsync "sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	"larder.local/sync/runlog"
)

// maxPublish limits how often a run publishes again after another version overtook it.
const maxPublish = 3

// ErrBusy means that another run held the restaurant's lease for as long as the caller waited.
var ErrBusy = errors.New("sync: another run of this restaurant is in progress")

// newRun returns a queued run. by is the client that requested it; it may be empty.
func (r *Runner) newRun(t *Target, why runlog.Trigger, by string) runlog.Run {
	now := r.deps.Clock().UTC()
	run := runlog.Run{
		ID:         r.runs.NewID(now),
		Restaurant: t.ID,
		Trigger:    why,
		State:      runlog.StateQueued,
		StartedAt:  now,
	}
	if by != "" {
		run.By = []string{by}
	}
	return run
}

// Once syncs a menu now. It is once for a run without a tick.
func (r *Runner) Once(ctx context.Context, t *Target, why runlog.Trigger) (runlog.Run, error) {
	return r.once(ctx, t, r.newRun(t, why, ""), time.Time{}, forceNone)
}

// once executes one run of a menu: lease, fetch, decode, guard, compile, lint, publish, record. All triggers use
// it, also for rollbacks. Errors of the ordering service are in the Run, not in the error. A run that is not needed
// leaves no record (policy S1). tick is the tick of the schedule; zero without one. own is what the run's own request
// skips. Errors: ErrBusy, errTaken, redisdb.ErrUnavailable.
func (r *Runner) once(ctx context.Context, t *Target, run runlog.Run, tick time.Time, own force) (runlog.Run, error) {
	p := &pipelineRun{runner: r, target: t, run: run}
	err := p.acquire(ctx, tick, own)
	switch {
	case errors.Is(err, ErrBusy) && run.Trigger != runlog.TriggerManual: // a manual run is tried again
		r.deps.Observer.TickSkipped(t.ID, SkipBusy)
	case errors.Is(err, errTaken):
		r.deps.Observer.TickSkipped(t.ID, SkipTaken)
	}
	if err != nil {
		return runlog.Run{}, err
	}
	err = p.underLease(ctx, p.execute, p.finish)
	return p.run, err
}

// pipelineRun is a run in progress, under its lease.
type pipelineRun struct {
	runner *Runner
	target *Target
	run    runlog.Run
	lease  lease

	// What a run of a menu has found about the served one, also if it failed later.
	current   cache.Version // served at the moment; zero before the first
	fetchedAt time.Time     // when the service was asked
	same      sameness      // how the fetched menu was found unchanged; empty: it was not
}

func (p *pipelineRun) execute(ctx context.Context) error {
	if p.run.Rollback != nil {
		return p.rollback(ctx, *p.run.Rollback)
	}
	if p.lease.force == forceGuard { // a batch fetches the rejection reasons itself
		reasons := p.runner.set.Load().reasons[p.target.Connection]
		var refreshing stdsync.WaitGroup
		defer refreshing.Wait()
		refreshing.Go(func() { _ = p.runner.fetchReasons(ctx, reasons) }) // its run records the error (policy S5a)
	}
	return p.syncMenu(ctx)
}

// fetched is the response of the service, within its reservation.
type fetched struct {
	answer upstream.Menu
	held   *reservation
	now    lastFetch // what is saved of it
}

// syncMenu fetches and publishes one menu. Only Publish changes what is served (policies S5, S6).
func (p *pipelineRun) syncMenu(ctx context.Context) error {
	st, err := p.loadState(ctx)
	if err != nil {
		return err
	}
	f, err := p.fetch(ctx, st)
	if err != nil {
		return err
	}
	defer f.held.release()
	if p.same = st.unchanged(f, nil); p.same != "" {
		return p.confirm(ctx, st, f.now, nil)
	}
	began := time.Now()
	view, published, err := menu.DecodePublished(f.answer.Body)
	p.run.Steps.Decode = since(began)
	if err != nil {
		return &stepError{doing: fmt.Sprintf("decode %s (%d bytes)", p.subject(), len(f.answer.Body)), err: err}
	}
	f.now.Content = bodyHash(published.Content)
	for try := 1; ; try++ {
		p.same, err = p.evaluate(ctx, st, view, published, f)
		if !errors.Is(err, cache.ErrStale) || try == maxPublish {
			return err
		}
		if st, err = p.loadState(ctx); err != nil {
			return err
		}
		f.now.Settings = st.settings
	}
}

// fetch requests the menu view, conditionally if a comparison with the last one is
// valid. The caller releases the reservation.
func (p *pipelineRun) fetch(ctx context.Context, st state) (f fetched, err error) {
	var seen upstream.Validator
	if st.comparable {
		seen = upstream.Validator{ETag: st.last.ETag, LastModified: st.last.Modified}
	}
	began := time.Now()
	p.fetchedAt = p.runner.deps.Clock().UTC()
	f.answer, f.held, err = p.fetchWithin(ctx, st, seen)
	p.run.Steps.Fetch = since(began)
	if err != nil {
		return fetched{}, err
	}
	if f.answer.NotModified && !st.comparable {
		f.held.release()
		err := errors.New("the service answered 304 Not Modified to an unconditional request")
		return fetched{}, fmt.Errorf("%w: %w", errService, &stepError{doing: "fetch " + p.subject(), err: err})
	}
	p.run.Bytes = len(f.answer.Body)
	f.now = st.last
	f.now.Version, f.now.Settings, f.now.Refused = st.current.Version, st.settings, ""
	p.target.fetchAll.Store(false)
	if !f.answer.NotModified {
		validator := f.answer.Validator
		f.now.BodyHash, f.now.ETag, f.now.Modified = bodyHash(f.answer.Body), validator.ETag, validator.LastModified
	}
	return f, nil
}

// evaluate guards, compiles, lints and publishes the fetched menu. Under a hold it
// publishes the held menu with the fetched stop lists.
func (p *pipelineRun) evaluate(
	ctx context.Context, st state, view *menu.View, published menu.Published, f fetched,
) (sameness, error) {
	f.now.HoldEffect = st.holdEffect(f.now.Content)
	guarded := f.now.HoldEffect == "" && p.lease.force < forceGuard
	// This needs no compiled menu, because an empty one can have a million elements without an id.
	if guarded && !slices.ContainsFunc(view.Products, func(d menu.Product) bool { return d.ID != "" }) {
		return "", p.quarantine(ctx, refusal{what: "Menu is empty, so it was not published"}, published, f.now)
	}
	unreadable := false
	if st.current.Version == 0 {
		var err error
		if unreadable, err = cache.UnreadableHold(ctx, p.target.store, p.target.ID); err != nil {
			return "", redisdb.CallError(ctx, "sync: read the hold", err)
		}
		if guarded && unreadable { // it may be the menu that was held away (policy O20)
			why := refusal{what: "A rollback of another larder version holds a menu: larder menu release " + string(p.target.ID) + " ends the hold"}
			return "", p.quarantine(ctx, why, published, f.now)
		}
	}
	if f.now.HoldEffect != "" {
		var err error
		// A hold never delays stop lists (policy S7a).
		if view, published, err = p.storedView(ctx, st.current, func() (menu.Published, error) { return published, nil }); err != nil {
			return "", err
		}
	}
	m := p.build(st, view, published)
	if guarded {
		why, err := p.guard(ctx, st, m)
		if err != nil {
			return "", redisdb.CallError(ctx, "sync: read the served menu", err)
		}
		if why.what != "" {
			return "", p.quarantine(ctx, why, published, f.now)
		}
	}
	f.now.Findings = len(m.findings)
	if same := st.unchanged(f, &m); same != "" {
		return same, p.keep(ctx, st, m, f.now)
	}
	var hold *cache.Hold
	if st.lifts(f.now) || unreadable {
		hold = &cache.Hold{}
	}
	return "", p.publish(ctx, st, m, f.now, hold)
}

// restore writes the served content again if it is the built one and Redis has lost it (policy S2a).
func (p *pipelineRun) restore(ctx context.Context, st state, m built) error {
	if !st.contentLost || m.hash != st.current.Content {
		return nil
	}
	if err := p.target.store.Restore(ctx, st.current, m.catalogue, m.published); err != nil {
		return &stepError{doing: "restore " + p.subject(), err: err}
	}
	p.runner.deps.Log.WithFields(fields(&p.run, "sync.content_restored")).
		Warn("Redis had lost or damaged the menu's content; it was written again")
	return nil
}

// keep confirms the served content, with the published stop lists.
func (p *pipelineRun) keep(ctx context.Context, st state, m built, now lastFetch) error {
	if err := p.restore(ctx, st, m); err != nil {
		return err
	}
	if st.contentLost { // instances that have the content in memory keep it
		p.runner.deps.Replica.Install(&cache.Snapshot{Version: st.current, Catalogue: m.catalogue})
	}
	// The published view shows other restaurants' stop lists too.
	at := p.runner.deps.Clock().UTC()
	version, err := p.target.store.UpdateStopLists(ctx, st.current, p.lease.fence, p.run.ID, m.published.Stops, at)
	if err != nil {
		return &stepError{doing: "publish " + p.subject(), err: err}
	}
	if version.Published != st.current.Published {
		st.current = version
		p.runner.deps.Replica.Install(&cache.Snapshot{Version: version, Catalogue: m.catalogue})
	}
	now.Version = st.current.Version
	return p.confirm(ctx, st, now, m.findings)
}

// confirm updates only checkedAt, at the run's end (policy S3). Under a hold the outcome may be
// OutcomeHeld; the hold then confirms the served menu. findings is as in saveLastFetch.
func (p *pipelineRun) confirm(ctx context.Context, st state, now lastFetch, findings []menu.Finding) error {
	if now != st.last || findings != nil {
		began := time.Now()
		if err := p.saveLastFetch(ctx, st.last, now, findings); err != nil {
			return err
		}
		p.run.Steps.Publish = since(began)
	}
	p.run.Outcome, p.run.Version = now.outcome(runlog.OutcomeUnchanged), st.current.Version
	p.run.Products, p.run.Findings = st.current.Counts.Products, now.Findings
	return nil
}

// publish makes a menu current and saves its fetch. hold is as in cache.Publication.
func (p *pipelineRun) publish(ctx context.Context, st state, m built, now lastFetch, hold *cache.Hold) error {
	if err := p.restore(ctx, st, m); err != nil {
		return err
	}
	began := time.Now()
	outcome := now.outcome(runlog.OutcomeUpdated)
	publication := cache.Publication{
		Restaurant: p.target.ID,
		Name:       cmp.Or(st.name, m.view.Name),
		Fence:      p.lease.fence,
		Run:        p.run.ID,
		Base:       st.current.Version,
		Catalogue:  m.catalogue,
		Published:  m.published,
		SyncedAt:   p.runner.deps.Clock().UTC(),
		Floor:      st.floor,
		Hold:       hold,
		Outcome:    string(outcome),
		ReadAt:     st.readAt,
	}
	if p.run.Rollback != nil { // a rollback does not ask the service, so it confirms nothing
		publication.CheckedAt = st.current.CheckedAt
	}
	version, err := p.target.store.Publish(ctx, publication)
	p.run.Steps.Publish = since(began)
	if err != nil {
		return &stepError{doing: "publish " + p.subject(), err: err}
	}
	p.runner.deps.Replica.Install(&cache.Snapshot{Version: version, Catalogue: m.catalogue})
	p.run.Outcome, p.run.Version, p.run.Changes = outcome, version.Version, p.changes(ctx, st, m)
	now.Version = version.Version
	err = p.saveLastFetch(ctx, st.last, now, m.findings)
	if version.Content != st.current.Content { // else only stop lists have changed
		p.run.From = st.current.Version
		err = cmp.Or(err, p.runner.runs.AddChange(ctx, &p.run))
	}
	if err != nil {
		// The menu is served. The next run only has more to compare, or the list of changes lacks this one.
		p.runner.deps.Log.WithError(err).WithFields(fields(&p.run, "sync.state_not_saved")).Debug("fetch not saved")
	}
	return nil
}

// changes counts the products that a published menu has changed, each once. It
// returns zeros if the previous version cannot be read.
func (p *pipelineRun) changes(ctx context.Context, st state, m built) runlog.Changes {
	before := m.before
	switch {
	case before != nil:
	case st.current.Version == 0:
		before = menu.Compile(&menu.View{}, p.target.ID, st.use)
	default:
		content, err := p.target.store.Content(ctx, st.current.Content, nil)
		if err != nil {
			return runlog.Changes{}
		}
		before = content.WithStops(st.current.Stops)
	}
	diff := menu.Diff(before, m.catalogue)
	changed := make(map[string]struct{}, len(diff.Changed)+len(diff.Availability))
	for _, c := range diff.Changed {
		changed[c.ID] = struct{}{}
	}
	for _, a := range diff.Availability {
		changed[a.ID] = struct{}{}
	}
	return runlog.Changes{Added: len(diff.Added), Removed: len(diff.Removed), Changed: len(changed)}
}

// bodyHash identifies a body. It is no protection against forged bodies, and needs an eighth of ContentHash's time.
func bodyHash(body []byte) string {
	return strconv.Itoa(len(body)) + "-" + strconv.FormatUint(xxhash.Sum64(body), 16)
}

// since returns milliseconds on the monotonic clock, to the microsecond, never 0.
func since(began time.Time) float64 {
	return float64(max(time.Since(began).Microseconds(), 1)) / 1000
}
