package sync

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errLeaseLost ends a run whose lease has gone to nobody or to another.
var errLeaseLost = errors.New("the lease was lost: Redis was away too long, or this larder was paused")

// claimState is what asking for a lease came to.
type claimState int

const (
	claimOK   claimState = iota
	claimHeld            // another run is at it
	claimDone            // another replica took this slot of the schedule
)

// claim is an answer of acquire.lua.
type claim struct {
	state  claimState
	holder string // claimHeld: the other run's id
	lease  lease  // claimOK
	force  bool   // the run is forced, at the start or by one that joined
	left   string // a run that its holder left unfinished
}

// lease is the right to publish for one restaurant until it is released or
// not renewed in time. Fence grows with every lease (policy S2).
type lease struct {
	fence int64
	until time.Time // monotonic; safe to work until here without renewing
}

// acquire asks for the restaurant's lease in the name of run and writes its
// record as running. slot is the schedule's, zero for none.
func (r *Runner) acquire(ctx context.Context, t *target, run *Run, slot time.Time) (claim, error) {
	asked := time.Now()
	record, err := run.MarshalJSON()
	if err != nil {
		return claim{}, err
	}
	var slotMS int64
	if !slot.IsZero() {
		slotMS = slot.UnixMilli()
	}
	answer, err := r.scripts.acquire.Run(ctx, r.redis,
		[]string{r.keys.lease(t.ID), r.keys.turn(t.ID), r.keys.queue(t.ID), r.keys.records(t.ID)},
		run.ID, record, flag(run.Force), r.cfg.Lease.Milliseconds(), slotMS, r.keys.told(t.ID), flag(run.Rollback != nil)).Slice()
	if err != nil {
		return claim{}, unavailable(ctx, fmt.Sprintf("take the lease of %s", t.ID), err)
	}
	switch state, _ := answer[0].(string); {
	case state == "held" && len(answer) == 2:
		holder, _ := answer[1].(string)
		return claim{state: claimHeld, holder: holder}, nil
	case state == "done":
		return claim{state: claimDone}, nil
	case state == "ok" && len(answer) == 4:
		fence, _ := answer[1].(int64)
		force, _ := answer[2].(int64)
		left, _ := answer[3].(string)
		return claim{lease: lease{fence: fence, until: asked.Add(r.cfg.Lease)}, force: force == 1, left: left}, nil
	default:
		return claim{}, fmt.Errorf("sync: take the lease of %s: unexpected answer %v", t.ID, answer)
	}
}

// keep renews the lease three times in its life until ctx ends, and calls lose
// when it is gone.
func (r *Runner) keep(ctx context.Context, t *target, run string, held lease, lose context.CancelCauseFunc) {
	every := r.cfg.Lease / 3
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		asked := time.Now()
		renewed, err := r.renew(ctx, t, run, every)
		switch {
		case err == nil && renewed:
			held.until = asked.Add(r.cfg.Lease)
		case err == nil, time.Now().Add(every).After(held.until):
			lose(errLeaseLost)
			return
		}
	}
}

func (r *Runner) renew(ctx context.Context, t *target, run string, within time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return r.scripts.renew.Run(ctx, r.redis, []string{r.keys.lease(t.ID)}, run, r.cfg.Lease.Milliseconds()).Bool()
}

// flag is a boolean as scripts take it.
func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}
