package sync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/sync/runlog"
)

const (
	// maxFindings and maxFindingProducts limit the stored findings.
	maxFindings        = 1000
	maxFindingProducts = 100
)

// lastFetch describes a restaurant's last good fetch. The next run, on any instance, compares its own
// with it (policy S3). It is valid only while Version is the current one.
type lastFetch struct {
	Version  int64  `redis:"version"`
	BodyHash string `redis:"raw"`      // of the body; see bodyHash
	Settings string `redis:"settings"` // hash of the settings alone
	ETag     string `redis:"etag"`
	Modified string `redis:"modified"` // Last-Modified
	Findings int    `redis:"findings"`
	Content  string `redis:"content"` // bodyHash of what was published, without its stop lists
	// HoldEffect is the effect of a hold on the fetch: holdConfirms or holdDelays; empty without a hold (policy S7a).
	HoldEffect string `redis:"under"`
	// Refused is the Content of a later fetch that the guard quarantined.
	Refused string `redis:"refused"`
}

// outcome returns held if a hold delays the fetched content and only its stop lists are published; otherwise other.
func (f lastFetch) outcome(other runlog.Outcome) runlog.Outcome {
	if f.HoldEffect == holdDelays {
		return runlog.OutcomeHeld
	}
	return other
}

// state is what a run compares the fetched menu with, and what it publishes with.
type state struct {
	current     cache.Version // served at the moment; zero before the first
	last        lastFetch
	use         menu.Settings // the settings that compile and lint use
	settings    string        // their hash
	name        string        // the restaurant's configured name; may be empty
	readAt      time.Time     // when the configuration with both was read, by Redis's clock
	floor       int64         // the highest version known to have been served
	contentLost bool          // Redis has lost the content of the current version, or has another one in its place
	force       bool          // the run is forced
	comparable  bool          // a body equal to the last fetch's means an equal menu; never in the first run of a source
}

// readAt returns when the configuration was read, by the clock of Redis that held has. It does not change until the next
// Replace, and is then later while this instance runs, even if Redis was slow to respond or its clock was set back.
func (r *Runner) readAt(held lease) time.Time {
	r.reading.Lock()
	defer r.reading.Unlock()
	set := r.set.Load()
	if set.readAt.IsZero() {
		set.readAt = held.now.Add(-held.asked.Sub(set.read))
		if next := r.lastRead.Add(time.Millisecond); set.readAt.Before(next) {
			set.readAt = next
		}
		r.lastRead = set.readAt
	}
	return set.readAt
}

// cached returns the menu in memory if it is of the target's source.
func (p *pipelineRun) cached() (*cache.Snapshot, bool) {
	snapshot, ok := p.runner.deps.Replica.Cached(p.target.ID)
	return snapshot, ok && p.target.store.IsOwn(snapshot.Version)
}

// loadState reads the current version and the last fetch, and adds the run to the index, in one round trip. It sets the
// settings and the name that the run compiles and publishes with: those of this instance, unless its configuration was read
// before that of the current version. So a menu that has not changed is published at most once for each configuration (policy S9).
func (p *pipelineRun) loadState(ctx context.Context) (state, error) {
	var held cache.Version
	if snapshot, ok := p.cached(); ok {
		held = snapshot.Version
	}
	var last *redis.MapStringStringCmd
	read, err := p.target.store.State(ctx, p.target.ID, held, func(pipe redis.Pipeliner) {
		last = pipe.HGetAll(ctx, p.target.keys.LastFetch(p.target.ID))
		p.runner.runs.AddToIndex(ctx, pipe, &p.run)
	})
	switch {
	case errors.Is(err, cache.ErrCorrupt):
		return state{}, &stepError{doing: "read the current version", err: err}
	case err != nil:
		return state{}, redisdb.CallError(ctx, "sync: read the current version", err)
	}
	st := state{
		current:     read.Version,
		use:         p.target.Settings,
		name:        p.target.Name,
		readAt:      p.runner.readAt(p.lease),
		floor:       max(held.Version, read.Floor),
		contentLost: read.Version.Version > 0 && !read.Stored,
		force:       p.run.Force,
	}
	_ = last.Scan(&st.last) // an unreadable value counts as missing
	if st.current.Settings != nil && st.current.ReadAt.After(st.readAt) {
		st.use, st.name, st.readAt = *st.current.Settings, st.current.Name, st.current.ReadAt
	}
	st.settings = menu.ContentHash(nil, st.use)
	st.comparable = !p.target.fetchAll.Load() && st.isComparable()
	p.current, p.run.Version = st.current, st.current.Version
	return st, nil
}

func (p *pipelineRun) subject() string {
	if p.target.upstream == "" {
		return "the menu view of connection " + p.target.Connection
	}
	return fmt.Sprintf("the menu view of restaurant %s over connection %s", p.target.ID, p.target.Connection)
}

// saveLastFetch saves the last good fetch, and removes the quarantined menu before it, except while the service publishes
// that and a hold keeps it away (policy S4a). If findings is nil, the stored ones stay.
func (p *pipelineRun) saveLastFetch(ctx context.Context, last, f lastFetch, findings []menu.Finding) error {
	id, keys := p.target.ID, p.target.keys
	if f.HoldEffect == holdConfirms && f.Content == last.Refused {
		f.Refused = f.Content
	}
	pipe := p.runner.redis.TxPipeline()
	pipe.HSet(ctx, keys.LastFetch(id), f)
	if findings != nil {
		list, err := json.Marshal(bounded(findings))
		if err != nil {
			return fmt.Errorf("sync: findings of %s: %w", id, err)
		}
		pipe.Set(ctx, keys.Findings(id), list, 0)
	}
	if _, err := pipe.Exec(ctx); err != nil || last.Refused == f.Refused {
		return redisdb.CallError(ctx, "sync: save the last fetch of "+string(id), err)
	}
	return redisdb.CallError(ctx, "sync: remove the quarantined menu of "+string(id), cache.DropQuarantined(ctx, p.target.store, id))
}

// Findings returns the findings of lint: at most 1,000, with at most 100 products each. They belong to
// the last menu that was fetched and not quarantined, or under a hold to the served one. Errors:
// *UnknownRestaurantError, cache.ErrNoCatalogue before the first good fetch, redisdb.ErrUnavailable.
func (r *Runner) Findings(ctx context.Context, restaurant menu.RestaurantID) ([]menu.Finding, error) {
	if _, err := r.Target(restaurant); err != nil {
		return nil, err
	}
	list, err := r.redis.Get(ctx, r.deps.Store.Keys().Findings(restaurant)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("sync: findings of %s: %w", restaurant, cache.ErrNoCatalogue)
	}
	if err != nil {
		return nil, redisdb.CallError(ctx, "sync: read findings of "+string(restaurant), err)
	}
	findings := []menu.Finding{}
	if err := json.Unmarshal(list, &findings); err != nil {
		return nil, fmt.Errorf("sync: findings of %s: %w", restaurant, err)
	}
	return findings, nil
}

// bounded limits a copy of findings to what is stored.
func bounded(findings []menu.Finding) []menu.Finding {
	kept := slices.Clone(findings[:min(len(findings), maxFindings)])
	for i := range kept {
		products := kept[i].Products
		kept[i].Products = products[:min(len(products), maxFindingProducts)]
	}
	return kept
}

// quarantine ends the run with the reason of the guard. It keeps the menu for operators (policy S4a).
func (p *pipelineRun) quarantine(ctx context.Context, why refusal, published menu.Published, now lastFetch) error {
	kept, err := cache.KeepQuarantined(ctx, p.target.store, p.target.ID, published)
	if err != nil {
		return redisdb.CallError(ctx, "sync: keep the quarantined menu of "+string(p.target.ID), err)
	}
	p.run.Outcome, p.run.Error = runlog.OutcomeQuarantined, why.reason(p.target.ID, kept)
	err = p.runner.redis.HSet(ctx, p.target.keys.LastFetch(p.target.ID), "refused", now.Content).Err()
	return redisdb.CallError(ctx, "sync: save the quarantined content of "+string(p.target.ID), err)
}
