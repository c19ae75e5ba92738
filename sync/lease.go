package sync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"larder/cache"
	"larder/internal/redisdb"
	"larder/internal/sleep"
	"larder/sync/runlog"
)

// errLeaseLost ends a run whose lease expired or belongs to another instance.
var errLeaseLost = errors.New("the lease was lost: Redis was down too long, or this process was paused")

// errTaken means that another instance executed this tick.
var errTaken = errors.New("sync: another instance took this slot")

// force is what a run skips. A higher value includes the lower ones.
type force int64

const (
	forceNone  force = iota
	forceFetch       // the comparison with the last fetch
	forceGuard       // the guard too; a batch never does (policy S4)
)

func forceOf(forced, batch bool) force {
	switch {
	case !forced:
		return forceNone
	case batch:
		return forceFetch
	default:
		return forceGuard
	}
}

// lease is the right to publish for one restaurant until it is released or not
// renewed in time. fence grows with every lease (policy S2).
type lease struct {
	fence int64
	until time.Time // monotonic; until then the run may work without a renewal
	force force     // of its own request, or of one that joined
	left  string    // the id of a run that its holder did not finish
	now   time.Time // by Redis's clock, when the lease was taken
}

// acquire takes the restaurant's lease for run and writes its record as running. slot is the tick of
// the schedule; zero without one. own is what its own request skips. Errors: ErrBusy, errTaken, redisdb.ErrUnavailable.
func (r *Runner) acquire(ctx context.Context, t *Target, run *runlog.Run, slot time.Time, own force) (lease, error) {
	asked := time.Now()
	record, err := run.MarshalJSON()
	if err != nil {
		return lease{}, err
	}
	var slotMS, every int64
	ahead := cache.ClockSlack // a tick in Redis that is later comes from a wrong clock
	if !slot.IsZero() {
		slotMS = slot.UnixMilli()
		if interval := t.schedule.interval(slot); interval > 0 {
			ahead, every = min(ahead, interval), interval.Milliseconds()
		}
	}
	answer, err := acquireScript.Run(ctx, r.redis,
		[]string{t.keys.Lease(t.ID), t.keys.Fence(t.ID), t.keys.Queue(t.ID), t.keys.Runs(t.ID)},
		run.ID, record, r.cfg.Lease.Milliseconds(), slotMS, r.runs.NoticeChannel(t.ID), run.Rollback != nil, int64(own),
		ahead.Milliseconds(), every).Slice()
	if err != nil {
		return lease{}, redisdb.CallError(ctx, "sync: acquire the lease of "+string(t.ID), err)
	}
	switch state, _ := answer[0].(string); {
	case state == "busy":
		return lease{}, ErrBusy
	case state == "done":
		return lease{}, errTaken
	case state == "ok" && len(answer) == 5:
		fence, _ := answer[1].(int64)
		forced, _ := answer[2].(int64)
		left, _ := answer[3].(string)
		now, _ := answer[4].(int64)
		return lease{fence: fence, until: asked.Add(r.cfg.Lease), force: force(forced), left: left, now: time.UnixMilli(now)}, nil
	default:
		return lease{}, fmt.Errorf("sync: acquire the lease of %s: unexpected result %v", t.ID, answer)
	}
}

// renewUntilLost renews the lease three times in its lifetime until ctx ends. It calls lose if the lease is lost.
func (r *Runner) renewUntilLost(ctx context.Context, t *Target, run string, held lease, lose context.CancelCauseFunc) {
	every := r.cfg.Lease / 3
	for sleep.For(ctx, every) == nil {
		asked := time.Now()
		within, cancel := context.WithTimeout(ctx, every)
		renewed, err := renewScript.Run(within, r.redis, []string{t.keys.Lease(t.ID)}, run, r.cfg.Lease.Milliseconds()).Bool()
		cancel()
		switch {
		case err == nil && renewed:
			held.until = asked.Add(r.cfg.Lease)
		case err == nil, time.Now().Add(every).After(held.until):
			lose(errLeaseLost)
			return
		}
	}
}
