package sync

import (
	"context"
	"errors"
	"slices"
	stdsync "sync"
	"time"

	"golang.org/x/sync/errgroup"

	"larder/internal/redisdb"
	"larder/internal/sleep"
	"larder/sync/runlog"
)

// retryQueued is how long a manual run waits before it asks again for a lease that
// another run holds.
const retryQueued = 250 * time.Millisecond

// Work is one run to do: of a restaurant, a connection's own menu, or a
// connection's rejection reasons.
type Work struct {
	Target  *Target
	Trigger runlog.Trigger
	tick    time.Time   // of TriggerCron: the tick of the schedule
	runID   string      // of TriggerManual: its queued record
	run     *runlog.Run // prepared by the caller; nil: Once makes one
	missing bool        // there may be no menu to serve yet
	changed bool        // its configuration did: how fresh the menu is says nothing
	batch   bool        // one of many of a batch, which sees to the rejection reasons itself
}

// queue hands work to workers: manual runs first, then what has no menu yet, then
// all others; and of each kind to the connections by turns, so that one that is
// slow, or at its limit of calls, does not keep the others waiting: with more
// than one connection none has more than half of the workers, nor the last one
// that is free while another has none. It is bounded by its callers: a target
// has at most one scheduled piece of work in it, and Redis lets a restaurant
// have at most one queued manual run.
type queue struct {
	workers int          // at least one for each connection
	most    int          // of one connection
	signal  sleep.Signal // the queue may not be empty

	mu     stdsync.Mutex
	queues []*connectionQueue // one for each connection, the one that waits longest for its turn first
	busy   int                // workers
}

// connectionQueue is the work of one connection.
type connectionQueue struct {
	connection string
	byPriority [3][]Work // the first that holds work goes first
	busy       int       // workers
}

func newQueue(concurrency int, connections []Connection) *queue {
	q := &queue{workers: max(concurrency, len(connections)), signal: sleep.NewSignal()}
	q.most = q.workers
	if len(connections) > 1 {
		q.most = (q.workers + 1) / 2
	}
	for _, c := range connections {
		q.queues = append(q.queues, &connectionQueue{connection: c.Name})
	}
	return q
}

// queueOf returns the queue of a connection.
func (q *queue) queueOf(connection string) *connectionQueue {
	for _, l := range q.queues {
		if l.connection == connection {
			return l
		}
	}
	l := &connectionQueue{connection: connection}
	q.queues = append(q.queues, l)
	return l
}

// push never blocks.
func (q *queue) push(w Work) {
	q.mu.Lock()
	list := &q.queueOf(w.Target.Connection).byPriority[w.priority()]
	*list = append(*list, w)
	q.mu.Unlock()
	q.signal.Set()
}

// pushScheduled queues scheduled work; false when the target has some already.
func (q *queue) pushScheduled(w Work) bool {
	if !w.Target.pending.CompareAndSwap(false, true) {
		return false
	}
	q.push(w)
	return true
}

// pop waits for work; false when ctx has ended. The worker calls release when
// it has done it.
func (q *queue) pop(ctx context.Context) (w Work, release func(), ok bool) {
	for ctx.Err() == nil {
		if w, release, ok := q.tryPop(); ok {
			return w, release, true
		}
		select {
		case <-ctx.Done():
		case <-q.signal:
		}
	}
	return Work{}, nil, false
}

func (q *queue) tryPop() (w Work, release func(), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for priority := range len(connectionQueue{}.byPriority) {
		for i, l := range q.queues {
			from := &l.byPriority[priority]
			if len(*from) == 0 || !q.hasWorker(l) {
				continue
			}
			w := (*from)[0]
			(*from)[0] = Work{}
			*from = (*from)[1:]
			q.queues = append(slices.Delete(q.queues, i, i+1), l)
			l.busy++
			q.busy++
			q.signal.Set() // another worker may take the next one
			return w, func() { q.release(l) }, true
		}
	}
	return Work{}, nil, false
}

// hasWorker reports whether there is a worker for the connection.
func (q *queue) hasWorker(l *connectionQueue) bool {
	if l.busy == 0 {
		return true // one is kept free for it
	}
	idle := 0
	for _, other := range q.queues {
		if other.busy == 0 {
			idle++
		}
	}
	return l.busy < q.most && q.workers-q.busy > idle
}

func (q *queue) release(l *connectionQueue) {
	q.mu.Lock()
	l.busy--
	q.busy--
	q.mu.Unlock()
	q.signal.Set()
}

// priority is 0 for what goes first.
func (w Work) priority() int {
	switch {
	case w.Trigger == runlog.TriggerManual:
		return 0
	case w.missing:
		return 1
	default:
		return 2
	}
}

// work takes from the queue until ctx ends.
func (s *Scheduler) work(ctx context.Context, g *errgroup.Group) {
	for {
		w, release, ok := s.runner.queue.pop(ctx)
		if !ok || !s.runner.health.wait(ctx) {
			return
		}
		if w.Trigger == runlog.TriggerManual {
			s.manual(ctx, g, w)
		} else {
			s.scheduled(ctx, w)
		}
		release()
	}
}

// scheduled does a tick's or catch-up's work, for the target as it is configured
// now, and then lets the next one into the queue.
func (s *Scheduler) scheduled(ctx context.Context, w Work) {
	r, queued := s.runner, w.Target
	w.Target = r.configured(queued)
	// Without a tick another instance may have caught up meanwhile.
	if w.Target != nil && (!w.tick.IsZero() || w.changed || !s.isFresh(ctx, w.Target)) {
		if _, err := r.Once(ctx, w); err != nil && !errors.Is(err, ErrBusy) {
			r.log.WithError(err).WithField("event", "sync.run_deferred").WithField("restaurant", string(w.Target.ID)).Debug("no run")
		}
	}
	queued.pending.Store(false)
	if t := r.configured(queued); t != nil && t.again.Load() {
		r.requeue(t)
	}
}

// configured returns the target as it is configured now, nil where it was removed.
func (r *Runner) configured(t *Target) *Target {
	if t.isReasons {
		return t
	}
	return r.set.Load().byID[t.ID]
}

// isFresh reports whether the target has missed no slot.
func (s *Scheduler) isFresh(ctx context.Context, t *Target) bool {
	r := s.runner
	if t.isReasons {
		_, checked, err := r.store.Reasons(ctx, t.Connection)
		return err == nil && !t.schedule.Missed(1, checked, r.clock())
	}
	version, err := r.store.Current(ctx, t.ID)
	return err == nil && !version.Behind() && !t.schedule.Missed(1, version.CheckedAt, r.clock())
}

// manual does a queued run. While another one holds the lease it goes back
// into the queue after a pause, which costs no worker.
func (s *Scheduler) manual(ctx context.Context, g *errgroup.Group, w Work) {
	r := s.runner
	// Not Get: this process is the run's holder, even where Redis was away so long
	// that its place in the queue has expired.
	run, err := r.runs.Stored(ctx, w.Target.ID, w.runID)
	if err == nil && run.State == runlog.StateQueued {
		prepared := w
		prepared.run = &run
		_, err = r.Once(ctx, prepared)
	}
	switch {
	case errors.Is(err, ErrBusy), errors.Is(err, redisdb.ErrUnavailable):
		g.Go(func() error {
			if sleep.For(ctx, retryQueued) == nil {
				r.queue.push(w)
			}
			return nil
		})
	default: // ended, or gone: then nobody waits for long
		if err != nil {
			r.log.WithError(err).WithField("event", "sync.queued_run_failed").WithField("run", w.runID).Debug("queued run not done")
		}
		r.flights.end(w.runID)
	}
}
