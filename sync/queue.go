package sync

import (
	"context"
	"slices"
	stdsync "sync"

	"larder.local/internal/sleep"
)

// Work is one run to execute: of a restaurant, a default menu, or a connection's rejection reasons.
type Work struct {
	Target   *Target
	Priority priority
	Run      func(context.Context)
}

type priority int

// The priorities, the most urgent first.
const (
	byRequest priority = iota
	withoutMenu
	bySchedule
	priorities
)

func priorityOf(missing bool) priority {
	if missing {
		return withoutMenu
	}
	return bySchedule
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
}

// connectionQueue is the work of one connection.
type connectionQueue struct {
	connection string
	byPriority [priorities][]Work
	busy       int // workers
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
	return q.queues[slices.IndexFunc(q.queues, func(l *connectionQueue) bool { return l.connection == connection })]
}

// push adds work. It never blocks.
func (q *queue) push(w Work) {
	q.mu.Lock()
	list := &q.queueOf(w.Target.Connection).byPriority[w.Priority]
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
	for priority := range priorities {
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
	taken := 0 // by work, or reserved
	for _, other := range q.queues {
		taken += max(other.busy, 1)
	}
	return l.busy < q.most && q.workers > taken
}

func (q *queue) release(l *connectionQueue) {
	q.mu.Lock()
	l.busy--
	q.mu.Unlock()
	q.signal.Set()
}
