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
}

// queue hands work to workers, manual runs before all others. It is bounded by
// its callers: a target has at most one scheduled piece of work in it, and
// Redis lets a restaurant have at most one queued manual run.
type queue struct {
	mu     stdsync.Mutex
	first  []work        // manual runs
	rest   []work        // ticks and catch-ups
	signal chan struct{} // holds a token while there is work
}

func newQueue() *queue {
	return &queue{signal: make(chan struct{}, 1)}
}

// push never blocks.
func (q *queue) push(w work) {
	q.mu.Lock()
	if w.trigger == TriggerManual {
		q.first = append(q.first, w)
	} else {
		q.rest = append(q.rest, w)
	}
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
	from := &q.first
	if len(*from) == 0 {
		from = &q.rest
	}
	if len(*from) == 0 {
		return work{}, false
	}
	w := (*from)[0]
	(*from)[0] = work{}
	*from = (*from)[1:]
	if len(q.first)+len(q.rest) > 0 {
		q.wake() // another worker may take the next one
	}
	return w, true
}
