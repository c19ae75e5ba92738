package sync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/sync/runlog"
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

// loadState reads the current version and the last fetch, and adds the run to the index, in one round trip.
func (p *pipelineRun) loadState(ctx context.Context) error {
	var last *redis.MapStringStringCmd
	err := p.readState(ctx, func(pipe redis.Pipeliner) {
		last = pipe.HGetAll(ctx, p.target.keys.LastFetch(p.target.ID))
		p.runner.runs.AddToIndex(ctx, pipe, p.run)
	})
	if err != nil {
		return err
	}
	_ = last.Scan(&p.lastFetch) // an unreadable value counts as missing
	p.setUp()
	return nil
}

// setUp sets the settings and the name that the run compiles and publishes with: those of this instance, unless its
// configuration was read before that of the current version. So a menu that has not changed is published at most once
// for each configuration (policy S9).
func (p *pipelineRun) setUp() {
	p.use, p.name, p.readAt = p.target.Settings, p.target.Name, p.runner.readAt(p.lease.now)
	if p.current.Settings != nil && p.current.ReadAt.After(p.readAt) {
		p.use, p.name, p.readAt = *p.current.Settings, p.current.Name, p.current.ReadAt
	}
	p.settings = menu.ContentHash(nil, p.use)
	p.comparable = p.isComparable()
}

// readAt returns when the configuration was read, by Redis's clock. It does not change until the next Replace.
func (r *Runner) readAt(redisNow time.Time) time.Time {
	set := r.set.Load()
	set.readOnce.Do(func() { set.readAt = redisNow.Add(-time.Since(set.read)) })
	return set.readAt
}

// cached returns the menu in memory if it is of the target's source.
func (p *pipelineRun) cached() (*cache.Snapshot, bool) {
	snapshot, ok := p.runner.deps.Replica.Cached(p.target.ID)
	return snapshot, ok && p.target.store.IsOwn(snapshot.Version)
}

func (p *pipelineRun) readState(ctx context.Context, with func(redis.Pipeliner)) error {
	var held cache.Version
	if snapshot, ok := p.cached(); ok {
		held = snapshot.Version
		p.floor = held.Version
	}
	state, err := p.target.store.State(ctx, p.target.ID, held, with)
	switch {
	case errors.Is(err, cache.ErrCorrupt):
		return &stepError{doing: "read the current version", err: err}
	case err != nil:
		return redisdb.CallError(ctx, "sync: read the current version", err)
	}
	p.current, p.run.Version = state.Version, state.Version.Version
	p.floor = max(p.floor, state.Floor)
	p.contentLost = p.current.Version > 0 && !state.Stored
	return nil
}

func (p *pipelineRun) subject() string {
	if p.target.upstream == "" {
		return "the menu view of connection " + p.target.Connection
	}
	return fmt.Sprintf("the menu view of restaurant %s over connection %s", p.target.ID, p.target.Connection)
}

// saveLastFetch saves the last good fetch, and removes the quarantined menu before it, except while the service publishes
// that and a hold keeps it away (policy S4a). If findings is nil, the stored ones stay.
func (p *pipelineRun) saveLastFetch(ctx context.Context, f lastFetch, findings []menu.Finding) error {
	id, keys := p.target.ID, p.target.keys
	if f.HoldEffect == holdConfirms && f.Content == p.lastFetch.Refused {
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
	if _, err := pipe.Exec(ctx); err != nil || p.lastFetch.Refused == f.Refused {
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
func (p *pipelineRun) quarantine(ctx context.Context, why refusal, published menu.Published, f fetched) error {
	kept, err := cache.KeepQuarantined(ctx, p.target.store, p.target.ID, published)
	if err != nil {
		return redisdb.CallError(ctx, "sync: keep the quarantined menu of "+string(p.target.ID), err)
	}
	p.run.Outcome, p.run.Error, p.run.Version = runlog.OutcomeQuarantined, why.reason(p.target.ID, kept), p.current.Version
	err = p.runner.redis.HSet(ctx, p.target.keys.LastFetch(p.target.ID), "refused", f.now.Content).Err()
	return redisdb.CallError(ctx, "sync: save the quarantined content of "+string(p.target.ID), err)
}
