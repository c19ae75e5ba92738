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

// acquire takes the restaurant's lease for the run, which is running then, and writes its record. slot is the tick of
// the schedule; zero without one. own is what its own request skips. Errors: ErrBusy, errTaken, redisdb.ErrUnavailable.
func (p *pipelineRun) acquire(ctx context.Context, slot time.Time, own force) error {
	r, t, run := p.runner, p.target, p.run
	run.State, run.StartedAt = runlog.StateRunning, r.deps.Clock().UTC()
	var slotMS, every int64
	ahead := cache.ClockSlack // a tick in Redis that is later comes from a wrong clock
	if !slot.IsZero() {
		slotMS = slot.UnixMilli()
		if interval := t.schedule.interval(slot); interval > 0 {
			ahead, every = min(ahead, interval), interval.Milliseconds()
		}
	}
	asked := time.Now()
	answer, err := acquireScript.Run(ctx, r.redis,
		[]string{t.keys.Lease(t.ID), t.keys.Fence(t.ID), t.keys.Queue(t.ID), t.keys.Runs(t.ID)},
		run.ID, run.JSON(), r.deps.Config.Lease.Milliseconds(), slotMS, r.runs.NoticeChannel(t.ID), run.Rollback != nil,
		int64(own), ahead.Milliseconds(), every).Slice()
	if err != nil {
		r.suspected.Set()
		return redisdb.CallError(ctx, "sync: acquire the lease of "+string(t.ID), err)
	}
	switch state, _ := answer[0].(string); {
	case state == "busy":
		return ErrBusy
	case state == "done":
		return errTaken
	case state != "ok" || len(answer) != 5:
		return fmt.Errorf("sync: acquire the lease of %s: unexpected result %v", t.ID, answer)
	}
	fence, _ := answer[1].(int64)
	forced, _ := answer[2].(int64)
	left, _ := answer[3].(string)
	now, _ := answer[4].(int64)
	run.Force = force(forced) > forceNone
	p.run, p.lease = run, lease{fence: fence, asked: asked, force: force(forced), now: time.UnixMilli(now)}
	if left != "" && left != run.ID {
		_, _ = r.runs.With(t.keys).Get(ctx, t.ID, left) // finishes the record of a holder that vanished
	}
	return nil
}

// underLease calls do within sync.deadline and while the lease is held, and then finish with why do failed, and why its
// context ended. The error is redisdb.ErrUnavailable, and causes a probe; others are in the run's record.
func (p *pipelineRun) underLease(
	ctx context.Context, do func(context.Context) error, finish func(ctx context.Context, fault, cause error) error,
) error {
	defer p.runner.flights.begin(p.run.ID)()
	ctx, span := p.runner.deps.Tracing.Root(ctx, "sync.run")
	defer endSpan(span, &p.run)
	fault, cause := p.withLease(ctx, do)
	err := errors.Join(fault, finish(ctx, fault, cause))
	if !errors.Is(err, redisdb.ErrUnavailable) {
		return nil
	}
	p.runner.suspected.Set()
	return err
}

// withLease returns why do failed, and why its context ended. A panic becomes a failure of this run, so that one menu
// cannot stop the others.
func (p *pipelineRun) withLease(ctx context.Context, do func(context.Context) error) (fault, cause error) {
	limit := p.runner.deps.Config.Deadline
	late := limitError{fmt.Sprintf("stopped after %v (sync.deadline)", limit), context.DeadlineExceeded}
	within, cancel := context.WithTimeoutCause(ctx, limit, late)
	within, lose := context.WithCancelCause(within)
	var keeping stdsync.WaitGroup
	keeping.Go(func() { p.renewUntilLost(within, lose) })
	defer func() {
		if panicked := recover(); panicked != nil {
			fault = fmt.Errorf("internal error: %v", panicked)
			p.runner.deps.Log.WithFields(fields(&p.run, "sync.panic")).WithField("stack", string(debug.Stack())).
				Error("a sync panicked")
		}
		cause = context.Cause(within)
		lose(nil)
		cancel()
		keeping.Wait()
	}()
	return do(within), nil
}

// renewUntilLost renews the lease three times in its lifetime until ctx ends. It calls lose if the lease is lost.
func (p *pipelineRun) renewUntilLost(ctx context.Context, lose context.CancelCauseFunc) {
	life, keys := p.runner.deps.Config.Lease, []string{p.target.keys.Lease(p.target.ID)}
	until, every := p.lease.asked.Add(life), life/3
	for sleep.For(ctx, every) == nil {
		asked := time.Now()
		within, cancel := context.WithTimeout(ctx, every)
		renewed, err := renewScript.Run(within, p.runner.redis, keys, p.run.ID, life.Milliseconds()).Bool()
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

// whenFree repeats do while another run holds the lease. After wait it returns ErrBusy, and when ctx ends its error.
func whenFree(ctx context.Context, wait time.Duration, do func() (runlog.Run, error)) (runlog.Run, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, ErrBusy)
	defer cancel()
	for {
		run, err := do()
		if !errors.Is(err, ErrBusy) {
			return run, err
		}
		if err := sleep.For(ctx, retryQueued); err != nil {
			return runlog.Run{}, err
		}
	}
}
