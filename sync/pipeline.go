package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/sync/runlog"
)

// maxPublish bounds how often a publish that others overtook starts again.
const maxPublish = 3

// pipelineRun is one run at work under its lease.
type pipelineRun struct {
	runner *Runner
	target *target
	run    *runlog.Run
	fence  int64
	batch  bool // one of many of a batch

	current     cache.Version // served now; zero before the first
	lastFetch   lastFetch     // the last good fetch
	floor       int64         // the highest version that is known to have been served
	contentLost bool          // Redis has lost the content of the current version

	fetchedAt   time.Time // when the service was asked
	confirmedAt time.Time // when the current version was; zero: it was not
	same        string    // how: by its "validator" (304 Not Modified), "hash" of the body, or compiled "content"
}

// syncMenu brings one menu up to date, or says why not. It never touches what is
// served but by Publish (policies S5, S6).
func (p *pipelineRun) syncMenu(ctx context.Context) error {
	if err := p.loadState(ctx); err != nil {
		return err
	}
	known := p.mayAssumeUnchanged()
	var seen upstream.Validator
	if known {
		seen = upstream.Validator{ETag: p.lastFetch.ETag, LastModified: p.lastFetch.Modified}
	}
	began := time.Now()
	p.fetchedAt = p.runner.clock().UTC()
	answer, held, err := p.fetch(ctx, seen)
	p.run.Steps.Fetch = since(began)
	if err != nil {
		return err
	}
	defer held.release()
	if answer.NotModified && !known {
		err := errors.New("it answered 304 Not Modified to a request without a validator")
		return fmt.Errorf("%w: %w", errService, &stepError{doing: "fetch " + p.subject(), err: err})
	}
	p.run.Bytes = len(answer.Body)
	now := p.lastFetch
	now.Version, now.Settings, now.Refused = p.current.Version, p.fingerprint(), ""
	if !answer.NotModified {
		now.BodyHash, now.ETag, now.Modified = bodyHash(answer.Body), answer.Validator.ETag, answer.Validator.LastModified
	}
	switch {
	case answer.NotModified:
		return p.unchanged(ctx, now, nil, "validator")
	case known && now.BodyHash == p.lastFetch.BodyHash:
		return p.unchanged(ctx, now, nil, "hash")
	default:
		return p.process(ctx, answer.Body, now)
	}
}

// loadState reads what is served now and what was pulled last, and puts the run into
// the index, in one round trip.
func (p *pipelineRun) loadState(ctx context.Context) error {
	var last *redis.MapStringStringCmd
	err := p.readState(ctx, func(pipe redis.Pipeliner) {
		last = pipe.HGetAll(ctx, p.runner.keys.LastFetch(p.target.ID))
		p.runner.runs.AddToIndex(ctx, pipe, p.run)
	})
	if err != nil {
		return err
	}
	_ = last.Scan(&p.lastFetch) // what larder did not write is as if it were not there
	return nil
}

// readState reads what is served now.
func (p *pipelineRun) readState(ctx context.Context, with func(redis.Pipeliner)) error {
	var held cache.Version
	if snapshot, ok := p.runner.replica.Cached(p.target.ID); ok {
		held = snapshot.Version
		p.floor = held.Version
	}
	state, err := p.runner.store.State(ctx, p.target.ID, held, with)
	switch {
	case errors.Is(err, cache.ErrCorrupt):
		return &stepError{doing: "read the current version", err: err}
	case err != nil:
		return unavailable(ctx, "read the current version", err)
	}
	p.current, p.run.Version = state.Version, state.Version.Version
	p.floor = max(p.floor, state.Floor)
	p.contentLost = p.current.Version > 0 && !state.Stored
	return nil
}

// fingerprint is the hash of the settings that compile and lint read.
func (p *pipelineRun) fingerprint() string { return menu.ContentHash(nil, p.target.Settings) }

// name is the configured name, or the menu's own.
func (p *pipelineRun) name(own string) string { return cmp.Or(p.target.Name, own) }

// subject names the menu for a person.
func (p *pipelineRun) subject() string {
	if p.target.upstream == "" {
		return "the menu view of connection " + p.target.Connection
	}
	return fmt.Sprintf("the menu view of restaurant %s over connection %s", p.target.ID, p.target.Connection)
}

// unchanged moves only checkedAt, with the run's end (policy S3). Under a hold
// the outcome may be OutcomeHeld: what is served is confirmed all the same, by
// the hold. findings is as in saveLastFetch, same as in pipelineRun.
func (p *pipelineRun) unchanged(ctx context.Context, now lastFetch, findings []menu.Finding, same string) error {
	if now != p.lastFetch || findings != nil {
		began := time.Now()
		if err := p.runner.saveLastFetch(ctx, p.target.ID, now, findings); err != nil {
			return err
		}
		p.run.Steps.Publish = since(began)
	}
	p.confirmedAt, p.same = p.fetchedAt, same
	p.run.Outcome, p.run.Version = cmp.Or(runlog.Outcome(now.HoldOutcome), runlog.OutcomeUnchanged), p.current.Version
	p.run.Products, p.run.Findings = p.current.Counts.Products, now.Findings
	return nil
}

// process decodes a body and brings it to the readers.
func (p *pipelineRun) process(ctx context.Context, body []byte, now lastFetch) error {
	began := time.Now()
	view, published, err := menu.DecodePublished(body)
	p.run.Steps.Decode = since(began)
	if err != nil {
		return &stepError{doing: fmt.Sprintf("decode %s (%d bytes)", p.subject(), len(body)), err: err}
	}
	now.Content = bodyHash(published.Content)
	for try := 1; ; try++ {
		err := p.evaluate(ctx, view, published, now)
		if !errors.Is(err, cache.ErrStale) || try == maxPublish {
			return err
		}
		if err := p.readState(ctx, nil); err != nil {
			return err
		}
	}
}

// evaluate guards, lints, compiles and publishes what was pulled; under a hold the
// held menu with the stop lists that were pulled.
func (p *pipelineRun) evaluate(ctx context.Context, view *menu.View, published menu.Published, now lastFetch) error {
	now.HoldOutcome = string(p.holdOutcome(now.Content))
	p.run.Products = productCount(view)
	if now.HoldOutcome == "" {
		if reason := p.guard(); reason != "" {
			p.run.Outcome, p.run.Error, p.run.Version = runlog.OutcomeQuarantined, reason, p.current.Version
			return p.runner.saveRefused(ctx, p.target.ID, now.Content)
		}
	} else {
		var err error
		// Stop lists always go through (policy S7a).
		if view, published, err = p.storedView(ctx, p.current, func() (menu.Published, error) { return published, nil }); err != nil {
			return err
		}
	}
	m, findings := p.build(view, published)
	now.Findings = len(findings)
	return p.publishIfChanged(ctx, m, now, findings)
}

// build compiles and lints a menu for publishing.
func (p *pipelineRun) build(view *menu.View, published menu.Published) (built, []menu.Finding) {
	began := time.Now()
	m := p.compile(view, published)
	p.run.Steps.Compile = since(began)
	began = time.Now()
	findings := menu.LintCompiled(view, m.catalogue)
	p.run.Steps.Lint = since(began)
	p.run.Findings, p.run.Products = len(findings), m.catalogue.ProductCount()
	if findings == nil {
		findings = []menu.Finding{}
	}
	return m, findings
}

// built is a compiled menu.
type built struct {
	view      *menu.View
	published menu.Published
	hash      string // of its content, without stop lists
	catalogue *menu.Catalogue
}

// compile makes the catalogue. Where only the stop lists moved, the compiled
// content that is served now gets a new overlay.
func (p *pipelineRun) compile(view *menu.View, published menu.Published) built {
	m := built{view: view, published: published, hash: menu.ContentHash(published.Content, p.target.Settings)}
	if snapshot, ok := p.runner.replica.Cached(p.target.ID); ok && snapshot.Content == m.hash {
		m.catalogue = snapshot.Catalogue.Content.Catalogue(view.Stops(p.target.ID, p.target.Settings))
		return m
	}
	m.catalogue = menu.Compile(view, p.target.ID, p.target.Settings)
	return m
}

// publishIfChanged publishes what was made, unless it is what is served.
func (p *pipelineRun) publishIfChanged(ctx context.Context, m built, now lastFetch, findings []menu.Finding) error {
	if p.serves(m, now) {
		if p.contentLost { // nothing changes for those who have the content in memory
			if err := p.runner.store.Restore(ctx, p.current, m.catalogue, m.published); err != nil {
				return &stepError{doing: "write again " + p.subject(), err: err}
			}
		}
		if err := p.updateStopLists(ctx, m); err != nil {
			return err
		}
		now.Version = p.current.Version
		return p.unchanged(ctx, now, findings, "content")
	}
	outcome, hold := runlog.OutcomeUpdated, (*cache.Hold)(nil)
	if now.HoldOutcome == string(runlog.OutcomeHeld) {
		outcome = runlog.OutcomeHeld // its stop lists go through
	}
	if p.lifts(now) {
		hold = &cache.Hold{}
	}
	return p.publish(ctx, m, now, findings, outcome, hold)
}

// publish makes a menu current and remembers where it came from. hold is as in
// cache.Publication.
func (p *pipelineRun) publish(
	ctx context.Context, m built, now lastFetch, findings []menu.Finding, outcome runlog.Outcome, hold *cache.Hold,
) error {
	before := p.served()
	began := time.Now()
	publication := cache.Publication{
		Restaurant: p.target.ID, Name: p.name(m.view.Name), Fence: p.fence, Run: p.run.ID, Base: p.current.Version,
		Catalogue: m.catalogue, Published: m.published, Content: m.hash, SyncedAt: p.runner.clock().UTC(), Floor: p.floor,
		Hold: hold, Outcome: string(outcome),
	}
	if p.run.Rollback != nil { // it asked nobody: nothing is confirmed
		publication.CheckedAt = p.current.CheckedAt
	}
	version, err := p.runner.store.Publish(ctx, publication)
	p.run.Steps.Publish = since(began)
	if err != nil {
		return &stepError{doing: "publish " + p.subject(), err: err}
	}
	p.runner.replica.Install(&cache.Snapshot{Version: version, Catalogue: m.catalogue})
	p.run.Outcome, p.run.Version = outcome, version.Version
	if before == nil { // nobody waits for the count any more
		before = p.before(ctx)
	}
	p.run.Changes = changes(before, m.catalogue)
	now.Version = version.Version
	if err := p.runner.saveLastFetch(ctx, p.target.ID, now, findings); err != nil {
		// The menu is served; the next pull only has more to compare.
		p.runner.log.WithError(err).WithFields(fields(p.run, "sync.state_not_saved")).Debug("pull not remembered")
	}
	return nil
}

// updateStopLists keeps what the service publishes now where it means the same to this
// restaurant: the view as published shows other restaurants' stop lists too.
func (p *pipelineRun) updateStopLists(ctx context.Context, m built) error {
	version, err := p.runner.store.UpdateStopLists(ctx, cache.StopListUpdate{
		Version: p.current, Fence: p.fence, Run: p.run.ID, Stops: m.published.Stops, At: p.runner.clock().UTC(),
	})
	if err != nil {
		return &stepError{doing: "publish " + p.subject(), err: err}
	}
	if version.Published != p.current.Published {
		p.current = version
		p.runner.replica.Install(&cache.Snapshot{Version: version, Catalogue: m.catalogue})
	}
	return nil
}

// served gives the catalogue of the current version where memory has it, else
// nil.
func (p *pipelineRun) served() *menu.Catalogue {
	snapshot, ok := p.runner.replica.Cached(p.target.ID)
	if !ok || p.current.Version == 0 || snapshot.Version.Version != p.current.Version ||
		snapshot.Content != p.current.Content || !snapshot.Stops.Equal(p.current.Stops) {
		return nil
	}
	return snapshot.Catalogue
}

// before gives the catalogue of the version that was current when memory does
// not have it, nil where it cannot be read: then the run counts no changes.
func (p *pipelineRun) before(ctx context.Context) *menu.Catalogue {
	if p.current.Version == 0 {
		return menu.Compile(&menu.View{}, p.target.ID, p.target.Settings)
	}
	content, err := p.runner.store.Content(ctx, p.current.Content)
	if err != nil {
		return nil
	}
	return content.Catalogue(p.current.Stops)
}

// changes counts products, each once.
func changes(before, after *menu.Catalogue) runlog.Changes {
	if before == nil {
		return runlog.Changes{}
	}
	diff := menu.Diff(before, after)
	changed := make(map[string]struct{}, len(diff.Changed)+len(diff.Availability))
	for _, c := range diff.Changed {
		changed[c.ID] = struct{}{}
	}
	for _, a := range diff.Availability {
		changed[a.ID] = struct{}{}
	}
	return runlog.Changes{Added: len(diff.Added), Removed: len(diff.Removed), Changed: len(changed)}
}

// since gives milliseconds on the monotonic clock, to the microsecond, never 0.
func since(began time.Time) float64 {
	return float64(max(time.Since(began).Microseconds(), 1)) / 1000
}
