package sync

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	stdsync "sync"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/sync/runlog"
)

const (
	// queuedLife is how long a queued run lasts after its instance vanished.
	queuedLife = 30 * time.Second
	// queuesAtOnce limits the keys of one pipeline.
	queuesAtOnce = 500
	// maxName limits the name of a client, in bytes.
	maxName = 100
	// firstPoll and lastPoll limit the pauses with which Wait reads a run of another instance.
	firstPoll = 20 * time.Millisecond
	lastPoll  = 500 * time.Millisecond
)

// Request asks for a manual run.
type Request struct {
	By    string // the client's id; may be empty
	Force bool   // skip the comparison with the last fetch and, outside batches, the guard (policy S4)
	fresh bool   // do not join a run that has already started

	batch bool // part of a batch
}

// Start joins a run or queues a new one for this process's Scheduler, and returns immediately (policy S8).
// Every request joins a queued run, which becomes forced if the request is. A plain request also joins
// a running run, and a forced one a running run that skips as much. A fresh request does not join it, and no request
// joins a rollback. Errors: *UnknownRestaurantError, redisdb.ErrUnavailable.
func (s *Scheduler) Start(ctx context.Context, restaurant menu.RestaurantID, req Request) (runlog.Run, error) {
	r := s.Runner
	t, err := r.Target(restaurant)
	if err != nil {
		return runlog.Run{}, err
	}
	by := cleanName(req.By)
	run, own := r.newRun(t, runlog.TriggerManual, by), forceNone
	switch {
	case req.Force && req.batch:
		own = forceFetch
	case req.Force:
		own = forceGuard
	}
	run.Force = req.Force
	run.ID = r.flights.idOfStart(t.ID, run.ID)
	answer, err := startScript.Run(ctx, r.redis,
		[]string{t.keys.Lease(t.ID), t.keys.Queue(t.ID), t.keys.Runs(t.ID)},
		run.ID, run.JSON(), int64(own), by, queuedLife.Milliseconds(), req.fresh).Slice()
	if err != nil {
		r.flights.unanswered(t.ID, run.ID)
		return runlog.Run{}, redisdb.CallError(ctx, "sync: start a sync of "+string(t.ID), err)
	}
	id, _ := answer[0].(string)
	queued, _ := answer[1].(int64)
	if !r.flights.queue(t, id, queued == 1) {
		return r.runs.Get(ctx, t.ID, id)
	}
	run.ID = id
	s.pushQueued(t, id, own)
	pipe := r.redis.Pipeline()
	r.runs.AddToIndex(ctx, pipe, &run)
	if _, err := pipe.Exec(ctx); err != nil { // it will run all the same; its record is with the restaurant
		s.deps.Log.WithError(err).WithField("event", "sync.run_not_indexed").Debug("run not added to the list of all restaurants")
	}
	return run, nil
}

func (s *Scheduler) pushQueued(t *Target, id string, own force) {
	s.queue.push(Work{Target: t, Priority: byRequest, Run: func(ctx context.Context) { s.runQueued(ctx, t, id, own) }})
}

// runQueued executes a queued run. While another one holds the lease, or Redis does not respond, it queues the run again
// after a pause. No worker waits for it.
func (s *Scheduler) runQueued(ctx context.Context, t *Target, id string, own force) {
	// Stored instead of Get: this process holds the run, even if its queue entry expired while Redis was down.
	run, err := s.runs.With(t.keys).Stored(ctx, t.ID, id)
	if err == nil && run.State == runlog.StateQueued {
		_, err = s.once(ctx, t, run, time.Time{}, own)
	}
	if errors.Is(err, ErrBusy) || errors.Is(err, redisdb.ErrUnavailable) {
		time.AfterFunc(retryQueued, func() { s.pushQueued(t, id, own) })
		return
	}
	if err != nil { // its record is gone
		s.deps.Log.WithError(err).WithField("event", "sync.queued_run_failed").WithField("run", id).Debug("queued run not executed")
	}
	s.flights.end(id)
}

// Wait returns the run when it has finished, on any instance. If ctx ends first, it returns the run as
// last read, with ctx's error. A run whose holder vanished comes back as failed, with the error
// HolderLost. Errors: ErrUnknownRun, redisdb.ErrUnavailable.
func (r *Runner) Wait(ctx context.Context, restaurant menu.RestaurantID, runID string) (runlog.Run, error) {
	here := r.flights.ended(runID)
	var last runlog.Run
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		run, err := r.runs.Get(ctx, restaurant, runID)
		switch {
		case ctx.Err() != nil:
			return last, ctx.Err()
		case err != nil:
			return last, err
		case run.Finished():
			return run, nil
		}
		last = run
		select {
		case <-ctx.Done():
		case <-here:
			here = nil
		case <-time.After(pause):
		}
	}
}

// cleanName makes a name safe for a list with one name per line.
func cleanName(name string) string {
	name = strings.ToValidUTF8(strings.ReplaceAll(name, "\n", " "), "")
	return strings.ToValidUTF8(name[:min(len(name), maxName)], "")
}

// flights are the runs that are queued or running in this process.
type flights struct {
	mu    stdsync.Mutex
	runs  map[string]flight
	asked map[menu.RestaurantID]string // run ids of starts without a response
}

type flight struct {
	queue string        // the key of the queued run; empty if it is running
	done  chan struct{} // closed when the run has finished
}

// begin records a run that starts here. The caller calls end when the run has finished.
func (f *flights) begin(id string) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[id] = flight{done: cmp.Or(f.runs[id].done, make(chan struct{}))}
	return func() { f.end(id) }
}

// end wakes the callers that wait for a run of this process.
func (f *flights) end(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ended, ok := f.runs[id]; ok {
		close(ended.done)
		delete(f.runs, id)
	}
}

// ended returns a channel that is closed when the run has finished here. It is nil for a run of another instance.
func (f *flights) ended(id string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs[id].done
}

// idOfStart returns the id for a start request: id, or that of an earlier start without a response. Redis may have
// queued that run for this process. A request with another id would only join it, and no process would execute it.
func (f *flights) idOfStart(restaurant menu.RestaurantID, id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if before := f.asked[restaurant]; before != "" && runlog.IDTime(id)-runlog.IDTime(before) < queuedLife.Milliseconds() {
		return before
	}
	return id
}

func (f *flights) unanswered(restaurant menu.RestaurantID, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[restaurant] = id
}

// queue records the response to a start. It reports whether the run is queued here:
// it is new, or belongs to a start without a response.
func (f *flights) queue(t *Target, id string, added bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	mine := added || id == f.asked[t.ID]
	delete(f.asked, t.ID)
	if mine {
		f.runs[id] = flight{queue: t.keys.Queue(t.ID), done: make(chan struct{})}
	}
	return mine
}

// extendQueued keeps the queued runs of this process alive in Redis.
func (f *flights) extendQueued(ctx context.Context, client redis.UniversalClient) error {
	var queues []string
	f.mu.Lock()
	for _, one := range f.runs {
		if one.queue != "" {
			queues = append(queues, one.queue)
		}
	}
	f.mu.Unlock()
	for part := range slices.Chunk(queues, queuesAtOnce) {
		pipe := client.Pipeline()
		for _, queue := range part {
			pipe.PExpire(ctx, queue, queuedLife)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return redisdb.CallError(ctx, "sync: extend queued runs", err)
		}
	}
	return nil
}
