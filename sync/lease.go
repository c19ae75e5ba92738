package sync

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	stdsync "sync"
	"time"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/sleep"
	"larder.local/sync/runlog"
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

// lease is the right to publish for one restaurant until it is released or not
// renewed in time. fence grows with every lease (policy S2).
type lease struct {
	fence int64
	asked time.Time // monotonic; the run may work for sync.lease without a renewal
	force force     // of its own request, or of one that joined
	now   time.Time // by Redis's clock, when the lease was taken
}

// acquire takes the restaurant's lease for run, which is running then, and writes its record. slot is the tick of
// the schedule; zero without one. own is what its own request skips. Errors: ErrBusy, errTaken, redisdb.ErrUnavailable.
func (r *Runner) acquire(ctx context.Context, t *Target, run *runlog.Run, slot time.Time, own force) (lease, error) {
	held := lease{asked: time.Now()}
	running := *run
	running.State, running.StartedAt = runlog.StateRunning, r.deps.Clock().UTC()
	record, err := running.MarshalJSON()
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
		run.ID, record, r.deps.Config.Lease.Milliseconds(), slotMS, r.runs.NoticeChannel(t.ID), run.Rollback != nil, int64(own),
		ahead.Milliseconds(), every).Slice()
	if err != nil {
		r.suspected.Set()
		return lease{}, redisdb.CallError(ctx, "sync: acquire the lease of "+string(t.ID), err)
	}
	switch state, _ := answer[0].(string); {
	case state == "busy":
		return lease{}, ErrBusy
	case state == "done":
		return lease{}, errTaken
	case state != "ok" || len(answer) != 5:
		return lease{}, fmt.Errorf("sync: acquire the lease of %s: unexpected result %v", t.ID, answer)
	}
	held.fence, _ = answer[1].(int64)
	forced, _ := answer[2].(int64)
	left, _ := answer[3].(string)
	now, _ := answer[4].(int64)
	held.force, held.now = force(forced), time.UnixMilli(now)
	*run = running
	run.Force = held.force > forceNone
	if left != "" && left != run.ID {
		_, _ = r.runs.With(t.keys).Get(ctx, t.ID, left) // finishes the record of a holder that vanished
	}
	return held, nil
}

// unavailable returns err if Redis was not available, and requests a probe of it. Other errors are in the run's record.
func (r *Runner) unavailable(err error) error {
	if !errors.Is(err, redisdb.ErrUnavailable) {
		return nil
	}
	r.suspected.Set()
	return err
}

// withLease calls do within sync.deadline and while the lease is held. It returns why do failed, and why its context ended.
// A panic becomes a failure of this run, so that one menu cannot stop the others.
func (r *Runner) withLease(
	ctx context.Context, t *Target, run *runlog.Run, held lease, do func(context.Context) error,
) (fault, cause error) {
	limit := r.deps.Config.Deadline
	within, cancel := context.WithTimeoutCause(ctx, limit, deadlineError{after: limit})
	within, lose := context.WithCancelCause(within)
	var keeping stdsync.WaitGroup
	keeping.Go(func() { r.renewUntilLost(within, t, run.ID, held, lose) })
	defer func() {
		if panicked := recover(); panicked != nil {
			fault = fmt.Errorf("internal error: %v", panicked)
			r.deps.Log.WithFields(fields(run, "sync.panic")).WithField("stack", string(debug.Stack())).Error("a sync panicked")
		}
		cause = context.Cause(within)
		lose(nil)
		cancel()
		keeping.Wait()
	}()
	return do(within), nil
}

// whenFree repeats do while another run holds the lease, until waiting ends. Then it returns ErrBusy.
func whenFree(waiting context.Context, do func() (runlog.Run, error)) (runlog.Run, error) {
	for {
		done, err := do()
		if !errors.Is(err, ErrBusy) || sleep.For(waiting, retryQueued) != nil {
			return done, err
		}
	}
}

// renewUntilLost renews the lease three times in its lifetime until ctx ends. It calls lose if the lease is lost.
func (r *Runner) renewUntilLost(ctx context.Context, t *Target, run string, held lease, lose context.CancelCauseFunc) {
	life := r.deps.Config.Lease
	until, every := held.asked.Add(life), life/3
	for sleep.For(ctx, every) == nil {
		asked := time.Now()
		within, cancel := context.WithTimeout(ctx, every)
		renewed, err := renewScript.Run(within, r.redis, []string{t.keys.Lease(t.ID)}, run, life.Milliseconds()).Bool()
		cancel()
		switch {
		case err == nil && renewed:
			until = asked.Add(life)
		case err == nil, time.Now().Add(every).After(until):
			lose(errLeaseLost)
			return
		}
	}
}
