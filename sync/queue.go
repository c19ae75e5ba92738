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

// retryQueued is the pause before a manual run tries again to get a lease.
const retryQueued = 250 * time.Millisecond

// Work is one run to execute: of a restaurant, a default menu, or a connection's rejection reasons.
type Work struct {
	Target  *Target
	Trigger runlog.Trigger
	tick    time.Time   // of TriggerCron: the tick of the schedule
	runID   string      // of TriggerManual: its queued record
	run     *runlog.Run // prepared by the caller; nil: Once makes one
	missing bool        // there may be no menu to serve yet
	changed bool        // its configuration changed, so a fresh menu is synced too
	batch   bool        // part of a batch, which refreshes the rejection reasons itself
}

// queue hands work to workers: manual runs first, then targets without a menu, then all others. Within each priority
// the connections take turns, so that a slow connection does not delay the others. With several connections, one
// connection gets at most half of the workers, and an idle connection keeps one worker free. The callers limit its
// length: a target has at most one scheduled run in it, and Redis allows one queued manual run per restaurant.
type queue struct {
	workers int          // at least one for each connection
	most    int          // of one connection
	signal  sleep.Signal // the queue may not be empty

	mu     stdsync.Mutex
	queues []*connectionQueue // one for each connection, the one that waited longest first
	busy   int                // workers
}

// connectionQueue is the work of one connection.
type connectionQueue struct {
	connection string
	byPriority [3][]Work // the lowest index first
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

// push adds work. It never blocks.
func (q *queue) push(w Work) {
	q.mu.Lock()
	list := &q.queueOf(w.Target.Connection).byPriority[w.priority()]
	*list = append(*list, w)
	q.mu.Unlock()
	q.signal.Set()
}

// pushScheduled queues scheduled work. It returns false if the target has some already.
func (q *queue) pushScheduled(w Work) bool {
	if !w.Target.pending.CompareAndSwap(false, true) {
		return false
	}
	q.push(w)
	return true
}

// pop waits for work. It returns false if ctx has ended. The worker calls release when the work is done.
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

func (q *queue) hasWorker(l *connectionQueue) bool {
	if l.busy == 0 {
		return true // one worker is reserved for it
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

// priority returns 0 for the most urgent work.
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

// work executes queued work until ctx ends.
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

// scheduled executes scheduled work for the target's current configuration. Then it admits the target's next work.
func (s *Scheduler) scheduled(ctx context.Context, w Work) {
	r, queued := s.runner, w.Target
	w.Target = r.configured(queued)
	// Without a tick, another instance may have synced the target meanwhile.
	if w.Target != nil && (!w.tick.IsZero() || w.changed || !s.isFresh(ctx, w.Target)) {
		if _, err := r.Once(ctx, w); err != nil && !errors.Is(err, ErrBusy) {
			r.log.WithError(err).WithField("event", "sync.run_deferred").WithField("restaurant", string(w.Target.ID)).Debug("run not started")
		}
	}
	queued.pending.Store(false)
	if t := r.configured(queued); t != nil && t.again.Load() {
		r.requeue(t)
	}
}

// configured returns the target's current configuration; nil if it was removed.
func (r *Runner) configured(t *Target) *Target {
	if t.isReasons {
		return t
	}
	return r.set.Load().byID[t.ID]
}

// isFresh reports whether the target has missed no tick.
func (s *Scheduler) isFresh(ctx context.Context, t *Target) bool {
	r := s.runner
	if t.isReasons {
		_, checked, err := t.store.Reasons(ctx, t.Connection)
		return err == nil && !t.schedule.missed(1, checked, r.clock())
	}
	version, err := t.store.Current(ctx, t.ID)
	return err == nil && t.store.IsOwn(version) && !t.fetchAll.Load() && !version.Behind() &&
		!t.schedule.missed(1, version.CheckedAt, r.clock())
}

// manual executes a queued run. If another run holds the lease, the work returns to
// the queue after a pause. No worker waits for it.
func (s *Scheduler) manual(ctx context.Context, g *errgroup.Group, w Work) {
	r := s.runner
	// Stored instead of Get: this process holds the run, even if its queue entry expired while Redis was down.
	run, err := r.runs.With(w.Target.keys).Stored(ctx, w.Target.ID, w.runID)
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
	default: // finished, or its record is gone
		if err != nil {
			r.log.WithError(err).WithField("event", "sync.queued_run_failed").WithField("run", w.runID).Debug("queued run not executed")
		}
		r.flights.end(w.runID)
	}
}
