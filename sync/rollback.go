package sync

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/sync/runlog"
)

// UnknownVersionError means that the history does not contain a version.
type UnknownVersionError struct {
	Restaurant menu.RestaurantID
	Version    int64
}

func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("sync: the history of %[2]s has no version %[1]d", e.Version, e.Restaurant)
}

// Rollback publishes the content of an older version as a new version, with the current stop lists, and holds
// it. It asks neither the ordering service nor the guard. Errors of the rollback are in the run, as with Once.
// It waits at most wait for a run in progress. Once started, it continues if its caller leaves. Errors:
// *UnknownRestaurantError, *UnknownVersionError, ErrBusy, redisdb.ErrUnavailable, ctx's.
func (r *Runner) Rollback(
	ctx context.Context, restaurant menu.RestaurantID, to runlog.Rollback, by string, wait time.Duration,
) (runlog.Run, error) {
	t, err := r.Target(restaurant)
	if err != nil {
		return runlog.Run{}, err
	}
	if _, err := t.store.Version(ctx, t.ID, to.Version); err != nil {
		if errors.Is(err, cache.ErrNoCatalogue) {
			return runlog.Run{}, &UnknownVersionError{Restaurant: t.ID, Version: to.Version}
		}
		return runlog.Run{}, redisdb.CallError(ctx, "sync: read "+versionText(to.Version), err)
	}
	run := r.newRun(t, runlog.TriggerManual, cleanName(by))
	run.Rollback = &to
	return whenFree(ctx, wait, func() (runlog.Run, error) {
		return r.once(context.WithoutCancel(ctx), t, run, time.Time{}, forceNone)
	})
}

func (p *pipelineRun) rollback(ctx context.Context, to runlog.Rollback) error {
	st, err := p.loadState(ctx)
	if err != nil {
		return err
	}
	version, err := p.target.store.Version(ctx, p.target.ID, to.Version)
	if err != nil {
		return &stepError{doing: versionText(to.Version), err: err}
	}
	// The old view and the last fetched one are both read.
	held, err := p.runner.budget.reserve(ctx, bodyMemory(int64(version.Bytes)+st.last.size()))
	if err != nil {
		return err
	}
	defer held.release()
	var now menu.Published // what the service published at the last fetch
	began := time.Now()
	view, published, err := p.storedView(ctx, version, func() (menu.Published, error) {
		var err error
		now, err = p.target.store.View(ctx, st.current)
		return now, err
	})
	p.run.Steps.Decode = since(began)
	if err != nil {
		return err
	}
	p.run.Bytes = len(published.Content)
	m := p.build(st, view, published)
	hold := cache.Hold{Until: to.Hold, Of: st.upstreamContent(now)}
	return p.publish(ctx, st, m, lastFetch{
		Settings:   st.settings,
		Findings:   len(m.findings),
		Content:    hold.Of,
		HoldEffect: holdConfirms,
	}, &hold)
}

// upstreamContent identifies the content that the service publishes: that of the last fetch, even if it
// was quarantined. If it is unknown, it is the content of the hold, or the served one.
func (st *state) upstreamContent(served menu.Published) string {
	switch {
	case st.last.Version == st.current.Version && st.last.Refused != "":
		return st.last.Refused
	case st.last.Version == st.current.Version && st.last.Content != "":
		return st.last.Content
	case st.current.Held:
		return st.current.Hold.Of
	default:
		return bodyHash(served.Content)
	}
}

func versionText(version int64) string { return "version " + strconv.FormatInt(version, 10) }

// storedView returns the menu view of a stored version with the stop lists of another.
func (p *pipelineRun) storedView(
	ctx context.Context, v cache.Version, stops func() (menu.Published, error),
) (*menu.View, menu.Published, error) {
	var now, published menu.Published
	var answer []byte
	var view *menu.View
	old, err := p.target.store.View(ctx, v)
	if err == nil {
		now, err = stops()
	}
	if err == nil {
		published, err = old.MergeStopLists(now)
	}
	if err == nil {
		answer, err = published.AppendAnswer(nil)
	}
	if err == nil {
		view, published, err = menu.DecodePublished(answer)
	}
	if errors.Is(err, redisdb.ErrUnavailable) {
		err = redisdb.CallError(ctx, "sync: read a stored version", err)
	}
	if err != nil {
		return nil, menu.Published{}, &stepError{doing: versionText(v.Version), err: err}
	}
	return view, published, nil
}

// Release ends the hold of a rollback immediately, and starts a new sync (policy S7a).
// Without a hold it only syncs. Errors as Start.
func (s *Scheduler) Release(ctx context.Context, restaurant menu.RestaurantID, by string) (runlog.Run, error) {
	t, err := s.Target(restaurant)
	if err != nil {
		return runlog.Run{}, err
	}
	hold, err := t.store.Release(ctx, restaurant)
	if err != nil {
		return runlog.Run{}, redisdb.CallError(ctx, "sync: release "+string(restaurant), err)
	}
	if hold != (cache.Hold{}) {
		s.deps.Log.WithField("event", "sync.released").WithField("restaurant", string(restaurant)).
			WithField("hold", string(hold.Until)).WithField("by", cleanName(by)).Info("hold released")
	}
	return s.Start(ctx, restaurant, Request{By: by, fresh: true})
}
