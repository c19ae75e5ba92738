package sync

import (
	"context"
	stdsync "sync"
	"time"
)

// work is one thing for a worker to do: a pass over a target, or over the
// rejection reasons of a connection.
type work struct {
	target  *target
	trigger Trigger
	slot    time.Time // of TriggerCron: the slot of the schedule
	runID   string    // of TriggerManual: its queued record
	missing bool      // there may be no menu to serve yet
	changed bool      // its configuration did: how fresh the menu is says nothing
}

// queue hands work to workers: manual runs first, then what has no menu yet, then
// all others. It is bounded by
// its callers: a target has at most one scheduled piece of work in it, and
// Redis lets a restaurant have at most one queued manual run.
type queue struct {
	mu     stdsync.Mutex
	lanes  [3][]work     // the first that holds work goes first
	signal chan struct{} // holds a token while there is work
}

func newQueue() *queue {
	return &queue{signal: make(chan struct{}, 1)}
}

// push never blocks.
func (q *queue) push(w work) {
	q.mu.Lock()
	lane := &q.lanes[w.lane()]
	*lane = append(*lane, w)
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// pop waits for work; false when ctx has ended.
func (q *queue) pop(ctx context.Context) (work, bool) {
	for {
		if ctx.Err() != nil {
			return work{}, false
		}
		if w, ok := q.take(); ok {
			return w, true
		}
		select {
		case <-ctx.Done():
			return work{}, false
		case <-q.signal:
		}
	}
}

func (q *queue) take() (work, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.lanes {
		from := &q.lanes[i]
		if len(*from) == 0 {
			continue
		}
		w := (*from)[0]
		(*from)[0] = work{}
		*from = (*from)[1:]
		q.wake() // another worker may take the next one
		return w, true
	}
	return work{}, false
}

// lane is 0 for what goes first.
func (w work) lane() int {
	switch {
	case w.trigger == TriggerManual:
		return 0
	case w.missing:
		return 1
	default:
		return 2
	}
}

// of gives the work for the target as it is now.
func (w work) of(t *target) work {
	w.target = t
	return w
}
