package sync

import (
	"context"
	"slices"
	stdsync "sync"
	"time"

	"larder/internal/sleep"
	"larder/sync/runlog"
)

// work is one thing for a worker to do: a run of a target, or over the
// rejection reasons of a connection.
type work struct {
	target  *target
	trigger runlog.Trigger
	tick    time.Time // of TriggerCron: the tick of the schedule
	runID   string    // of TriggerManual: its queued record
	missing bool      // there may be no menu to serve yet
	changed bool      // its configuration did: how fresh the menu is says nothing
	batch   bool      // one of many of a batch, which sees to the rejection reasons itself
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
	byPriority [3][]work // the first that holds work goes first
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
func (q *queue) push(w work) {
	q.mu.Lock()
	list := &q.queueOf(w.target.Connection).byPriority[w.priority()]
	*list = append(*list, w)
	q.mu.Unlock()
	q.signal.Set()
}

// pop waits for work; false when ctx has ended. The worker calls release when
// it has done it.
func (q *queue) pop(ctx context.Context) (w work, release func(), ok bool) {
	for {
		if ctx.Err() != nil {
			return work{}, nil, false
		}
		if w, release, ok := q.tryPop(); ok {
			return w, release, true
		}
		select {
		case <-ctx.Done():
			return work{}, nil, false
		case <-q.signal:
		}
	}
}

func (q *queue) tryPop() (w work, release func(), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for priority := range len(connectionQueue{}.byPriority) {
		for i, l := range q.queues {
			from := &l.byPriority[priority]
			if len(*from) == 0 || !q.hasWorker(l) {
				continue
			}
			w := (*from)[0]
			(*from)[0] = work{}
			*from = (*from)[1:]
			q.queues = append(slices.Delete(q.queues, i, i+1), l)
			l.busy++
			q.busy++
			q.signal.Set() // another worker may take the next one
			return w, func() { q.release(l) }, true
		}
	}
	return work{}, nil, false
}

// hasWorker tells whether there is a worker for the connection.
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
func (w work) priority() int {
	switch {
	case w.trigger == runlog.TriggerManual:
		return 0
	case w.missing:
		return 1
	default:
		return 2
	}
}
